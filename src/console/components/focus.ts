/**
 * Keeps the focus on the page. An opened page gets the focus on its heading as soon as that exists; and where
 * what has the keyboard goes away, as a row that was deleted, what stands nearest to it gets it.
 */
import { throttled } from '../api/throttle.ts';

/** What the server calls itself. */
export const product = document.querySelector('meta[name=application-name]')?.getAttribute('content') ?? '';

const focusable = 'a[href], button:not([disabled]), input:not([disabled]), select, textarea, summary, h1[tabindex]';

/** The element that had the focus last, with its ancestors from the inside; empty if the user moved elsewhere. */
let last: readonly Element[] = [];

/** Whether the heading of a page that was asked for is waited for. */
let isHeadingWanted = false;

function noteFocus(target: EventTarget | null): void {
  last = [];
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement)
    last = [...last, element];
}

addEventListener('focusin', ({ target }) => noteFocus(target));

/** What has the keyboard now goes away: the element that had it before gets it back, or what stands nearest to that. */
export function giveBack(element: Element | null): void {
  noteFocus(element && element !== document.body ? element : document.querySelector('main'));
  requestAnimationFrame(look);
}

for (const kind of ['pointerdown', 'keydown'])
  addEventListener(
    kind,
    (event) => {
      isHeadingWanted = false;
      // The pointer may be on nothing, and Tab may lead out of the page.
      if (kind === 'pointerdown' || (event instanceof KeyboardEvent && event.key === 'Tab')) last = [];
    },
    { capture: true },
  );

/** Another page was asked for, whose heading gets the keyboard. */
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

/** Milliseconds that what takes the place of something may take to come. */
const pause = 60;

new MutationObserver(throttled(pause, look)).observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ['disabled', 'hidden', 'open'],
});
