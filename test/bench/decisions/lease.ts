/** Measures the cost of the lease checks in a commit. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Lease } from '../../../src/app/replication/lease.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { openLog } from '../../../src/kernel/log.ts';
import { alternate, type Measure, microsecondsEach, used } from './comparison.ts';

const rounds = 15;
const calls = 20_000;
const commits = 1000;

export const lease: Measure = async (folder) => {
  const held = await Lease.acquire({
    store: { read: () => Promise.resolve(undefined), write: () => Promise.resolve('"tag"') },
    own: { epoch: 0, holder: undefined },
    takesOver: false,
    log: openLog('silent', null).log,
    changed: () => undefined,
  });
  const [guarded, free] = ['guarded', 'free'].map((name) => open(join(folder, `${name}.db`))) as [
    SqliteDatabase,
    SqliteDatabase,
  ];
  guarded.guard(held.failure);
  try {
    return [
      {
        page: 'lease',
        what: 'A check of both clocks, against the monotonic one alone',
        unit: 'µs',
        ...(await alternate(
          rounds,
          () => microsecondsEach(calls, held.failure),
          () => microsecondsEach(calls, process.hrtime.bigint),
        )),
      },
      {
        page: 'lease',
        what: 'CPU time of a commit with the lease, against one without',
        unit: 'µs',
        ...(await alternate(
          rounds,
          () => microsecondsOf(guarded),
          () => microsecondsOf(free),
        )),
      },
    ];
  } finally {
    await held.release();
    guarded.close();
    free.close();
  }
};

function open(file: string): SqliteDatabase {
  const db = SqliteDatabase.open(file);
  db.script('CREATE TABLE item (id INTEGER PRIMARY KEY, key TEXT NOT NULL)');
  return db;
}

/** Microseconds of CPU time of each of some commits of one write. */
function microsecondsOf(db: SqliteDatabase): number {
  const started = used();
  for (let i = 0; i < commits; i++) {
    db.write(() => db.run(sql`INSERT INTO item (key) VALUES (${randomBytes(16).toString('hex')})`));
    db.commit();
  }
  return (used() - started) / commits;
}
