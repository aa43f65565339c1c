import { urlOf } from '../../kernel/url.ts';
import type { ProviderError } from '../catalogue/provider-error.ts';
import { malformed } from '../catalogue/vendor-http.ts';

/** Maximum objects of a list (providers.md 2 "Paging"). */
export const maxObjects = 10_000;

/** A page of a list, and the cursor of the next one; absent or empty on the last page. */
interface ListPage<T> {
  readonly items: readonly T[];
  readonly next: string | null | undefined;
}

/** Maximum length of a list, and the error if it is longer. */
export interface ListLimit {
  readonly maxItems: number;
  readonly exceeded: () => ProviderError;
}

/** Reads all pages of a list, the first without `next`. Rejects with `malformed` if the cursors repeat. */
export async function allPages<T>(
  page: (next: string | undefined) => Promise<ListPage<T>>,
  { exceeded, maxItems }: ListLimit = { maxItems: maxObjects, exceeded: malformed },
): Promise<T[]> {
  const items: T[] = [];
  const cursors = new Set<string>();
  for (let next: string | undefined; ; ) {
    const response = await page(next);
    items.push(...response.items);
    if (items.length > maxItems) throw exceeded();
    if (!response.next) return items;
    if (cursors.has(response.next) || cursors.size >= maxObjects) throw malformed();
    cursors.add(response.next);
    next = response.next;
  }
}

/**
 * Reads all pages of a list whose responses link to the next page; `query` is that of the first. Uses only the query of a link, so
 * that credentials are sent only to the backend. Also rejects with `malformed` an invalid link, or a link on an empty page.
 */
export const linkedPages = <T>(
  query: Readonly<Record<string, string>>,
  page: (query: string) => Promise<ListPage<T>>,
): Promise<T[]> =>
  allPages(async (requested = `?${new URLSearchParams(query)}`) => {
    const { items, next } = await page(requested);
    if (!next) return { items, next };
    const url = urlOf(next, 'http://backend/');
    if (!url || items.length === 0) throw malformed();
    return { items, next: url.search };
  });
