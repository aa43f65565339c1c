import { Reader } from './reader.ts';
import type { Sql, Value } from './sql.ts';

/** Inserts and updates single rows from objects whose keys are column names. */
export abstract class Rows extends Reader {
  /** Runs a change; returns the id of a new row and the number of changed rows. */
  abstract run(change: Sql): { id: number; changes: number };

  /** Inserts a row and returns its id. Table and column names must come from this program. */
  insert(table: string, row: Readonly<Record<string, Value | undefined>>): number {
    const columns = Object.keys(row).filter((column) => row[column] !== undefined);
    const names = columns.map((column) => `"${column}"`).join(', ');
    const text = `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
    return this.run({ text, values: columns.map((column) => row[column] ?? null) }).id;
  }

  /** Updates columns of the row with this id; does nothing for an empty change. */
  update(table: string, id: number, change: Readonly<Record<string, Value | undefined>>): void {
    const columns = Object.keys(change).filter((column) => change[column] !== undefined);
    if (columns.length === 0) return;
    const text = `UPDATE ${table} SET ${columns.map((column) => `"${column}" = ?`).join(', ')} WHERE id = ?`;
    this.run({ text, values: [...columns.map((column) => change[column] ?? null), id] });
  }
}
