/**
 * Cuts the power of servers on a disk with failing syncs, and checks that no acknowledged write is lost. The cuts are simulated
 * afterwards from the trace of writes and syncs: at any moment, with any of the unsynced sectors.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import SQLite from 'better-sqlite3';
import { rejectDamagedHeader } from '../../src/kernel/durability/write-ahead-log.ts';
import { nativeCache } from '../support/program.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { lostPower } from './lost-power.ts';
import type { Part } from './part.ts';

/** The results of the cuts. */
export interface PowerFigures {
  readonly cuts: number;
  /** Servers, one after the other. Each is killed, is stopped, or stops by itself after a failed sync. */
  readonly servers: number;
  readonly ended: number;
  /** Acknowledged writes, and failed ones, including failed starts. */
  readonly writes: number;
  readonly rejected: number;
  /** Periods of failing syncs. */
  readonly windows: number;
  /** Cuts after which acknowledged writes are missing, and cuts that damaged the database. */
  readonly losses: number;
  readonly damaged: number;
}

const writers = 4;
/** Maximum length in milliseconds of a period of failing syncs, which stops a server, and of the time between two periods. */
const failing = 60;
const working = 1500;
/** Maximum lifetime of a server in milliseconds. Some startups fall into failing syncs, too. */
const longest = 5000;

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Runs servers for this many milliseconds, one after the other, with the program that this command starts, and simulates this
 * many power cuts.
 */
export async function cutPowerOfServers(
  cuts: number,
  milliseconds: number,
  program: readonly string[],
  fails = true,
): Promise<PowerFigures> {
  const disk = new FaultyDisk();
  const written: Written[] = [];
  const count = { servers: 0, ended: 0, rejected: 0, windows: 0 };
  try {
    let server: Serving | undefined = await serveOn(disk, program);
    const began = disk.position;
    const end = performance.now() + milliseconds;
    const windows = fails ? failSyncsAtRandom(disk, end) : pause(milliseconds).then(() => 0);
    while (performance.now() < end) {
      server ??= await serveOn(disk, program).catch(() => undefined);
      if (server?.token === undefined) {
        // Retries a failed start, or a failed login after it.
        count.rejected++;
        await killed(server);
      } else {
        count.servers++;
        count.rejected += await writeTo(
          server,
          disk,
          written,
          Math.min(end, performance.now() + longest * Math.random()),
        );
        if (server.child.exitCode === 1) count.ended++;
      }
      server = undefined;
    }
    count.windows = await windows;
    const over = disk.position;
    const positions = Array.from({ length: cuts }, () => began + Math.floor((over - began) * Math.random()));
    const after = join(disk.folder, '../after');
    let [losses, damaged] = [0, 0];
    for (const cut of lostPower(disk.trace, positions, after)) {
      const present = survivors(join(after, 'tenantry.db'));
      if (present === undefined) damaged++;
      else if (written.some(({ at, uuid }) => at <= cut && !present.has(uuid))) losses++;
    }
    return { cuts, writes: written.length, ...count, losses, damaged };
  } finally {
    disk.remove();
  }
}

type Serving = Awaited<ReturnType<typeof serveOn>>;

/** Returns the acknowledged writes at a length of the trace. */
interface Written {
  readonly uuid: string;
  readonly at: number;
}

/** Writes until then, or until the server stops, and stops it. Returns the number of writes without acknowledgement. */
async function writeTo(server: Serving, disk: FaultyDisk, written: Written[], end: number): Promise<number> {
  const { child, token, url } = server;
  let rejected = 0;
  const write = async (): Promise<void> => {
    while (performance.now() < end && child.exitCode === null) {
      const reply = await unlessEnded(post(url, token, '/api/customers/', { name: 'Customer' }));
      const at = disk.position;
      if (!reply) rejected++;
      else if (reply.status === 201) written.push({ uuid: reply.body.uuid as string, at });
      else if (reply.status >= 500) rejected++;
      else throw new Error(`A write returned ${reply.status}: ${JSON.stringify(reply.body)}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: writers }, write));
  } finally {
    await (Math.random() < 0.5 ? killed(server) : stopped(server));
  }
  return rejected;
}

/** Resolves to undefined if the server has stopped and does not respond. */
export async function unlessEnded<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await pause(20);
    return undefined;
  }
}

async function killed(server: Serving | undefined): Promise<void> {
  if (server?.child.kill('SIGKILL')) await once(server.child, 'close');
}

async function stopped({ child }: Serving): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}

/** The part of `npm run chaos`. */
export const loseNothing: Part = async ({ cuts, program }) => {
  const figures = await cutPowerOfServers(cuts, 20_000, program);
  if (figures.losses + figures.damaged > 0)
    throw new Error(`Cuts of the power lost acknowledged writes: ${JSON.stringify(figures)}`);
  return figures;
};

/** Starts a server whose data folder is on that disk. */
export async function serveOn(
  disk: FaultyDisk,
  program: readonly string[],
  words: readonly string[] = [],
  folder = disk.folder,
): Promise<{ child: ChildProcess; token: string; url: string; errors: () => string }> {
  const options = ['--port', '0', '--data', folder, '--native-cache', nativeCache, ...words];
  const child = spawn(process.execPath, [...program, 'serve', ...options, '--log-level', 'error'], {
    env: { PATH: process.env.PATH, ...disk.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'close')]);
  if (typeof line !== 'string') throw new Error(`The server does not start: ${errors}`);
  const { url } = JSON.parse(line);
  return { child, token: await logIn(url, folder), url, errors: () => errors };
}

/** Returns the number of periods of failing syncs. */
async function failSyncsAtRandom(disk: FaultyDisk, end: number): Promise<number> {
  let windows = 0;
  while (performance.now() < end) {
    await pause(working * Math.random());
    // The sync of the file fails by itself after the thread has moved the WAL meanwhile.
    const fault = windows % 2 === 0 ? 'sync' : 'file';
    disk.set(fault, true);
    await pause(failing * Math.random());
    disk.set(fault, false);
    windows++;
  }
  return windows;
}

export async function post(
  url: string,
  token: string,
  path: string,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Token ${token}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function logIn(url: string, folder: string): Promise<string> {
  const password = readFileSync(join(folder, 'initial-password'), 'utf8').trim();
  const { body } = await post(url, '', '/api-auth/password/', { username: 'admin', password });
  return body.token as string;
}

/** Returns the customers in a database after the power cut; undefined if it is damaged. */
export function survivors(file: string): ReadonlySet<string> | undefined {
  let db: SQLite.Database | undefined;
  try {
    // A start would reject this.
    rejectDamagedHeader(`${file}-wal`);
    db = new SQLite(file, { fileMustExist: true });
    db.pragma('synchronous = OFF');
    if (db.pragma('integrity_check(1)', { simple: true }) !== 'ok') return undefined;
    return new Set(db.prepare('SELECT uuid FROM customer').pluck().all() as string[]);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}
