import { urlOf } from '../../kernel/url.ts';
import type { ProviderError } from '../catalogue/provider-error.ts';
import { malformed } from '../catalogue/vendor-http.ts';

/** Objects that a list may have (providers.md 2 "Paging"). */
export const maxObjects = 10_000;

/** A page of a list, and what asks for the next one; absent or empty on the last page. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next: string | null | undefined;
}

/** How long a list may be, and what it means when it is longer. */
export interface ListLimit {
  readonly most: number;
  readonly exceeded: () => ProviderError;
}

/** All pages of a list; the first is asked for without a `next`. Rejects with `malformed` when there is no end of them. */
export async function allPages<T>(
  page: (next: string | undefined) => Promise<ListPage<T>>,
  { exceeded, most }: ListLimit = { most: maxObjects, exceeded: malformed },
): Promise<T[]> {
  const items: T[] = [];
  const asked = new Set<string>();
  for (let next: string | undefined; ; ) {
    const response = await page(next);
    items.push(...response.items);
    if (items.length > most) throw exceeded();
    if (!response.next) return items;
    if (asked.has(response.next) || asked.size >= maxObjects) throw malformed();
    asked.add(response.next);
    next = response.next;
  }
}

/**
 * All pages of a list of which each answer links to the next one; `query` is that of the first. Of a link only its query
 * counts: credentials go to nobody but the backend. Rejects with `malformed`, too, of what is no link or follows an empty page.
 */
export const linkedPages = <T>(
  query: Readonly<Record<string, string>>,
  page: (query: string) => Promise<ListPage<T>>,
): Promise<T[]> =>
  allPages(async (asked = `?${new URLSearchParams(query)}`) => {
    const { items, next } = await page(asked);
    if (!next) return { items, next };
    const url = urlOf(next, 'http://backend/');
    if (!url || items.length === 0) throw malformed();
    return { items, next: url.search };
  });
