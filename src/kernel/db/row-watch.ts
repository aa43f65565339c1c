import type SQLite from 'better-sqlite3';

const moments = { INSERT: ['NEW'], DELETE: ['OLD'], UPDATE: ['OLD', 'NEW'] } as const;
let watches = 0;

/**
 * Makes temporary triggers that call back with the ids of the objects that a changed row is told of in. `rules` has for each
 * table the id, with a WHERE if not every row has one, or a SELECT of ids, with `row.` for the columns of the row; `read` the columns (`table.column`) that matter.
 * Cascades of foreign keys count, too. See src/decisions/kept-texts.md.
 */
export function watchRows(
  handle: SQLite.Database,
  rules: Readonly<Record<string, string>>,
  read: readonly string[],
  touched: (id: number) => void,
): void {
  const name = `touched_${++watches}`;
  handle.function(name, (id: unknown) => {
    if (typeof id === 'number') touched(id);
    return null;
  });
  for (const [table, ids] of Object.entries(rules)) {
    const columns = read
      .filter((part) => part.startsWith(`${table}.`))
      .map((part) => `"${part.slice(table.length + 1)}"`);
    for (const [verb, rows] of Object.entries(moments)) {
      if (verb === 'UPDATE' && columns.length === 0) continue;
      const what = verb === 'UPDATE' ? `UPDATE OF ${columns.join(', ')}` : verb;
      const calls = rows.map((row) => {
        const of = ids.replaceAll('row.', `${row}.`);
        if (/^SELECT\b/.test(of)) return `SELECT ${name}(id) FROM (${of});`;
        const [id, where] = of.split(/ (?=WHERE )/);
        return `SELECT ${name}(${id}) ${where ?? ''};`;
      });
      handle.exec(
        `CREATE TEMP TRIGGER ${name}_${table}_${verb} AFTER ${what} ON main.${table} BEGIN ${calls.join(' ')} END`,
      );
    }
  }
}
