import { signal } from '@preact/signals';
import { pathOf } from './api.ts';

/** The current place: the path and query after the `#`. The path of a list or object is that of the API below /api. */
interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

function placeNow(): Place {
  const [path = '', query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  return { path: path === '' ? '/' : path.endsWith('/') ? path : `${path}/`, query: new URLSearchParams(query) };
}

export const place = signal<Place>(placeNow());

addEventListener('hashchange', () => {
  place.value = placeNow();
});

/** The address of a place, for links. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> | URLSearchParams = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** The address of the object that a link of the API names. */
export const hrefOfLink = (link: string): string => `#${pathOf(link).slice('/api'.length)}`;

export function go(path: string, query?: Readonly<Record<string, string>> | URLSearchParams): void {
  location.hash = hrefOf(path, query);
}

/** Replaces the present place in the history: one that holds a secret, or the steps of a search. */
export function replace(path: string, query?: Readonly<Record<string, string>> | URLSearchParams): void {
  history.replaceState(null, '', hrefOf(path, query));
  place.value = placeNow();
}
