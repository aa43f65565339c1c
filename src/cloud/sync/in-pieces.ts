import { type Sql, sql } from '../../kernel/db/sql.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/*
 * The resources of an account are read in pieces, in the order of the index of them: by kind, id at the provider, and id.
 */

/** Where a piece ends. */
export type Place = Pick<ResourceRow, 'kind' | 'backend_id' | 'id'>;

/** The place before the first of them. */
export const beforeAll: Place = { kind: '', backend_id: '', id: 0 };

/** The condition that a resource comes after this place. */
export const isBehind = ({ kind, backend_id, id }: Place): Sql =>
  sql`(kind, backend_id, id) > (${kind}, ${backend_id}, ${id})`;
