import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';
import type { Versions } from './versions.ts';

/** A rule for the objects that a changed row invalidates. */
interface RowRule {
  /** The column of the changed row with the id of the object, or with the value to find in `through`. */
  readonly column: string;
  /** Limits the rule to rows with this value in another column. */
  readonly where?: { readonly column: string; readonly is: string };
  /** The table with the objects' ids: column `id` of the rows whose `match` equals `column`. */
  readonly through?: { readonly table: string; readonly match: string; readonly id: string };
}

/** Rules by table, for tables whose rows affect individual objects or their visibility. */
export type RowRules = Readonly<Record<string, RowRule>>;

/** The objects to watch. */
export interface Watched {
  /** The table of the objects. */
  readonly table: string;
  readonly rules: RowRules;
  /** The columns (`table.column`) that matter. */
  readonly read: readonly string[];
}

const quoted = (columns: readonly string[]): string => [...new Set(columns)].map((column) => `"${column}"`).join(', ');

let watchCount = 0;

/**
 * Reports the ids of objects that a changed row invalidates, including by cascades of foreign keys. Uses temporary triggers. It
 * reports all included objects and may report others. See src/decisions/caching.md.
 */
export class RowWatch {
  readonly #name = `watch_${++watchCount}`;
  readonly #includeAll: SQLite.Statement<[], number>;
  #triggerCount = 0;
  #greatestId = Number.NEGATIVE_INFINITY;
  #asOf: number | undefined;

  /** Must not run inside a transaction: a rollback would remove the triggers. */
  constructor(
    private readonly handle: SQLite.Database,
    private readonly versions: Versions,
    { read, rules, table }: Watched,
    onChange: (id: number) => void,
  ) {
    handle.function(this.#name, (id: unknown) => {
      if (typeof id === 'number') onChange(id);
      return null;
    });
    // A callback costs as much as writing a row, and a new object writes many rows. So report only objects that were included.
    handle.exec(
      `CREATE TEMP TABLE ${this.#name}_included (greatest INTEGER); INSERT INTO ${this.#name}_included VALUES (0)`,
    );
    for (const [changed, rule] of Object.entries(rules)) this.#watch(changed, rule, read);
    this.#includeAll = handle
      .prepare<[], number>(
        `UPDATE ${this.#name}_included SET greatest = (SELECT ifnull(max(id), 0) FROM main.${table}) RETURNING greatest`,
      )
      .pluck();
  }

  /** Reports changes of the object with this id from now on, until a rollback of the current generation. */
  include(id: number): void {
    const { generation } = this.versions;
    if (this.#asOf === generation && id <= this.#greatestId) return;
    this.#greatestId = present(this.#includeAll.get());
    this.#asOf = generation;
    // A rollback undoes the inclusion. Counting it as a change makes the rollback start a new generation.
    this.versions.changed([]);
  }

  #watch(table: string, rule: RowRule, read: readonly string[]): void {
    const used = [rule.column, ...(rule.where ? [rule.where.column] : [])];
    // Nothing refers to a new row yet, and no response has contained it.
    if (used.some((column) => column !== 'id')) this.#trigger(table, rule, 'INSERT', 'NEW');
    this.#trigger(table, rule, 'DELETE', 'OLD');
    const columns = read.filter((part) => part.startsWith(`${table}.`)).map((part) => part.slice(table.length + 1));
    if (columns.length > 0) this.#trigger(table, rule, `UPDATE OF ${quoted(columns)}`, 'OLD');
    // Only an update of these columns can change which objects the row invalidates.
    this.#trigger(table, rule, `UPDATE OF ${quoted(used)}`, 'NEW');
  }

  #trigger(table: string, { column, through, where }: RowRule, event: string, row: 'OLD' | 'NEW'): void {
    const name = `${this.#name}_${++this.#triggerCount}`;
    const isIncluded = (id: string): string => `${id} <= (SELECT greatest FROM ${this.#name}_included)`;
    const conditions = where ? [`${row}."${where.column}" = '${where.is}'`] : [];
    const value = `${row}."${column}"`;
    if (!through) conditions.push(isIncluded(value));
    const report = through
      ? `SELECT ${this.#name}("${through.id}") FROM "${through.table}" WHERE "${through.match}" = ${value} AND ${isIncluded(`"${through.id}"`)}`
      : `SELECT ${this.#name}(${value})`;
    const when = conditions.length > 0 ? `WHEN ${conditions.join(' AND ')}` : '';
    this.handle.exec(`CREATE TEMP TRIGGER ${name} AFTER ${event} ON main."${table}" ${when} BEGIN ${report}; END`);
  }
}
