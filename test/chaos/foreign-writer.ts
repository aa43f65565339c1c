/**
 * Another process repeatedly locks the database for seconds, and a third one changes rows, while clients read and write. Reads
 * continue and return the changes. A write is stored or returns 503 with Retry-After within ten seconds. No write is lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { nativeCache, Program } from '../support/program.ts';
import { Observer, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface WriterFigures {
  /** How often the other process locked the database, and the number of rows changed without the server. */
  readonly holds: number;
  readonly changes: number;
  readonly reads: number;
  readonly writes: number;
  /** Writes that returned 503. */
  readonly rejected: number;
  readonly slowestReadMilliseconds: number;
  readonly slowestWriteMilliseconds: number;
}

/** Milliseconds that a write waits for the lock, and the margin for a response on a busy machine. */
const timeout = 10_000;
const marginMs = 3000;

const sqlite = JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'));
const open = `const db = new (require(${sqlite}))(process.argv[1]); db.pragma('busy_timeout = 60000');`;
const sleep = '(ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)';
/** Holds the lock for each of these milliseconds, with pauses. */
const holder = `${open} const sleep = ${sleep};
  for (const ms of process.argv[2].split(',')) {
    db.exec('BEGIN IMMEDIATE'); sleep(Number(ms)); db.exec('COMMIT'); sleep(200); console.log('held');
  }`;
/** Changes the native name of the first customer repeatedly, and prints each name after its commit. */
const changer = `${open} const change = db.prepare('UPDATE customer SET native_name = ? WHERE id = (SELECT min(id) FROM customer)');
  let i = 0;
  setInterval(() => { const name = 'changed ' + ++i; change.run(name); console.log(name); }, 50);`;

/** Holds the lock for each of these durations, one after the other. */
export async function writeDuringLocks(holds: readonly number[], folder?: string): Promise<WriterFigures> {
  const program = new Program(folder ?? nativeCache);
  const others: ChildProcess[] = [];
  try {
    const server = await program.serve();
    const observer = await Observer.of(program);
    const first = (await (await observer.write(server.url)).json()) as { url: string };
    const file = join(program.folder, 'data/tenantry.db');
    const counts = { holds: 0, changed: '', changes: 0 };
    const start = (text: string, heard: (line: string) => void, ...words: string[]): ChildProcess => {
      const child = spawn(process.execPath, ['-e', text, file, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
      createInterface(child.stdout).on('line', heard);
      others.push(child);
      return child;
    };
    const holding = start(holder, () => counts.holds++, holds.join());
    start(changer, (name) => Object.assign(counts, { changed: name, changes: counts.changes + 1 }));
    let isOver = false;
    const ended = once(holding, 'close').then(() => (isOver = true));
    const reading = read(
      observer,
      first.url,
      () => isOver,
      () => counts.changed,
    );
    const writing = Promise.all(Array.from({ length: 3 }, () => write(observer, server.url, () => isOver)));
    await Promise.race([ended, reading, writing]);
    const { reads, slowest } = await reading;
    const slowestWrite = Math.max(...(await writing));
    await ended;
    await observer.requireAll(server.url);
    for (const other of others) other.kill('SIGKILL');
    if ((await server.stop()) !== 0) throw new Error('The server did not end with 0');
    await requireHealthy(program);
    return {
      holds: counts.holds,
      changes: counts.changes,
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

/** Reads one customer until the end. Each response is at least as new as the last commit before the request. */
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
    if (response.status !== 200) throw new Error(`A read beside another writer returned ${response.status}`);
    if (before !== '' && numberOf(name) < numberOf(before)) throw new Error(`A read returned ${name} after ${before}`);
    if (slowest > marginMs) throw new Error(`A read beside another writer took ${slowest} ms`);
    reads++;
    await pause(20);
  }
  return { reads, slowest };
}

/** Writes until the end; returns the duration of the slowest write in milliseconds. */
async function write(observer: Observer, url: string, isOver: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isOver()) {
    const begun = performance.now();
    const { headers, status } = await observer.write(url);
    slowest = Math.max(slowest, Math.round(performance.now() - begun));
    if (status !== 201 && (status !== 503 || headers.get('retry-after') === null))
      throw new Error(`A write beside another writer returned ${status}`);
    if (slowest > timeout + marginMs) throw new Error(`A write beside another writer took ${slowest} ms`);
    await pause(20);
  }
  return slowest;
}

/** The part of `npm run chaos`: two of three locks are shorter than the timeout of a write. */
export const writer: Part = ({ rounds }) =>
  writeDuringLocks(
    Array.from({ length: Math.ceil(rounds / 10) }, (_, i) =>
      Math.round((i % 3 === 2 ? 11_000 : 100) + 4000 * Math.random()),
    ),
  );
