import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/words.ts';
import { giveBack } from './focus.ts';

/** What was done last, told to everybody, also to those who listen. */
export const notice = signal('');

/** When that was, in milliseconds. */
let noticed = 0;
notice.subscribe(() => {
  noticed = performance.now();
});

/** Another page has opened: what was done on the one before is told no more, but for what has led here. */
export function forgetNotice(): void {
  if (performance.now() - noticed > 1000) notice.value = '';
}

/** A dialog over the page: the browser keeps the keyboard inside it, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => giveBack(before);
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // Browsers close it by a second Escape, asked or not: what has no way out stays.
      onClose={() => (onClose ? onClose() : element.current?.showModal())}
    >
      <article>
        <h2 id={heading}>{title}</h2>
        {children}
      </article>
    </dialog>
  );
}

/** Asks before what cannot be undone. */
export function Confirmation({
  title,
  question,
  button,
  onYes,
  onNo,
}: {
  readonly title: string;
  readonly question: string;
  readonly button: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}): JSX.Element {
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{question}</p>
      <footer class="buttons">
        <button type="button" class="secondary" onClick={onNo}>
          {t('Cancel')}
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {button}
        </button>
      </footer>
    </Dialog>
  );
}
