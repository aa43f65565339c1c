/**
 * Another process holds the lock of the database for seconds, again and again, and a third one changes rows, while clients
 * read and write: reads go on and tell what was changed, a write is stored or answered 503 with Retry-After after ten seconds
 * at most, and nothing is lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { nativeCache, Program } from '../support/program.ts';
import type { Part } from './part.ts';
import { Observer, requireHealthy } from './witness.ts';

export interface WriterFigures {
  /** How often the other process held the lock, and how many rows were changed past the server. */
  readonly holds: number;
  readonly changes: number;
  readonly reads: number;
  readonly writes: number;
  /** Writes that were answered 503. */
  readonly rejected: number;
  readonly slowestReadMilliseconds: number;
  readonly slowestWriteMilliseconds: number;
}

/** Milliseconds that a write waits, and what an answer may take besides on a busy machine. */
const timeout = 10_000;
const marginMs = 3000;

const sqlite = JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'));
const open = `const db = new (require(${sqlite}))(process.argv[1]); db.pragma('busy_timeout = 60000');`;
const sleep = '(ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)';
/** Holds the lock for each of these milliseconds, and leaves it for a while in between. */
const holder = `${open} const sleep = ${sleep};
  for (const ms of process.argv[2].split(',')) {
    db.exec('BEGIN IMMEDIATE'); sleep(Number(ms)); db.exec('COMMIT'); sleep(200); console.log('held');
  }`;
/** Gives the first customer a new native name now and then, and tells it when it is committed. */
const changer = `${open} const change = db.prepare('UPDATE customer SET native_name = ? WHERE id = (SELECT min(id) FROM customer)');
  let i = 0;
  setInterval(() => { const name = 'changed ' + ++i; change.run(name); console.log(name); }, 50);`;

/** Lets the lock be held for each of these milliseconds in turn. */
export async function writeBeside(holds: readonly number[], folder?: string): Promise<WriterFigures> {
  const program = new Program(folder ?? nativeCache);
  const others: ChildProcess[] = [];
  try {
    const server = await program.serve();
    const observer = await Observer.of(program);
    const first = (await (await observer.write(server.url)).json()) as { url: string };
    const file = join(program.folder, 'data/tenantry.db');
    const reports = { holds: 0, changed: '', changes: 0 };
    const start = (text: string, heard: (line: string) => void, ...words: string[]): ChildProcess => {
      const child = spawn(process.execPath, ['-e', text, file, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
      createInterface(child.stdout).on('line', heard);
      others.push(child);
      return child;
    };
    const holding = start(holder, () => reports.holds++, holds.join());
    start(changer, (name) => Object.assign(reports, { changed: name, changes: reports.changes + 1 }));
    let isOver = false;
    const ended = once(holding, 'close').then(() => (isOver = true));
    const reading = read(
      observer,
      first.url,
      () => isOver,
      () => reports.changed,
    );
    const writing = Promise.all(Array.from({ length: 3 }, () => write(observer, server.url, () => isOver)));
    await Promise.race([ended, reading, writing]);
    const { reads, slowest } = await reading;
    const slowestWrite = Math.max(...(await writing));
    await ended;
    await observer.requireAll(server.url);
    for (const other of others) other.kill('SIGKILL');
    if ((await server.stop()) !== 0) throw new Error('The server does not end with 0');
    await requireHealthy(program);
    return {
      holds: reports.holds,
      changes: reports.changes,
      reads,
      writes: observer.acknowledged.size,
      rejected: observer.rejected.get(503) ?? 0,
      slowestReadMilliseconds: slowest,
      slowestWriteMilliseconds: slowestWrite,
    };
  } finally {
    for (const other of others) other.kill('SIGKILL');
    await program.end();
  }
}

/** Reads one customer until it is over; every answer tells at least what was told to be committed before it was asked for. */
async function read(
  observer: Observer,
  url: string,
  isOver: () => boolean,
  changed: () => string,
): Promise<{ reads: number; slowest: number }> {
  let [reads, slowest] = [0, 0];
  const numberOf = (name: string): number => Number(name.slice('changed '.length));
  while (!isOver()) {
    const before = changed();
    const begun = performance.now();
    const response = await observer.get(url);
    slowest = Math.max(slowest, Math.round(performance.now() - begun));
    const { native_name: name } = (await response.json()) as { native_name: string };
    if (response.status !== 200) throw new Error(`A read beside another writer is answered ${response.status}`);
    if (before !== '' && numberOf(name) < numberOf(before)) throw new Error(`A read tells ${name} after ${before}`);
    if (slowest > marginMs) throw new Error(`A read beside another writer took ${slowest} ms`);
    reads++;
    await pause(20);
  }
  return { reads, slowest };
}

/** Writes until it is over; answers the milliseconds that the slowest took. */
async function write(observer: Observer, url: string, isOver: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isOver()) {
    const begun = performance.now();
    const { headers, status } = await observer.write(url);
    slowest = Math.max(slowest, Math.round(performance.now() - begun));
    if (status !== 201 && (status !== 503 || headers.get('retry-after') === null))
      throw new Error(`A write beside another writer is answered ${status}`);
    if (slowest > timeout + marginMs) throw new Error(`A write beside another writer took ${slowest} ms`);
    await pause(20);
  }
  return slowest;
}

/** The part of `npm run chaos`: two of three times for less than a write waits. */
export const writer: Part = ({ rounds }) =>
  writeBeside(
    Array.from({ length: Math.ceil(rounds / 10) }, (_, i) =>
      Math.round((i % 3 === 2 ? 11_000 : 100) + 4000 * Math.random()),
    ),
  );
