import { type Json, linkOfPath } from '../../kernel/collection/representation.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import type { Catalogue } from './catalogue.ts';

/**
 * Defines the SQL functions service_path(type) and kind_path(kind): the segments behind /api/ of the services of a type and of
 * the resources of a kind. The SQL of representations is built before a catalogue exists, also in layers that know none.
 */
export function definePaths(db: SqliteDatabase, catalogue: Catalogue): void {
  db.define('service_path', (type) => catalogue.type(type).prefix);
  db.define('kind_path', (kind) => catalogue.kind(kind).kind.path);
}

/** The link of the resource whose id stands in a column; must not be null. */
export const resourceLink = (id: string): Json =>
  linkOfPath(`kind_path((SELECT kind FROM resource WHERE id = ${id}))`, `(SELECT uuid FROM resource WHERE id = ${id})`);
