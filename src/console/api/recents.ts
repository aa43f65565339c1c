/** Recently opened objects of this tab, for the command palette. */
import { signal } from '@preact/signals';
import { isItem, textOf } from '../item.ts';
import { storageKeyOf, token } from './connection.ts';

interface Recent {
  /** The path in the console. */
  readonly path: string;
  readonly title: string;
  /** Its kind, such as the type of a resource. */
  readonly kind: string;
  readonly icon: string;
}

const storageKey = storageKeyOf('recents');
const maxRecents = 8;

function readRecents(): readonly Recent[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
    return (Array.isArray(stored) ? stored : [])
      .filter(isItem)
      .map((one) => ({
        path: textOf(one, 'path'),
        title: textOf(one, 'title'),
        kind: textOf(one, 'kind'),
        icon: textOf(one, 'icon'),
      }));
  } catch {
    return [];
  }
}

export const recents = signal<readonly Recent[]>(readRecents());

/** Adds an object whose page was opened. */
export function noteRecent(recent: Recent): void {
  recents.value = [recent, ...recents.value.filter(({ path }) => path !== recent.path)].slice(0, maxRecents);
  sessionStorage.setItem(storageKey, JSON.stringify(recents.value));
}

token.subscribe((value) => {
  if (value !== null) return;
  recents.value = [];
  sessionStorage.removeItem(storageKey);
});
