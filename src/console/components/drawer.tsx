/** The details of a row while its list stays visible. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/words.ts';
import { restoreFocus, tabStops } from './focus.ts';
import { Icon } from './icons.tsx';

const isOverlay = (): boolean => matchMedia('(max-width: 76rem)').matches;

/**
 * A drawer beside a list, inside `.with-drawer`. On narrow screens, it overlays the page and traps the focus. Escape closes it.
 * With `onMove`, the arrow keys show the next or previous row. Its state belongs in the address.
 */
export function Drawer({
  title,
  mark,
  actions,
  onClose,
  onMove,
  children,
}: {
  readonly title: string;
  /** The icon before the title. */
  readonly mark?: ComponentChildren;
  /** Buttons beside the close button. */
  readonly actions?: ComponentChildren;
  readonly onClose: () => void;
  readonly onMove?: ((steps: 1 | -1) => void) | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.focus();
    return () => restoreFocus(before);
  }, []);
  return (
    <div
      ref={element}
      class="card drawer"
      role="dialog"
      aria-label={title}
      tabIndex={-1}
      onKeyDown={(event) => {
        const isInField = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
        if (event.key === 'Escape') onClose();
        else if (event.key === 'ArrowDown' && onMove && !isInField) onMove(1);
        else if (event.key === 'ArrowUp' && onMove && !isInField) onMove(-1);
        else if (event.key === 'Tab' && isOverlay()) trapFocus(element.current, event);
        else return;
        if (event.key !== 'Tab') event.preventDefault();
        event.stopPropagation();
      }}
    >
      <header>
        {mark}
        <h2>{title}</h2>
        <span class="more row tight">
          {actions}
          <button type="button" class="btn quiet sm icon-only" aria-label={t('Close')} onClick={onClose}>
            <Icon name="dismiss" />
          </button>
        </span>
      </header>
      {children}
    </div>
  );
}

/** Cycles the focus between the last and the first element. */
function trapFocus(element: HTMLElement | null, event: KeyboardEvent): void {
  const inside = element?.querySelectorAll<HTMLElement>(`${tabStops}, [tabindex="0"]`) ?? [];
  const visible = [...inside].filter((each) => each.checkVisibility());
  const first = visible[0];
  const last = visible.at(-1);
  const isAtStart = document.activeElement === first || document.activeElement === element;
  if (event.shiftKey ? isAtStart : document.activeElement === last) {
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}
