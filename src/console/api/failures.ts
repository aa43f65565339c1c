/** The action that failed last on a resource. Resources have only the message of a failure; their events name the action. */
import { type Item, textOf } from '../item.ts';
import { usePage } from './reading.ts';

/** The actions of resources whose failures are events. */
const failingActions = ['creation', 'deletion', 'restart', 'start', 'stop'];

/** The newest failure of each resource, by its uuid; undefined until read, empty if none is wanted. */
export function useFailures(isWanted: boolean): ReadonlyMap<string, Item> | undefined {
  const query = new URLSearchParams({ page_size: '100' });
  for (const action of failingActions) query.append('event_type', `resource_${action}_failed`);
  const { value: page } = usePage(isWanted ? `/api/events/?${query}` : '');
  // The newest come first.
  return page && new Map([...page.items].reverse().map((event) => [textOf(event, 'resource_uuid'), event]));
}

/** Returns the action in the type of a failure event; empty for another event. */
export const failedActionOf = (event: Item | undefined): string =>
  /^resource_(\w+)_failed$/.exec(event ? textOf(event, 'event_type') : '')?.[1] ?? '';

const isFailed = (item: Item): boolean => textOf(item, 'state') === 'Erred' && 'runtime_state' in item;

/** Returns the objects with the failed action as the `action` of each failed resource, for `statusOf`. */
export function useFailedActions(items: readonly Item[]): readonly Item[] {
  const failures = useFailures(items.some(isFailed));
  return items.map((item) => {
    const event = isFailed(item) ? failures?.get(textOf(item, 'uuid')) : undefined;
    // A later failure of another kind has another message.
    const isCurrent = event && textOf(event, 'error_message') === textOf(item, 'error_message');
    return isCurrent ? { ...item, action: failedActionOf(event) } : item;
  });
}
