/**
 * Keeps the focus on the page. A new page focuses its heading as soon as it exists. When the focused element disappears, such as
 * a deleted row, the nearest focusable element gets the focus.
 */
import { productName } from '../api/product.ts';
import { throttle } from '../api/throttle.ts';

/** Selects the links, controls and disclosures that Tab reaches. */
export const tabStops = 'a[href], button:not([disabled]), input:not([disabled]), select, textarea, summary';

const focusable = `${tabStops}, h1[tabindex]`;

/** The last focused element followed by its ancestors; empty if the user moved the focus away. */
let last: readonly Element[] = [];

/** Whether the heading of a new page is to be focused. */
let isHeadingWanted = false;

function noteFocus(target: EventTarget | null): void {
  last = [];
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement)
    last = [...last, element];
}

addEventListener('focusin', ({ target }) => noteFocus(target));

/** Moves the focus to an element, or to the nearest focusable one, before the focused element is removed. */
export function restoreFocus(element: Element | null): void {
  noteFocus(element && element !== document.body ? element : document.querySelector('main'));
  requestAnimationFrame(focusHeading);
}

for (const kind of ['pointerdown', 'keydown'])
  addEventListener(
    kind,
    (event) => {
      isHeadingWanted = false;
      // A click may hit nothing focusable, and Tab may move focus out of the page.
      if (kind === 'pointerdown' || (event instanceof KeyboardEvent && event.key === 'Tab')) last = [];
    },
    { capture: true },
  );

/** Moves the focus to the heading of the new page. */
export function expectHeading(): void {
  isHeadingWanted = true;
  focusHeading();
}

function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  if (heading) document.title = location.hash.length > 2 ? `${heading.textContent} – ${productName}` : productName;
  if (isHeadingWanted && heading) {
    isHeadingWanted = false;
    heading.focus();
  } else if (document.activeElement === document.body && last.length > 0) nearest()?.focus();
}

/** Returns a focusable element in the innermost remaining ancestor, or else the page heading. */
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

/** Time to wait for a replacement of the removed element. */
const delayMs = 60;

new MutationObserver(throttle(delayMs, focusHeading)).observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ['disabled', 'hidden', 'open'],
});
