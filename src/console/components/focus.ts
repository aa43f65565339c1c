/**
 * Keeps the focus on the page. An opened page gets the focus on its heading as soon as that exists; and where
 * what has the keyboard goes away, as a row that was deleted, what stands nearest to it gets it.
 */
import { throttled } from '../api/throttle.ts';

/** The name of the product. */
export const product = document.querySelector('meta[name=application-name]')?.getAttribute('content') ?? '';

const focusable = 'a[href], button:not([disabled]), input:not([disabled]), select, textarea, summary, h1[tabindex]';

/** The element that had the focus last, with its ancestors from the inside; empty if the user moved elsewhere. */
let last: readonly Element[] = [];

/** Whether a new page waits for its heading. */
let isHeadingWanted = false;

function noteFocus(target: EventTarget | null): void {
  last = [];
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement)
    last = [...last, element];
}

addEventListener('focusin', ({ target }) => noteFocus(target));

/** Returns the focus to an element before the focused one is removed, or to the nearest focusable element. */
export function giveBack(element: Element | null): void {
  noteFocus(element && element !== document.body ? element : document.querySelector('main'));
  requestAnimationFrame(look);
}

for (const kind of ['pointerdown', 'keydown'])
  addEventListener(
    kind,
    (event) => {
      isHeadingWanted = false;
      // A click may hit nothing focusable, and Tab may leave the page.
      if (kind === 'pointerdown' || (event instanceof KeyboardEvent && event.key === 'Tab')) last = [];
    },
    { capture: true },
  );

/** Moves the focus to the heading of the new page. */
export function expectHeading(): void {
  isHeadingWanted = true;
  look();
}

function look(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  if (heading) document.title = location.hash.length > 2 ? `${heading.textContent} – ${product}` : product;
  if (isHeadingWanted && heading) {
    isHeadingWanted = false;
    heading.focus();
  } else if (document.activeElement === document.body && last.length > 0) nearest()?.focus();
}

/** The focusable element in the innermost ancestor that still exists; at last the heading of the page. */
function nearest(): HTMLElement | null {
  for (const element of last.filter(({ isConnected }) => isConnected)) {
    if (element.matches('main, body, #console')) break;
    const target = element.matches(focusable) ? element : element.querySelector(focusable);
    if (target instanceof HTMLElement) return target;
  }
  const heading = document.querySelector<HTMLElement>('main h1');
  // Until the heading exists, the page itself has the focus.
  isHeadingWanted ||= heading === null;
  return heading ?? document.querySelector('main');
}

/** Time for a replacement of the removed element to appear. */
const delayMs = 60;

new MutationObserver(throttled(delayMs, look)).observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ['disabled', 'hidden', 'open'],
});
