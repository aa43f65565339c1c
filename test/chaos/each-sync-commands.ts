/**
 * Makes each sync of a command fail, alone or with the following ones, and cuts the power when the command has ended, or at any
 * earlier moment. If a command reports a result, the result exists. If it fails, it names the reason. The data is never damaged.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { FaultyDisk } from './faulty-disk.ts';
import { makeOld } from './kill-migration.ts';
import { lostPower } from './lost-power.ts';
import type { Part } from './part.ts';

export interface CommandFigures {
  /** Commands that ran, those that succeeded, and those that reported why they failed. */
  readonly runs: number;
  readonly done: number;
  readonly rejected: number;
  readonly cuts: number;
}

/** A command that runs in a folder with the data in `data`. */
interface Command {
  /** The data before the command: none, that of this version, or that of an old one. */
  readonly before: 'new' | 'used' | 'old';
  readonly words: readonly string[];
  /** A query on the database, with its result if the command has succeeded. */
  readonly created: string;
  /** The folder of that database, if not `data`. */
  readonly data?: string;
}

const bob = "SELECT 1 FROM user WHERE username = 'bob'";

const commands: readonly Command[] = [
  { before: 'new', words: ['user', 'add', 'bob', '--data', 'data'], created: bob },
  { before: 'used', words: ['user', 'add', 'bob'], created: bob },
  { before: 'old', words: ['user', 'add', 'bob'], created: bob },
  { before: 'used', words: ['token', 'ann'], created: 'SELECT 1 FROM token' },
  { before: 'used', words: ['user', 'disable', 'ann'], created: 'SELECT 1 FROM user WHERE NOT is_active' },
  { before: 'used', words: ['rotate-key', '--prune'], created: 'SELECT 1' },
  { before: 'used', words: ['backup', 'copy'], created: 'SELECT 1' },
  {
    before: 'used',
    words: ['restore', 'saved', '--data', 'restored'],
    created: bob.replace('bob', 'ann'),
    data: 'restored',
  },
];

/** Reports a violation. */
type Report = (text: string) => void;

/** Every `step`-th sync of each command is the first of a number of failures in `counts`. */
export function failCommands(
  program: readonly string[],
  counts: readonly number[],
  step: number,
  report: Report,
): CommandFigures {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-commands-'));
  const disk = new FaultyDisk();
  const figures = { runs: 0, done: 0, rejected: 0, cuts: 0 };
  const run = (words: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Ended => {
    const all = [...program, ...words, '--native-cache', join(root, 'native')];
    return spawnSync(process.execPath, all, { cwd, env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' });
  };
  try {
    makeFolders(root, run);
    for (const command of commands) {
      const before = join(root, command.before);
      const begin = (): void => {
        disk.reset();
        cpSync(before, disk.folder, { recursive: true });
      };
      begin();
      requireDone(run(command.words, disk.folder, disk.environment));
      const { syncs } = disk;
      for (const count of counts)
        for (let first = 0; first < syncs; first += step) {
          begin();
          disk.failSyncs(first, count);
          const ended = run(command.words, disk.folder, disk.environment);
          figures.runs++;
          figures[ended.status === 0 ? 'done' : 'rejected']++;
          const say = (text: string): void =>
            report(
              `${command.words.join(' ')} (${command.before}), ${count} syncs from ${first} on, ended with ${ended.status}: ${text}`,
            );
          if (ended.status !== 0 && !/^tenantry: [^\n]+\n$/m.test(ended.stderr)) say(ended.stderr);
          const after = join(disk.folder, '../after');
          const { position } = disk;
          for (const cut of lostPower(disk.trace, [Math.floor(position * Math.random()), position], after, {
            folder: disk.folder,
            before,
          })) {
            figures.cuts++;
            const problem = missing(
              command,
              join(after, command.data ?? 'data'),
              cut === position && ended.status === 0,
              (words) => run(words, after),
            );
            if (problem !== undefined) say(`cut at ${cut} of ${position}: ${problem}`);
          }
        }
    }
    return figures;
  } finally {
    disk.remove();
    rmSync(root, { recursive: true });
  }
}

type Ended = Pick<SpawnSyncReturns<string>, 'status' | 'stderr' | 'stdout'>;
type Run = (words: readonly string[], cwd: string) => Ended;

/** The folders in which the commands start. */
function makeFolders(root: string, run: Run): void {
  for (const name of ['new', 'used', 'old']) mkdirSync(join(root, name));
  makeOld(join(root, 'old/data'));
  requireDone(run(['user', 'add', 'ann', '--data', 'data'], join(root, 'used')));
  requireDone(run(['backup', 'saved'], join(root, 'used')));
}

function requireDone({ status, stderr }: Ended): void {
  if (status !== 0) throw new Error(`A command on a healthy disk ended with ${status}: ${stderr}`);
}

/** Describes violations in the data that a command left after a power cut. */
function missing(
  command: Command,
  data: string,
  isDone: boolean,
  run: (words: readonly string[]) => Ended,
): string | undefined {
  const file = join(data, 'tenantry.db');
  if (!isDone) {
    // A missing database is no violation.
    if (!existsSync(file) && (command.before === 'new' || command.data !== undefined)) return undefined;
    // The next start completes an interrupted first one.
    if (command.words[0] === 'user') {
      const again = run(command.words);
      if (again.status !== 0 && !/already exists/.test(again.stderr)) return again.stderr;
    }
  }
  const doctor = run(['doctor', '--data', data]);
  if (doctor.status !== 0) return doctor.stdout + doctor.stderr;
  if (!isDone) return undefined;
  if (command.words[0] === 'backup') return problemOf(run(['restore', 'copy', '--data', 'again']));
  const db = new SQLite(file);
  try {
    return db.prepare(command.created).get() === undefined ? 'it is not done' : undefined;
  } finally {
    db.close();
  }
}

const problemOf = ({ status, stderr }: Ended): string | undefined => (status === 0 ? undefined : stderr);

/** The part of `npm run chaos`. */
export const syncsOfCommands: Part = ({ program, rounds, report }) => {
  const problems: string[] = [];
  const step = Math.max(1, Math.round(100 / rounds));
  const figures = failCommands(program, [1, 3], step, (text) => {
    report(text);
    problems.push(text);
  });
  if (problems.length > 0) throw new Error(`Commands were not as they said: ${problems.join('; ')}`);
  return Promise.resolve(figures);
};
