import { nextTurn } from '../../kernel/next-turn.ts';

const itemsATurn = 100;

/** What a function makes of each item, in turns of the event loop, so that others are served while a long list is read. */
export async function mapInSlices<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const made: Made[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % itemsATurn === 0) await nextTurn();
    made.push(make(item));
  }
  return made;
}
