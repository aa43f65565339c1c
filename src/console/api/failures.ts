/** Finds the last failed action of resources in their events. The resources have only the error message. */
import { type Item, textOf } from '../item.ts';
import { usePage } from './reading.ts';

/** Actions whose failures are recorded as events. */
const failingActions = ['creation', 'deletion', 'restart', 'start', 'stop'];

/** Returns the newest failure event by resource uuid; undefined until loaded, empty unless `isWanted`. */
export function useFailures(isWanted: boolean): ReadonlyMap<string, Item> | undefined {
  const query = new URLSearchParams({ page_size: '100' });
  for (const action of failingActions) query.append('event_type', `resource_${action}_failed`);
  const { value: page } = usePage(isWanted ? `/api/events/?${query}` : '');
  // The API returns the newest first.
  return page && new Map([...page.items].reverse().map((event) => [textOf(event, 'resource_uuid'), event]));
}

/** Returns the action in the type of a failure event; empty for other events. */
export const failedActionOf = (event: Item | undefined): string =>
  /^resource_(\w+)_failed$/.exec(event ? textOf(event, 'event_type') : '')?.[1] ?? '';

const isFailed = (item: Item): boolean => textOf(item, 'state') === 'Erred' && 'runtime_state' in item;

/** Adds the failed action as `action` to each failed resource, for `statusOf`. */
export function useFailedActions(items: readonly Item[]): readonly Item[] {
  const failures = useFailures(items.some(isFailed));
  return items.map((item) => {
    const event = isFailed(item) ? failures?.get(textOf(item, 'uuid')) : undefined;
    // If the messages differ, the resource has since failed in another way.
    const isCurrent = event && textOf(event, 'error_message') === textOf(item, 'error_message');
    return isCurrent ? { ...item, action: failedActionOf(event) } : item;
  });
}
