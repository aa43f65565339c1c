/** The actions of an object in a table, by the list in its address. */
import type { JSX } from 'preact';
import { refresh } from '../api/reading.ts';
import { collections } from '../api/session.ts';
import { type Item, pathOf, textOf } from '../item.ts';
import { RowActions } from './actions.tsx';

const reloadLists = async (): Promise<void> => refresh();

export function rowActions(item: Item): JSX.Element | undefined {
  const path = pathOf(textOf(item, 'url')).replace('/api/', '/');
  const collection = collections.value.get(path.split('/')[1] ?? '');
  return collection && <RowActions path={path} item={item} etag={null} collection={collection} reload={reloadLists} />;
}
