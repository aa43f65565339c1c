/** Modal dialogs. */
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { phrase, t } from '../i18n/words.ts';
import { restoreFocus } from './focus.ts';

/**
 * A modal dialog. The browser traps the focus, closes the dialog on Escape and restores the focus. Without `onClose`, the dialog
 * cannot be dismissed.
 */
export function Dialog({
  title,
  class: style = '',
  onClose,
  children,
}: {
  readonly title: string;
  readonly class?: string;
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => restoreFocus(before);
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${style}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // Browsers close any dialog on the second Escape: reopen one that cannot be dismissed.
      onClose={() => (onClose ? onClose() : element.current?.showModal())}
    >
      <header>
        <h2 id={heading}>{title}</h2>
      </header>
      <div class="in">{children}</div>
    </dialog>
  );
}

/** Blocks a form until the user has typed a text, such as the name of a machine. Blocks nothing without `typed`. */
export function Guarded({
  typed,
  children,
}: {
  readonly typed: string | undefined;
  readonly children: (guard: ComponentChildren, isBlocked: boolean) => JSX.Element;
}): JSX.Element {
  const [text, setText] = useState('');
  const id = useId();
  if (typed === undefined) return children(undefined, false);
  return children(
    <div class="field">
      <label for={id}>{phrase('Type {name} to confirm', { name: <b>{typed}</b> })}</label>
      <input
        id={id}
        class="input"
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </div>,
    text.trim() !== typed.trim(),
  );
}

/** Confirms an irreversible action. With `typed`, the user must first type that text. */
export function Confirmation({
  title,
  question,
  button,
  typed,
  onYes,
  onNo,
}: {
  readonly title: string;
  readonly question: ComponentChildren;
  readonly button: string;
  /** The text to type, such as the name of a machine. */
  readonly typed?: string | undefined;
  readonly onYes: () => void;
  readonly onNo: () => void;
}): JSX.Element {
  return (
    <Dialog title={title} onClose={onNo}>
      <Guarded typed={typed}>
        {(guard, isBlocked) => (
          <form
            class="form"
            onSubmit={(event) => {
              event.preventDefault();
              if (!isBlocked) onYes();
            }}
          >
            <p>{question}</p>
            {guard}
            <footer class="form-foot">
              <button type="button" class="btn" onClick={onNo}>
                {t('Cancel')}
              </button>
              <button type="submit" class="btn danger" aria-disabled={isBlocked || undefined}>
                {button}
              </button>
            </footer>
          </form>
        )}
      </Guarded>
    </Dialog>
  );
}
