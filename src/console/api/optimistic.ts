/**
 * Optimistic updates. Where a rejection is unlikely and harmless, users see the result of an action at once; a rejection reverts
 * it.
 */
import { signal } from '@preact/signals';
import { type Item, pathOf, textOf } from './api.ts';
import type { ApiResponse } from './connection.ts';

/** An expected change of an object. It applies to reads up to the number `upTo`. */
interface Expected {
  readonly change: Item;
  readonly upTo: number;
}

/** By the path of the object. */
const expected = signal<ReadonlyMap<string, Expected>>(new Map());

let readings = 0;

/** Numbers the next read. */
export const nextReading = (): number => ++readings;

/** Applies the expected change to an object from the read `reading`. */
export function withExpected<T extends Item>(item: T, reading: number): T {
  const change = expected.value.get(pathOf(textOf(item, 'url')));
  return change && reading <= change.upTo ? { ...item, ...change.change } : item;
}

/** Performs an action. Until the next read, every list shows the expected change of the object. */
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
