import type { ProviderError } from '../catalogue/provider-error.ts';
import { malformed } from '../catalogue/vendor-http.ts';

/** Objects that a list may have (providers.md 2 "Paging"). */
export const mostObjects = 10_000;

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
  { exceeded, most }: ListLimit = { most: mostObjects, exceeded: malformed },
): Promise<T[]> {
  const items: T[] = [];
  const asked = new Set<string>();
  for (let next: string | undefined; ; ) {
    const answer = await page(next);
    items.push(...answer.items);
    if (items.length > most) throw exceeded();
    if (!answer.next) return items;
    if (asked.has(answer.next) || asked.size >= mostObjects) throw malformed();
    asked.add(answer.next);
    next = answer.next;
  }
}
