/**
 * Live updates. The event stream triggers refreshes, and polling every few seconds finds other changes. Hidden and idle tabs read
 * nothing, so that a session expires even if its page stays open.
 */
import { effect, signal } from '@preact/signals';
import { followEvents, invalidateReads, isExpired, isOffline, token } from './connection.ts';
import { lifetime, me } from './session.ts';
import { throttle } from './throttle.ts';

/** Incremented by each refresh of the page. */
export const refreshCount = signal(0);

/** Whether the page is connected to the event stream. */
export const isLive = signal(false);

/** Interval between refreshes, and delay between an event and its refresh, in milliseconds. */
const refreshPeriodMs = 5000;
const eventDelayMs = 500;

/** Delay before reopening an ended or rejected stream, in milliseconds. */
const reconnectDelayMs = 3000;
const longReconnectDelayMs = 30_000;

/** Time without input after which a tab is idle: a quarter of the token's lifetime, at most five minutes. */
const idleTimeoutMs = (): number => Math.min(300_000, (lifetime.value ?? Infinity) * 250);

let lastInput = Date.now();
let lastRefresh = 0;
// The first page of a session has just been read.
effect(() => {
  if (me.value !== null) lastRefresh = Date.now();
});

for (const kind of ['pointerdown', 'pointermove', 'keydown', 'scroll', 'hashchange'])
  addEventListener(
    kind,
    () => {
      const wasAway = Date.now() - lastInput > idleTimeoutMs();
      lastInput = Date.now();
      if (wasAway) refreshPage();
    },
    { passive: true, capture: true },
  );

/** Whether a dialog is open. The page below it must not change. */
export const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

const isWatched = (): boolean =>
  me.value !== null &&
  token.value !== null &&
  !isExpired.value &&
  !document.hidden &&
  !isDialogOpen() &&
  Date.now() - lastInput <= idleTimeoutMs();

function refreshPage(): void {
  if (!isWatched()) return;
  lastRefresh = Date.now();
  invalidateReads();
  refreshCount.value++;
}

setInterval(() => {
  if (Date.now() - lastRefresh >= refreshPeriodMs) refreshPage();
}, 1000);

/** Refreshes once for all events within a short time. */
const refreshSoon = throttle(eventDelayMs, refreshPage);

const isVisible = signal(!document.hidden);
addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden;
  if (isVisible.value) refreshPage();
});

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Follows the user's events until `signal` aborts. */
async function follow(signal: AbortSignal): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    isLive.value = !isOffline.value;
    const status = await followEvents(last, signal, (id) => {
      last = id;
      refreshSoon();
    });
    if (signal.aborted) return;
    isLive.value = false;
    await sleep(status === 200 || status === 0 ? reconnectDelayMs : longReconnectDelayMs);
  }
}

effect(() => {
  if (token.value === null || me.value === null || isExpired.value || !isVisible.value) return;
  const leaving = new AbortController();
  void follow(leaving.signal);
  return () => leaving.abort();
});
