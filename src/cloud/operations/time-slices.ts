import { nextTurn } from '../../kernel/next-turn.ts';

const itemsATurn = 100;

/** Maps a long list in time slices, so that other requests are served in between. */
export async function mapInSlices<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const results: Made[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % itemsATurn === 0) await nextTurn();
    results.push(make(item));
  }
  return results;
}
