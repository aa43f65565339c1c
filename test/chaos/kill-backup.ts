/**
 * Kills backups while the server writes, and restores. A backup file is complete or missing. A folder of a killed restore has all
 * of the data or cannot be served, and the same command then succeeds.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import { nativeCache, Program } from '../support/program.ts';
import { durationOf, killAtRandom, Observer, requireEnded, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface BackupFigures {
  /** Commands killed before their end, and how many of their files already had the final name. */
  readonly kills: number;
  readonly whole: number;
  readonly writes: number;
}

export interface RestoreFigures {
  readonly kills: number;
  readonly whole: number;
  /** Starts of a server that failed because there was no database yet. */
  readonly rejected: number;
}

/** Rows of 400 bytes, so that commands take long enough to be killed. */
const usualRows = 30_000;

/** Creates a folder with this many rows and the staff user admin. */
async function withRows<T>(rows: number, use: (program: Program) => Promise<T>): Promise<T> {
  const program = new Program(nativeCache);
  try {
    const words = ['user', 'add', 'admin', '--staff', '--data', 'data'];
    requireEnded(await program.run(words), words);
    const db = new SQLite(join(program.folder, 'data/tenantry.db'));
    // Housekeeping skips recent ones.
    db.exec(`INSERT INTO address_failure (address, at)
      WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      SELECT hex(randomblob(200)), unixepoch() * 1000000 FROM n`);
    db.close();
    return await use(program);
  } finally {
    await program.end();
  }
}

/** Kills this many backups. */
export const killBackups = (rounds: number, rows = usualRows): Promise<BackupFigures> =>
  withRows(rows, async (program) => {
    let [kills, whole] = [0, 0];
    // A backup takes longer beside the server.
    const longest = 2.5 * (await durationOf(program, ['backup', 'first']));
    const server = await program.serve();
    const observer = await Observer.of(program);
    let isOver = false;
    const writing = Promise.all(
      Array.from({ length: 2 }, async () => {
        while (!isOver) {
          if ((await observer.write(server.url)).status !== 201) throw new Error('A write beside a backup failed');
          await pause(5);
        }
      }),
    );
    // The error surfaces where it is awaited, below.
    writing.catch(() => undefined);
    const before = new Set(readdirSync(program.folder));
    for (let round = 0; round < rounds; round++) {
      const acknowledged = new Map(observer.acknowledged);
      if (await killAtRandom(program, ['backup', 'file'], longest)) kills++;
      if (existsSync(join(program.folder, 'file'))) {
        whole++;
        await requireRestorable(program, observer.token, acknowledged);
      }
      for (const name of readdirSync(program.folder)) {
        if (before.has(name)) continue;
        if (name !== 'file' && !name.startsWith('file.partial-')) throw new Error(`A killed backup has left ${name}`);
        rmSync(join(program.folder, name), { recursive: true });
      }
    }
    isOver = true;
    await writing;
    await observer.requireAll(server.url);
    if ((await server.stop()) !== 0) throw new Error('The server did not end with 0');
    await requireHealthy(program);
    return { kills, whole, writes: observer.acknowledged.size };
  });

/** Throws unless a backup contains the writes acknowledged before it started. */
async function requireRestorable(
  program: Program,
  token: string,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const words = ['restore', 'file', '--data', 'restored'];
  requireEnded(await program.run(words), words);
  await requireHealthy(program, 'restored');
  const server = await program.serve(['--data', 'restored']);
  await new Observer(token, acknowledged).requireAll(server.url);
  await server.stop();
  rmSync(join(program.folder, 'restored'), { recursive: true });
}

/** Kills this many restores. */
export const killRestores = (rounds: number, rows = usualRows): Promise<RestoreFigures> =>
  withRows(rows, async (program) => {
    let [kills, whole, rejected] = [0, 0, 0];
    const first = await program.serve();
    const observer = await Observer.of(program);
    for (let i = 0; i < 20; i++) await observer.write(first.url);
    await first.stop();
    requireEnded(await program.run(['backup', 'file']), ['backup']);
    const words = ['restore', 'file', '--data', 'restored'];
    const folder = join(program.folder, 'restored');
    const longest = 0.5 * (await durationOf(program, words));
    for (let round = 0; round < rounds; round++) {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      if (await killAtRandom(program, words, longest, join(folder, 'restoring'))) kills++;
      if (existsSync(join(folder, 'tenantry.db'))) whole++;
      else {
        await requireRejected(program);
        rejected++;
        requireEnded(await program.run(words), words);
      }
      await requireHealthy(program, 'restored');
      const server = await program.serve(['--data', 'restored']);
      await observer.requireAll(server.url);
      await server.stop();
    }
    return { kills, whole, rejected };
  });

/** Throws if a server serves the folder of a killed restore. */
async function requireRejected(program: Program): Promise<void> {
  const denial = await program.serve(['--data', 'restored']).then(
    () => 'it serves',
    ({ message }: Error) => message,
  );
  if (!/: tenantry: [^\n]+ was not finished: [^\n]+\n$/.test(denial))
    throw new Error(`A server on a folder in which a restore was killed: ${denial}`);
}

/** The parts of `npm run chaos`. */
export const backup: Part = ({ rounds }) => killBackups(rounds);
export const restore: Part = ({ rounds }) => killRestores(rounds);
