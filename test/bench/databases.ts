import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import type { Sample } from './cases.ts';
import { crowd, people, type Size, seed, seedDigest } from './seed.ts';

/** Returns the database of this size in `folder`. Creates it if it is missing. */
export async function seeded(folder: string, size: Size, report: (text: string) => void): Promise<string> {
  const file = join(folder, `seed-${size.customers}-${seedDigest()}.db`);
  if (!existsSync(file)) report(`Creating the database of ${size.name} customers …`);
  await seed(file, size);
  return file;
}

/**
 * Gives the crowd the same customers in a database of any size: groups of five users own five customers together, and have no other
 * role; every second of these customers also belongs to the owner of 50. Otherwise users of a larger database would read more.
 */
export function settleCrowd(database: string): void {
  const together = 5;
  const db = new SQLite(database);
  db.transaction(() => {
    const customers = db.prepare('SELECT count(*) FROM customer').pluck().get() as number;
    const first = people.length + 1;
    for (const table of ['customer_role', 'project_role'])
      db.prepare(`DELETE FROM ${table} WHERE user_id BETWEEN ? AND ?`).run(first, first + crowd - 1);
    const leave = db.prepare('DELETE FROM customer_role WHERE customer_id = ? AND user_id >= ?');
    const enter = db.prepare(
      "INSERT INTO customer_role (customer_id, user_id, role, created) VALUES (?, ?, 'owner', 0)",
    );
    for (let i = 0; i < crowd; i++) {
      const step = customers / (crowd / 2);
      const before = Math.floor(i / 2) * step;
      const id = before + (i % 2 === 0 ? step : 1);
      leave.run(id, first);
      const group = Math.floor(i / together) * together;
      for (let user = group; user < group + together; user++) enter.run(id, first + user);
    }
  })();
  db.close();
}

/** Returns some objects of a database, at most this many of a kind, spread over its range. */
export function readSample(database: string, most = 2000): Sample {
  const db = new SQLite(database, { readonly: true });
  const uuids = (name: string): string[] => {
    let every = Math.ceil((db.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number) / most);
    // Every tenth customer and the like are special: no step may select only them.
    while (every > 1 && (every % 2 === 0 || every % 5 === 0)) every += 1;
    return db.prepare(`SELECT uuid FROM ${name} WHERE id % ? = 0`).pluck().all(every) as string[];
  };
  const all = db.prepare('SELECT uuid FROM customer ORDER BY id DESC LIMIT 100000').pluck().all() as string[];
  const ownedBy = db
    .prepare(
      "SELECT c.uuid FROM customer_role r JOIN customer c ON c.id = r.customer_id WHERE r.user_id = ? AND r.role = 'owner'",
    )
    .pluck();
  const owned = Array.from({ length: crowd }, (_, i) => {
    const user = people.length + 1 + i;
    return { user, customers: ownedBy.all(user) as string[] };
  });
  const sample = { customers: uuids('customer'), projects: uuids('project'), all, owned };
  db.close();
  return sample;
}
