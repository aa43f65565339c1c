/**
 * Live updates. The stream of events triggers a refresh; other changes are found by polling every few seconds. A hidden tab, or
 * one without input for a while, reads nothing: a session expires even if its page stays open.
 */
import { effect, signal } from '@preact/signals';
import { expectChanges, followEvents, isExpired, isOffline, token } from './connection.ts';
import { lifetime, me } from './session.ts';
import { throttled } from './throttle.ts';

/** Incremented whenever the page reads its data again. */
export const refreshCount = signal(0);

/** Whether the page follows the events of the server. */
export const isLive = signal(false);

/** Time between two refreshes, and between an event and the refresh that it causes, in milliseconds. */
const refreshPeriodMs = 5000;
const eventDelayMs = 500;

/** Time after which an ended stream is opened again, and the same after a rejection, in milliseconds. */
const reconnectDelayMs = 3000;
const longReconnectDelayMs = 30_000;

/** Time without input after which the user counts as away: a quarter of the token's lifetime, five minutes at most. */
const idleTimeoutMs = (): number => Math.min(300_000, (lifetime.value ?? Infinity) * 250);

let lastInput = Date.now();
let lastRefresh = 0;

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

/** Whether a form is open, below which nothing may change. */
export const isFormOpen = (): boolean => document.querySelector('dialog[open]') !== null;

const isWatched = (): boolean =>
  me.value !== null &&
  token.value !== null &&
  !isExpired.value &&
  !document.hidden &&
  !isFormOpen() &&
  Date.now() - lastInput <= idleTimeoutMs();

function refreshPage(): void {
  if (!isWatched()) return;
  lastRefresh = Date.now();
  expectChanges();
  refreshCount.value++;
}

setInterval(() => {
  if (Date.now() - lastRefresh >= refreshPeriodMs) refreshPage();
}, 1000);

/** One refresh for all events of a short time. */
const refreshSoon = throttled(eventDelayMs, refreshPage);

const isVisible = signal(!document.hidden);
addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden;
  if (isVisible.value) refreshPage();
});

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Follows the events of the user until `signal` aborts. */
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
