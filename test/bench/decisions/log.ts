/** Measures the decisions about the event log: query plans and the index of words. */

import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createServer } from 'tenantry';
import { eventAudience } from '../../../src/accounts/projects/event-audience.ts';
import {
  aboutObject,
  byColumn,
  count,
  type Predicate,
  pageIds,
  select,
} from '../../../src/activity/events/query-plan.ts';
import { visibleEvents } from '../../../src/activity/events/visibility.ts';
import type { Caller } from '../../../src/kernel/access/caller.ts';
import type { App } from '../../../src/kernel/app.ts';
import { all, raw, sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { logFile, seedLog } from '../events-seed.ts';
import { median } from '../report.ts';
import { alternate, type Comparison, type Measure, microsecondsEach, used } from './comparison.ts';

const events = 200_000;

/** The log is created once, beside `folder`. */
export const log: Measure = async (folder) => {
  const seeded = logFile(dirname(folder), events);
  await seedLog(seeded, events);
  const data = join(folder, 'server');
  mkdirSync(data);
  copyFileSync(seeded, join(data, 'tenantry.db'));
  const server = await createServer({ data, port: 0, log_level: 'silent' });
  try {
    return [
      ...(await queryPlans(server.app)),
      ...volumes(join(folder, 'words.db')),
      ...(await entering(join(folder, 'entering.db'))),
      ...removal(join(folder, 'removal.db')),
    ];
  } finally {
    await server.close();
  }
};

/** Pages of the log with their total, by the plan of the program and by one statement that SQLite plans. */
async function queryPlans({ db }: App): Promise<Comparison[]> {
  const owner = db.get<{ id: number; uuid: string }>(sql`SELECT id, uuid FROM user WHERE username = 'owner'`);
  if (!owner) throw new Error('There is no owner');
  const caller = { ...owner, isStaff: false, isSupport: false } as Caller;
  const user = db.value<string>(sql`SELECT uuid FROM user WHERE username = 'user.00100'`) as string;
  const ofOwner = (): Predicate => visibleEvents({ app: { db, eventAudience }, caller }) as Predicate;
  const aboutUser: Predicate = {
    condition: sql`e.context ->> 'user_uuid' = ${user} OR e.context ->> 'affected_user_uuid' = ${user}`,
    scans: [aboutObject('user', user)],
  };
  const ofType: Predicate = {
    condition: sql`e.type = 'project_update_succeeded'`,
    scans: [byColumn('event_type', 'e.type', ['project_update_succeeded'])],
  };
  const compare = async (what: string, criteria: () => Predicate[], number: number): Promise<Comparison> => {
    const planned = (): number[] => {
      const selection = select(db, criteria(), { from: undefined, to: undefined });
      const total = count(db, selection);
      return pageIds(db, selection, { number, size: 10, offset: (number - 1) * 10, last: number }, total, 'DESC');
    };
    const plain = (): number[] => {
      const where = all(criteria().map(({ condition }) => condition));
      db.value(sql`SELECT count(*) FROM event e WHERE ${where}`);
      return db.values<number>(
        sql`SELECT e.id FROM event e WHERE ${where} ORDER BY e.at DESC, e.id DESC LIMIT 10 OFFSET ${(number - 1) * 10}`,
      );
    };
    if (planned().join() !== plain().join()) throw new Error('The two pages differ');
    // Clears the cached count, as a write does.
    const fresh = (): number => microsecondsEach(3, () => [db.versions.changedAll(), planned()]) / 1000;
    const figures = await alternate(3, fresh, () => microsecondsEach(1, plain) / 1000);
    return { page: 'query-plans', what, unit: 'ms', ...figures };
  };
  const among = `${events.toLocaleString('en')} events`;
  return [
    await compare(`Count and first page of an owner, of ${among}`, () => [ofOwner()], 1),
    await compare('… page 100', () => [ofOwner()], 100),
    await compare('… of one type', () => [ofOwner(), ofType], 1),
    await compare('Count and first page about one user, as staff', () => [aboutUser], 1),
  ];
}

/** An index of words like that of migration 0015, in its own file. */
function openIndex(file: string, options = ''): SqliteDatabase {
  const db = SqliteDatabase.open(file);
  db.pragma('synchronous = OFF');
  db.script(
    `CREATE VIRTUAL TABLE entry USING fts5 (words, content = ''${options}, tokenize = "ascii tokenchars '_|'");
     INSERT INTO entry (entry, rank) VALUES ('automerge', 0)`,
  );
  return db;
}

const words = ['customer', 'has', 'been', 'updated', 'normal', 'c', 'nordic', 'analytics'];
const textOf = (event: number, volume?: number): string =>
  [...words, `n${event % 1000}`].map((word) => (volume === undefined ? word : `${word}|${volume}`)).join(' ');

/** The slowest of many steps that each index 128 events and merge in proportion, with and without the volume after each word. */
function volumes(file: string): Comparison[] {
  const longest = (name: string, hasVolumes: boolean): number => {
    const db = openIndex(file + name);
    const taken: number[] = [];
    for (let event = 1; event < events; ) {
      const started = used();
      db.write(() => {
        for (let i = 0; i < 128; i++, event++)
          db.run(
            sql`INSERT INTO entry (rowid, words) VALUES (${event}, ${textOf(event, hasVolumes ? event >> 13 : undefined)})`,
          );
        for (let i = 0; i < 4; i++) db.run(raw("INSERT INTO entry (entry, rank) VALUES ('merge', 16)"));
      });
      db.commit();
      taken.push((used() - started) / 1000);
    }
    db.close();
    return Math.max(...taken.slice(10));
  };
  const [decision, without] = [longest('volumes', true), longest('words', false)];
  const what = `The longest step of entering words, of ${events.toLocaleString('en')} events`;
  return [{ page: 'index-of-words', what, unit: 'ms', decision, without }];
}

/** Indexes the words of events in a later batch, and in the write that records each event. */
async function entering(file: string): Promise<Comparison[]> {
  const db = openIndex(file);
  let event = 0;
  const enter = (size: number): number =>
    microsecondsEach(1024 / size, () => {
      db.write(() => {
        for (let i = 0; i < size; i++)
          db.run(sql`INSERT INTO entry (rowid, words) VALUES (${++event}, ${textOf(event, event >> 13)})`);
        if (size > 1 || event % 32 === 0) db.run(raw("INSERT INTO entry (entry, rank) VALUES ('merge', 16)"));
      });
      db.commit();
    }) / size;
  const figures = await alternate(
    5,
    () => enter(128),
    () => enter(1),
  );
  db.close();
  return [{ page: 'index-of-words', what: 'Indexing the words of an event, without syncs', unit: 'µs', ...figures }];
}

/** The slowest of many steps that each remove 40 events, by their words and by their ids alone. */
function removal(file: string): Comparison[] {
  const present = 100_000;
  const longest = (name: string, options: string, remove: (db: SqliteDatabase, event: number) => void): number => {
    const db = openIndex(file + name, options);
    for (let event = 1; event <= present; )
      db.write(() => {
        for (let i = 0; i < 1000; i++, event++)
          db.run(sql`INSERT INTO entry (rowid, words) VALUES (${event}, ${textOf(event, event >> 13)})`);
      });
    db.commit();
    const taken: number[] = [];
    for (let event = 1; event <= present - 1000; ) {
      const started = used();
      db.write(() => {
        for (let i = 0; i < 40; i++, event++) remove(db, event);
        db.run(raw("INSERT INTO entry (entry, rank) VALUES ('merge', 16)"));
      });
      db.commit();
      taken.push((used() - started) / 1000);
    }
    db.close();
    return Math.max(...taken.slice(10));
  };
  const decision: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < 2; round++) {
    decision.push(
      longest(`words${round}`, '', (db, event) =>
        db.run(sql`INSERT INTO entry (entry, rowid, words) VALUES ('delete', ${event}, ${textOf(event, event >> 13)})`),
      ),
    );
    without.push(
      longest(`ids${round}`, ', contentless_delete = 1', (db, event) =>
        db.run(sql`DELETE FROM entry WHERE rowid = ${event}`),
      ),
    );
  }
  const what = `The longest step of removing words, of ${present.toLocaleString('en')} events`;
  return [{ page: 'index-of-words', what, unit: 'ms', decision: median(decision), without: median(without) }];
}
