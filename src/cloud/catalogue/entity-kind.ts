import type { Context } from '../../kernel/access/context.ts';
import type { Database } from '../../kernel/db/database.ts';
import type { Value } from '../../kernel/db/sql.ts';
import type { PlainValues } from './driver.ts';

/**
 * An entity: an object that is not a resource, such as an issue. It has the states and jobs of resources, but no events, quotas
 * and counts. Its table has the columns id, uuid, settings_id, state, error_message and backend_id.
 */
export interface EntityKind {
  /** `Issue` */
  readonly name: string;
  readonly table: string;
  /** Columns with references to rows that must exist first. The first one is the owner. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** Columns that identify a new object within its owner until its id is known. Objects with equal values are created one at a time. */
  readonly distinguishedBy: readonly string[];
  /** Returns driver input: the values of a row, and parameters that are not stored at the provider. */
  readonly driverInput: (
    db: Database,
    id: number,
  ) => { readonly values: PlainValues; readonly parameters?: PlainValues };
  /** Returns the columns for values from a driver. */
  readonly stored: (
    context: Context,
    values: PlainValues,
    existingId: number | undefined,
  ) => Readonly<Record<string, Value>>;
  /** Adds the row of an object created at the provider. Without it, such objects are ignored. */
  readonly importDiscovered?: (context: Context, owner: number, backendId: string, values: PlainValues) => void;
}

/** A column with a row id of a table. */
interface Owner {
  readonly column: string;
  readonly table: string;
}
