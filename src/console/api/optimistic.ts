/**
 * Changes that are shown before the server responds: where a rejection is unlikely and harmless, users see the result of
 * their action at once, and a rejection reverts it.
 */
import { signal } from '@preact/signals';
import { type Item, pathOf, textOf } from './api.ts';
import type { ApiResponse } from './connection.ts';

/** What is expected of an object, in whatever was read up to a reading, by its number. */
interface Expected {
  readonly change: Item;
  readonly upTo: number;
}

/** By the paths of the objects. */
const expected = signal<ReadonlyMap<string, Expected>>(new Map());

let readings = 0;

/** The number of a reading that begins. */
export const nextReading = (): number => ++readings;

/** An object as it is expected to be, `reading` being the number of the reading that it is from. */
export function withExpected<T extends Item>(item: T, reading: number): T {
  const change = expected.value.get(pathOf(textOf(item, 'url')));
  return change && reading <= change.upTo ? { ...item, ...change.change } : item;
}

/** Does what is expected to change the object at a path, which every list shows until a later reading tells. */
export async function optimistically<T>(
  path: string,
  change: Item,
  act: () => Promise<ApiResponse<T>>,
): Promise<ApiResponse<T>> {
  expected.value = new Map(expected.value).set(path, { change, upTo: Infinity });
  const response = await act();
  const after = new Map(expected.value);
  if (response.isOk) after.set(path, { change, upTo: readings });
  else after.delete(path);
  expected.value = after;
  return response;
}
