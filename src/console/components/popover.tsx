/** A popover for menus and lists of choices, in the top layer so that no card clips it. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { restoreFocus } from './focus.ts';

const gap = 4;

const itemOrField = '[role^=menuitem], input';

/**
 * Shows its children next to the element `anchor`. Escape and a click elsewhere close it and return the focus to the anchor,
 * unless the focus is already elsewhere.
 */
export function Popover({
  anchor,
  align = 'start',
  class: style = '',
  onClose,
  children,
}: {
  readonly anchor: () => HTMLElement | null;
  /** Which edges of the popover and the anchor are aligned. */
  readonly align?: 'start' | 'end';
  readonly class?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const layer = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = layer.current;
    const opener = anchor();
    if (!element || !opener) return;
    element.showPopover();
    // Its contents are focusable only now: the selected or first item, or the search field.
    const first =
      element.querySelector<HTMLElement>('[aria-checked=true]') ?? element.querySelector<HTMLElement>(itemOrField);
    first?.focus();
    const place = (): void => {
      const from = opener.getBoundingClientRect();
      const { offsetHeight: height, offsetWidth: width } = element;
      const left = align === 'end' ? from.right - width : from.left;
      const fitsBelow = from.bottom + gap + height <= innerHeight || from.top < height + gap;
      element.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`;
      element.style.top = `${fitsBelow ? Math.min(from.bottom + gap, Math.max(gap, innerHeight - height - gap)) : from.top - gap - height}px`;
    };
    place();
    const sized = new ResizeObserver(place);
    sized.observe(element);
    addEventListener('resize', place);
    addEventListener('scroll', place, { capture: true, passive: true });
    return () => {
      sized.disconnect();
      removeEventListener('resize', place);
      removeEventListener('scroll', place, { capture: true });
      if (element.contains(document.activeElement) || document.activeElement === document.body) restoreFocus(opener);
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it from any focused element inside
    <div
      ref={layer}
      popover="auto"
      class={`menu-list ${style}`}
      onToggle={(event) => {
        if (event.newState === 'closed') onClose();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          event.preventDefault();
          onClose();
        }
      }}
    >
      {children}
    </div>
  );
}
