/**
 * Makes each sync of a piece of work fail, single ones and several at a time, and then cuts the power: at each sync, at each
 * acknowledgement, and in between. The work, in each-sync-work.ts, has every step of a WAL. The reaction to the failed sync
 * varies, too: the process is restarted, killed, closes the database, or another process writes to it.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from '../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../src/kernel/db/sqlite-database.ts';
import { rejectDamagedHeader } from '../../src/kernel/durability/write-ahead-log.ts';
import { compiled } from '../support/compiled.ts';
import { contentOf, marksOf, reactions, type Work } from './each-sync-work.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { lostPower, type RecordEnd, recordEnds } from './lost-power.ts';
import type { Part } from './part.ts';

export interface EachSyncFigures {
  /** Pieces of work, each with different failing syncs. */
  readonly runs: number;
  /** Syncs in one piece of work. */
  readonly syncs: number;
  readonly acknowledged: number;
  readonly cuts: number;
  readonly losses: number;
  readonly damaged: number;
}

/** The selected cases. */
export interface Choice {
  readonly reactions: readonly Work['reaction'][];
  /** Number of consecutive syncs that fail. */
  readonly counts: readonly number[];
  /** Every n-th sync is the first to fail, starting with this one. */
  readonly step: number;
  readonly from?: number;
  /** Number of cuts at the same moment, each torn differently, and of cuts at random moments, anywhere and during checkpoints. */
  readonly tearings: number;
  readonly moments: number;
}

const program = compiled(new URL('each-sync-work.ts', import.meta.url));

/** Reports a violation. */
type Report = (text: string) => void;

export function failEachSync(choice: Choice, report: Report): EachSyncFigures {
  const disk = new FaultyDisk();
  const figures = { runs: 0, syncs: 0, acknowledged: 0, cuts: 0, losses: 0, damaged: 0 };
  try {
    figures.syncs = work(disk, 'none').syncs;
    for (const reaction of choice.reactions)
      for (const count of choice.counts)
        for (let first = choice.from ?? 0; first < figures.syncs; first += choice.step) {
          disk.reset();
          disk.failSyncs(first, count);
          const { notes } = work(disk, reaction);
          const cut = cutPower(disk, notes, choice, (what) =>
            report(`${count} syncs from ${first} on, then ${reaction}: ${what}`),
          );
          figures.runs++;
          figures.acknowledged += notes.length;
          figures.cuts += cut.cuts;
          figures.losses += cut.losses;
          figures.damaged += cut.damaged;
        }
    return figures;
  } finally {
    disk.remove();
  }
}

/** The content stored under a number, and the length of the trace when it was acknowledged. */
interface Note {
  readonly at: number;
  readonly id: number;
}

function work(disk: FaultyDisk, reaction: Work['reaction']): { syncs: number; notes: readonly Note[] } {
  const file = join(disk.folder, '../notes');
  rmSync(file, { force: true });
  const options = { folder: disk.folder, trace: disk.trace, notes: file, reaction };
  run(disk, { ...options, part: 'first' });
  const syncs = disk.syncs;
  if (reaction === 'backup' && existsSync(file)) run(disk, { ...options, part: 'backup', reaction: 'none' });
  run(disk, { ...options, part: reaction === 'restart' ? 'again' : 'after', reaction: 'none' });
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return {
    syncs,
    notes: lines.map((line) => {
      const [at = 0, id = 0] = line.split(' ').map(Number);
      return { at, id };
    }),
  };
}

/** Runs a process to its end. Runs it again if the failing sync prevents its start. */
function run(disk: FaultyDisk, options: Work): void {
  for (let attempt = 1; ; attempt++) {
    const { signal, stderr } = spawnSync(process.execPath, [program, JSON.stringify(options)], {
      env: { PATH: process.env.PATH, ...disk.environment },
      encoding: 'utf8',
      timeout: 60_000,
    });
    // If the disk prevents the creation of a database, it is missing.
    if (signal === 'SIGKILL' || !existsSync(options.notes)) return;
    if (attempt === 10 || !/EIO|SQLITE_IOERR/.test(stderr)) throw new Error(`The work ended by itself: ${stderr}`);
  }
}

function cutPower(
  disk: FaultyDisk,
  notes: readonly Note[],
  choice: Choice,
  report: Report,
): Omit<EachSyncFigures, 'runs' | 'syncs' | 'acknowledged'> {
  const figures = { cuts: 0, losses: 0, damaged: 0 };
  const folder = join(disk.folder, '../after');
  const ends = recordEnds(disk.trace);
  const failed = ends.findIndex(({ hasFailed }) => hasFailed);
  if (failed < 0 || notes.length === 0) return figures;
  const after = ends.slice(failed);
  const isMoved = ({ operation, path }: RecordEnd): boolean => operation === 'W' && path.endsWith('.db');
  const some = (records: readonly RecordEnd[]): readonly RecordEnd[] =>
    records.length === 0 ? [] : Array.from({ length: choice.moments }, () => pick(records));
  const begun = after[0]?.at ?? 0;
  const cuts = [
    ...[...after.filter(({ operation }) => operation === 'S'), ...some(after), ...some(after.filter(isMoved))],
    ...notes.filter(({ at }) => at >= begun),
  ].map(({ at }) => at);
  for (let i = 0; i < choice.tearings; i++)
    for (const cut of lostPower(disk.trace, cuts, folder)) {
      figures.cuts++;
      const problem = missing(
        join(folder, 'tenantry.db'),
        notes.filter(({ at }) => at <= cut),
      );
      if (problem === undefined) continue;
      figures[problem.isDamage ? 'damaged' : 'losses']++;
      report(`cut at ${cut}: ${problem.what}`);
    }
  return figures;
}

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(choices.length * Math.random())] as T;

/** Describes the acknowledged writes that a database lacks after the power cut. */
function missing(file: string, notes: readonly Note[]): { what: string; isDamage: boolean } | undefined {
  if (notes.length === 0) return undefined;
  let db: SqliteDatabase | undefined;
  try {
    rejectDamagedHeader(`${file}-wal`);
    db = SqliteDatabase.open(file);
    db.pragma('synchronous = OFF');
    const check = String(db.pragma('integrity_check(1)'));
    if (check !== 'ok') return { what: check, isDamage: true };
    const rows = db.all<{ id: number; pages: number; text: string }>(sql`SELECT id, pages, text FROM item`);
    const torn = rows.find(({ id, pages, text }) => text !== contentOf(id, pages));
    if (torn) return { what: `the content of ${torn.id} is not complete`, isDamage: true };
    const present = new Set(rows.map(({ id }) => id));
    const newest = new Map([...present].sort((a, b) => a - b).flatMap((id) => marksOf(id).map((mark) => [mark, id])));
    const other = db
      .all<{ number: number; item: number }>(sql`SELECT number, item FROM mark`)
      .find(({ item, number }) => item !== (newest.get(number) ?? 0));
    if (other) return { what: `mark ${other.number} is of ${other.item}`, isDamage: true };
    const lost = notes.filter(({ id }) => !present.has(id));
    return lost.length === 0 ? undefined : { what: `${lost.map(({ id }) => id)} are lost`, isDamage: false };
  } catch (error) {
    return { what: String(error), isDamage: true };
  } finally {
    db?.close();
  }
}

/** The part of `npm run chaos`. */
export const syncs: Part = ({ rounds, report }) => {
  const step = Math.max(1, Math.round(100 / rounds));
  const figures = failEachSync({ reactions, counts: [1, 3], step, tearings: 1, moments: 5 }, report);
  if (figures.losses + figures.damaged > 0)
    throw new Error(`Cuts of the power after failed syncs lost acknowledged writes: ${JSON.stringify(figures)}`);
  return Promise.resolve(figures);
};
