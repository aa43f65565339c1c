import type { Context } from '../../kernel/access/context.ts';
import type { Database } from '../../kernel/db/database.ts';
import type { Value } from '../../kernel/db/sql.ts';
import type { PlainValues } from './driver.ts';

/**
 * A kind of object that is no resource, such as an issue: in a table of its type, with the states and jobs of resources, but
 * without events, quotas and counts. The table has id, uuid, settings_id, state, error_message and backend_id.
 */
export interface EntityKind {
  /** `Issue` */
  readonly name: string;
  readonly table: string;
  /** The rows it refers to and cannot be created before, by the column that does; the first one is what it belongs to. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** Columns that tell a new object of its owner from others while its id is not known: two of the same are not created at once. */
  readonly distinguishedBy: readonly string[];
  /** What drivers are told of a row: its values, and parameters that are not kept at the provider. */
  readonly driverInput: (
    db: Database,
    id: number,
  ) => { readonly values: PlainValues; readonly parameters?: PlainValues };
  /** The columns that values from a driver go to. */
  readonly stored: (
    context: Context,
    values: PlainValues,
    present: number | undefined,
  ) => Readonly<Record<string, Value>>;
  /** Makes the row of an object that somebody made at the provider; absent: such objects stay unknown here. */
  readonly importDiscovered?: (context: Context, owner: number, backendId: string, values: PlainValues) => void;
}

/** A column with the id of a row in a table. */
export interface Owner {
  readonly column: string;
  readonly table: string;
}
