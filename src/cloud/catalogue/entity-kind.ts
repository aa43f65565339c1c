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
  /** Columns that refer to rows that must exist first; the first one is the owner. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** Columns that identify a new object within its owner until its id is known. Objects with equal values are created one at a time. */
  readonly distinguishedBy: readonly string[];
  /** Input of drivers: the values of a row, and parameters that are not stored at the provider. */
  readonly driverInput: (
    db: Database,
    id: number,
  ) => { readonly values: PlainValues; readonly parameters?: PlainValues };
  /** Columns to store for values of a driver. */
  readonly stored: (
    context: Context,
    values: PlainValues,
    present: number | undefined,
  ) => Readonly<Record<string, Value>>;
  /** Adds the row of an object created at the provider; absent: such objects are ignored. */
  readonly importDiscovered?: (context: Context, owner: number, backendId: string, values: PlainValues) => void;
}

/** A column with the id of a row in a table. */
interface Owner {
  readonly column: string;
  readonly table: string;
}
