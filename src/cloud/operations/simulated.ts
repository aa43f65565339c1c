import { readOnly } from '../../kernel/collection/field.ts';
import { booleanValue } from '../../kernel/collection/representation.ts';
import { type Sql, sql } from '../../kernel/db/sql.ts';

/* Which settings run on the simulator (providers.md 1.2). */

/** Whether settings of this address run on the simulator. */
export const isSimulated = (backendUrl: string | null | undefined): boolean =>
  backendUrl == null || /^simulator:/i.test(backendUrl);

/** The same as an SQL condition, of the settings in this alias. */
export const simulatedSql = (alias: string): string => `ifnull(${alias}.backend_url, '') NOT LIKE 'http%'`;

/** Condition on the settings `st`: they have a real provider, and their last synchronisation did not fail. */
export const isCallable: Sql = sql`st.backend_url LIKE 'http%' AND st.state <> 'Erred'`;

/** Field that says whether settings and their objects are simulated. `condition` is SQL. */
export const simulatedField = (condition: string) => readOnly('boolean', { type: 'boolean' }, booleanValue(condition));
