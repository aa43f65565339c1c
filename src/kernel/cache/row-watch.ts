import type SQLite from 'better-sqlite3';
import { present } from '../present.ts';
import type { Versions } from './versions.ts';

let watches = 0;

const quoted = (columns: readonly string[]): string => [...new Set(columns)].map((column) => `"${column}"`).join(', ');

/** The objects that are watched. */
export interface Watched {
  /** Their table. */
  readonly table: string;
  /**
   * For each table whose rows they tell of the id of the object, with a WHERE if not every row has one, or a SELECT of ids, with
   * `row.` for the columns of the row.
   */
  readonly rules: Readonly<Record<string, string>>;
  /** The columns (`table.column`) that matter. */
  readonly read: readonly string[];
}

/**
 * Temporary triggers that call back with the ids of the objects that a changed row is told of in: of those that have been
 * included, and perhaps of others. Cascades of foreign keys count, too. See src/decisions/caching.md.
 */
export class RowWatch {
  readonly #includeAll: SQLite.Statement<[], number>;
  #greatest = Number.NEGATIVE_INFINITY;
  #asOf: number | undefined;

  /** Not inside a transaction, which would take the triggers with it when it is rolled back. */
  constructor(
    handle: SQLite.Database,
    private readonly versions: Versions,
    { read, rules, table: ofObjects }: Watched,
    touched: (id: number) => void,
  ) {
    const name = `touched_${++watches}`;
    handle.function(name, (id: unknown) => {
      if (typeof id === 'number') touched(id);
      return null;
    });
    let triggers = 0;
    // Calling back costs as much as writing a row. A new object, whose rows are many, is included when it is first told of.
    handle.exec(`CREATE TEMP TABLE ${name}_included (greatest INTEGER); INSERT INTO ${name}_included VALUES (0)`);
    const isIncluded = (id: string): string => `${id} <= (SELECT greatest FROM ${name}_included)`;
    for (const [table, ids] of Object.entries(rules)) {
      const follow = (moment: string, row: 'OLD' | 'NEW'): void => {
        const of = ids.replaceAll('row.', `${row}.`);
        const [id = '', where = 'TRUE'] = of.split(' WHERE ');
        const trigger = `CREATE TEMP TRIGGER ${name}_${++triggers} AFTER ${moment} ON main.${table}`;
        handle.exec(
          /^SELECT\b/.test(of)
            ? `${trigger} BEGIN SELECT ${name}(id) FROM (${of}) WHERE ${isIncluded('id')}; END`
            : `${trigger} WHEN (${where}) AND ${isIncluded(id)} BEGIN SELECT ${name}(${id}); END`,
        );
      };
      const used = [...ids.matchAll(/row\.(\w+)/g)].map(([, column = '']) => column);
      // To a new row by its id nothing refers yet, and nobody was told of it.
      if (used.some((column) => column !== 'id')) follow('INSERT', 'NEW');
      follow('DELETE', 'OLD');
      const columns = read.filter((part) => part.startsWith(`${table}.`)).map((part) => part.slice(table.length + 1));
      if (columns.length > 0) follow(`UPDATE OF ${quoted(columns)}`, 'OLD');
      // Where nothing is set that the objects follow from they are the same afterwards.
      follow(`UPDATE OF ${quoted(used)}`, 'NEW');
    }
    this.#includeAll = handle
      .prepare<[], number>(
        `UPDATE ${name}_included SET greatest = (SELECT ifnull(max(id), 0) FROM main.${ofObjects}) RETURNING greatest`,
      )
      .pluck();
  }

  /** From now on what changes the object with this id is told; as long as nothing of the present generation is taken back. */
  include(id: number): void {
    const { generation } = this.versions;
    if (this.#asOf === generation && id <= this.#greatest) return;
    this.#greatest = present(this.#includeAll.get());
    this.#asOf = generation;
    // A rollback takes this back, too: whoever makes one begins a new generation where something has changed.
    this.versions.changed([]);
  }
}
