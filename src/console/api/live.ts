/**
 * What changes while somebody looks at it. Events are told by a stream, which the token is not used by; what they do not
 * tell is looked for every few seconds. Nothing is read in a tab that is hidden, or that nobody has touched for a while:
 * a session shall end, though its page is open.
 */
import { effect, signal } from '@preact/signals';
import { followEvents, isExpired, token } from './connection.ts';
import { lifetime, me } from './session.ts';
import { soon } from './soon.ts';

/** How often what is on the page is to be read again. */
export const looks = signal(0);

/** Milliseconds between two looks, and between an event and the look that it causes. */
const period = 5000;
const pause = 500;

/** Milliseconds after which a stream that has ended is opened again: as the server says, or after a refusal. */
const comeBack = 3000;
const comeBackLater = 30_000;

/** Milliseconds without a touch after which nobody is there: a quarter of the token's life, five minutes at most. */
const patience = (): number => Math.min(300_000, (lifetime.value ?? Infinity) * 250);

let touched = Date.now();
let lookedAt = 0;

for (const kind of ['pointerdown', 'pointermove', 'keydown', 'scroll', 'hashchange'])
  addEventListener(
    kind,
    () => {
      const wasAway = Date.now() - touched > patience();
      touched = Date.now();
      if (wasAway) look();
    },
    { passive: true, capture: true },
  );

/** Whether a form is open, below which nothing shall change. */
export const isWritten = (): boolean => document.querySelector('dialog[open]') !== null;

const isWatched = (): boolean =>
  me.value !== null &&
  token.value !== null &&
  !isExpired.value &&
  !document.hidden &&
  !isWritten() &&
  Date.now() - touched <= patience();

function look(): void {
  if (!isWatched()) return;
  lookedAt = Date.now();
  looks.value++;
}

setInterval(() => {
  if (Date.now() - lookedAt >= period) look();
}, 1000);

/** Something has happened: a look follows, one for all that happens meanwhile. */
const happened = soon(pause, look);

const isVisible = signal(!document.hidden);
addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden;
  if (isVisible.value) look();
});

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Follows the events of the user as long as they are wanted. */
async function follow(signal: AbortSignal): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    const status = await followEvents(last, signal, (id) => {
      last = id;
      happened();
    });
    if (signal.aborted) return;
    await sleep(status === 200 || status === 0 ? comeBack : comeBackLater);
  }
}

effect(() => {
  if (token.value === null || me.value === null || isExpired.value || !isVisible.value) return;
  const leaving = new AbortController();
  void follow(leaving.signal);
  return () => leaving.abort();
});
