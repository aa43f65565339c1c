import { signal } from '@preact/signals';
import { pathOf } from './api.ts';

/** The current route: path and query after the `#`. Lists and objects have the same paths as below /api. */
interface Route {
  readonly path: string;
  readonly query: URLSearchParams;
}

function placeNow(): Route {
  const [path = '', query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  return { path: path === '' ? '/' : path.endsWith('/') ? path : `${path}/`, query: new URLSearchParams(query) };
}

export const place = signal<Route>(placeNow());

addEventListener('hashchange', () => {
  place.value = placeNow();
});

/** Returns the href of a route. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> | URLSearchParams = {}): string {
  const text = new URLSearchParams(query).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

/** Returns the href of the page for an API link. */
export const hrefOfLink = (link: string): string => `#${pathOf(link).slice('/api'.length)}`;

/** The query of the place with another value of a parameter. An empty value removes it; `dropped` names others to remove. */
export function withParameter(name: string, value: string, dropped: readonly string[] = []): URLSearchParams {
  const query = new URLSearchParams(place.value.query);
  for (const other of dropped) query.delete(other);
  if (value === '') query.delete(name);
  else query.set(name, value);
  return query;
}

export function go(path: string, query?: Readonly<Record<string, string>> | URLSearchParams): void {
  location.hash = hrefOf(path, query);
}

/** Replaces the current history entry, such as one with a secret or an intermediate search. */
export function replace(path: string, query?: Readonly<Record<string, string>> | URLSearchParams): void {
  history.replaceState(null, '', hrefOf(path, query));
  place.value = placeNow();
}
