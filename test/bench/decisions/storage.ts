/** Measures the decisions about writes: commits, syncs, checkpoints, ordered keys, sizes of steps. */

import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import { record } from '../../../src/activity/events/record.ts';
import { createQuotas, quotaNames } from '../../../src/activity/quotas/usage.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { type App, newUuids } from '../../../src/kernel/app.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { median } from '../report.ts';
import { alternate, type Comparison, type Measure, turn, used } from './comparison.ts';

/** Rows that exist before the measurement, so that keys are spread over many pages. */
const present = 200_000;
/** Writes per turn of the event loop. */
const together = 16;

const filled = `CREATE TABLE item (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
  INSERT INTO item (key, body) WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${present})
    SELECT lower(hex(randomblob(16))), 'The description of a thing that a user has, and some more of it.' FROM n;`;

export const storage: Measure = async (folder) => {
  // The checkpoint thread does not keep the process alive, and sometimes nothing else does.
  const awake = setInterval(() => undefined, 1000);
  try {
    return [
      ...(await checkpoints(folder)),
      ...(await groups(folder)),
      ...(await relaxed(folder)),
      ...(await withServer(join(folder, 'server'), async ({ app }) => [
        ...(await savepoints(app)),
        ...(await orderedUuids(app)),
      ])),
    ];
  } finally {
    clearInterval(awake);
  }
};

function open(folder: string, name: string): SqliteDatabase {
  mkdirSync(folder, { recursive: true });
  const db = SqliteDatabase.open(join(folder, `${name}.db`));
  db.script(filled);
  return db;
}

async function withServer<T>(data: string, work: (server: { app: App }) => Promise<T>): Promise<T> {
  mkdirSync(data, { recursive: true });
  const server = await createServer({ data, port: 0, log_level: 'silent' });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

const insert = (db: SqliteDatabase): unknown =>
  db.run(sql`INSERT INTO item (key, body) VALUES (${randomBytes(16).toString('hex')}, 'One more.')`);

function failed(error: unknown): void {
  throw error;
}

/** The 99th percentile of commits in milliseconds, and the number of commits per second. */
async function commits(db: SqliteDatabase, count: number): Promise<{ slow: number; rate: number }> {
  const taken: number[] = [];
  const started = performance.now();
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < together; j++) db.write(() => insert(db));
    const worked = performance.now();
    db.commit();
    taken.push(performance.now() - worked);
    await turn();
  }
  const rate = (1000 * count) / (performance.now() - started);
  return { slow: quantile(taken, 0.99), rate };
}

async function checkpoints(folder: string): Promise<Comparison[]> {
  const [own, none] = [open(folder, 'thread'), open(folder, 'no-thread')];
  own.checkpointInThread(undefined, failed);
  const rounds: Record<'decision' | 'without', { slow: number; rate: number }[]> = { decision: [], without: [] };
  for (let round = 0; round < 6; round++) {
    rounds.decision.push(await commits(own, 200));
    rounds.without.push(await commits(none, 200));
  }
  await own.stopCheckpoints();
  own.close();
  none.close();
  const of = (key: 'slow' | 'rate') => ({
    decision: median(rounds.decision.slice(1).map((round) => round[key])),
    without: median(rounds.without.slice(1).map((round) => round[key])),
  });
  return [
    { page: 'checkpoint-thread', what: `Commits of ${together} writes`, unit: '/s', isRate: true, ...of('rate') },
    { page: 'checkpoint-thread', what: 'The slowest commit of a hundred', unit: 'ms', ...of('slow') },
  ];
}

async function groups(folder: string): Promise<Comparison[]> {
  const db = open(folder, 'groups');
  db.checkpointInThread(undefined, failed);
  const rate = async (size: number): Promise<number> => {
    const started = performance.now();
    for (let i = 1; i <= 640; i++) {
      db.write(() => insert(db));
      if (i % size === 0) {
        db.commit();
        await turn();
      }
    }
    return 640_000 / (performance.now() - started);
  };
  const figures = await alternate(
    5,
    () => rate(64),
    () => rate(1),
  );
  await db.stopCheckpoints();
  db.close();
  return [{ page: 'group-commit', what: 'Writes, 64 in a turn', unit: '/s', isRate: true, ...figures }];
}

/** A customer with its quotas and its event, as repeatable work and as other work. */
async function savepoints(app: App): Promise<Comparison[]> {
  const { db } = app;
  let creation = 0;
  const add = (): void => {
    const context = systemContext(app);
    const [uuid = ''] = newUuids(app, 1);
    const id = db.insert('customer', { uuid, created: context.now, name: `Customer ${++creation}` });
    createQuotas(context, 'customer', id, quotaNames.customer);
    record(context, 'customer_creation_succeeded', { customer_uuid: uuid, customer_name: `Customer ${creation}` });
  };
  const work = async (write: (add: () => void) => void): Promise<number> => {
    const started = used();
    for (let i = 0; i < 100; i++) {
      for (let j = 0; j < together; j++) write(add);
      db.commit();
      await turn();
    }
    return (used() - started) / 100 / together;
  };
  const figures = await alternate(
    8,
    () => work((add) => db.writeRepeatable(add, () => undefined)),
    () => work((add) => db.write(add)),
  );
  return [{ page: 'group-commit', what: 'CPU time of a customer without a savepoint', unit: 'µs', ...figures }];
}

async function relaxed(folder: string): Promise<Comparison[]> {
  const db = open(folder, 'relaxed');
  db.checkpointInThread(undefined, failed);
  const step = (): void => {
    for (let i = 0; i < together; i++)
      db.run(sql`DELETE FROM item WHERE id = ${1 + Math.floor(Math.random() * present)}`);
  };
  const milliseconds = async (work: () => void): Promise<number> => {
    const taken: number[] = [];
    for (let i = 0; i < 100; i++) {
      const started = performance.now();
      work();
      taken.push(performance.now() - started);
      await turn();
      await db.checkpointed();
    }
    return quantile(taken, 0.5);
  };
  const figures = await alternate(
    5,
    () => milliseconds(() => db.writeRelaxed(step)),
    () =>
      milliseconds(() => {
        db.write(step);
        db.commit();
      }),
  );
  await db.stopCheckpoints();
  db.close();
  return [{ page: 'durability', what: `A step that removes ${together} rows`, unit: 'ms', ...figures }];
}

/** A table with an indexed key, filled with keys of the measured kind. */
async function orderedUuids(app: App): Promise<Comparison[]> {
  const { db } = app;
  const kinds = {
    ordered: (count: number) => newUuids(app, count),
    random: (count: number) => Array.from({ length: count }, () => app.random(16).toString('hex')),
  };
  const add = (kind: keyof typeof kinds, count: number): void => {
    for (const uuid of kinds[kind](count))
      db.run(sql`INSERT INTO ${raw(`bench_${kind}`)} (uuid, body) VALUES (${uuid}, 'Some text.')`);
  };
  for (const kind of ['ordered', 'random'] as const) {
    db.script(`CREATE TABLE bench_${kind} (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, body TEXT NOT NULL)`);
    for (let i = 0; i < present; i += 5000) {
      db.write(() => add(kind, 5000));
      db.commit();
      await turn();
    }
  }
  const pages: Record<keyof typeof kinds, number[]> = { ordered: [], random: [] };
  const work = async (kind: keyof typeof kinds): Promise<number> => {
    await db.checkpointed();
    const started = used();
    for (let i = 0; i < 50; i++) {
      const before = logged(db);
      db.write(() => add(kind, together));
      db.commit();
      const written = logged(db) - before;
      // After a restart of the WAL, its size has no meaning.
      if (written > 0) pages[kind].push(written);
      await turn();
    }
    return (used() - started) / 50 / together;
  };
  const figures = await alternate(
    6,
    () => work('ordered'),
    () => work('random'),
  );
  const [decision, without] = [median(pages.ordered), median(pages.random)];
  return [
    { page: 'ordered-uuids', what: `CPU time of a row, ${together} to a commit`, unit: 'µs', ...figures },
    { page: 'ordered-uuids', what: `Pages that a commit of ${together} rows writes`, unit: 'pages', decision, without },
  ];
}

const logged = (db: SqliteDatabase): number =>
  (db.get(raw('PRAGMA wal_checkpoint(NOOP)')) as unknown as { log: number }).log;

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number;
}
