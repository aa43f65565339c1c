/**
 * Writes and syncs fail with EIO, all of them for a while or one now and then, while clients write: the server recovers, or
 * says why and ends with 1; nothing that was acknowledged is lost. Commands on such a disk say why and end with 1.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ended, nativeCache, Program } from '../support/program.ts';
import { FaultyDisk } from './faulty-disk.ts';
import type { Given, Part } from './part.ts';
import { serveOn } from './power.ts';
import { requireHealthy, Witness } from './witness.ts';

export interface EioFigures {
  /** Times at which calls failed for a while. */
  readonly windows: number;
  readonly writes: number;
  /** Writes that were answered 5xx. */
  readonly refused: number;
  /** Servers that said why they end. */
  readonly ended: number;
  /** Starts and commands that said why they failed, and those that came through all the same. */
  readonly failedCommands: number;
  readonly doneCommands: number;
}

/** Milliseconds for which calls fail; a server gives up after ten seconds. */
const shortest = 50;
const longest = 600;
const tooLong = 13_000;

/** Lets calls fail so often; `giveUps` times for longer than a server has patience. */
export async function failCalls(rounds: number, giveUps: number, program: Given['program']): Promise<EioFigures> {
  const disk = new FaultyDisk();
  const healthy = new Program(nativeCache);
  const count = { windows: 0, ended: 0, failedCommands: 0, doneCommands: 0 };
  let server = await serveOn(disk, program);
  let gone = closed(server.child);
  const witness = new Witness(server.token);
  try {
    for (let round = 0; round < rounds; round++) {
      const isLong = round < giveUps;
      const over = new AbortController();
      const writing = Promise.all(Array.from({ length: 3 }, () => write(witness, server, over.signal)));
      // Told when it is waited for, below.
      writing.catch(() => undefined);
      set(disk, isLong ? 1 : pick([1, 2, 5, 20]));
      await Promise.race([pause(isLong ? tooLong : shortest + (longest - shortest) * Math.random()), gone]);
      set(disk, 0);
      count.windows++;
      await pause(300);
      over.abort();
      await writing;
      if (server.child.exitCode !== null) {
        requireReason({ code: server.child.exitCode, stdout: '', stderr: server.errors() });
        count.ended++;
        server = await serveOn(disk, program);
        gone = closed(server.child);
      } else if (isLong) throw new Error(`A server whose disk failed for ${tooLong} ms goes on`);
      await witness.requireAll(server.url);
      await command(disk, program, round, count);
    }
    server.child.kill('SIGTERM');
    await gone;
    await requireHealthy(healthy, disk.folder);
    const refused = [...witness.refused.values()].reduce((sum, number) => sum + number, 0);
    return { ...count, writes: witness.acknowledged.size, refused };
  } finally {
    if (server.child.exitCode === null) server.child.kill('SIGKILL');
    await healthy.end();
    disk.remove();
  }
}

type Serving = Awaited<ReturnType<typeof serveOn>>;

async function write(witness: Witness, { child, url }: Serving, over: AbortSignal): Promise<void> {
  while (!over.aborted && child.exitCode === null) {
    try {
      const { status } = await witness.write(url);
      if (status !== 201 && status < 500) throw new Error(`A write on a failing disk is answered ${status}`);
    } catch (error) {
      // What the server that ends leaves without an answer.
      if (!(error instanceof TypeError)) throw error;
      await pause(20);
    }
  }
}

/** Runs a command while calls fail. A new folder is started, or this one backed up and restored. */
async function command(
  disk: FaultyDisk,
  program: Given['program'],
  round: number,
  count: { failedCommands: number; doneCommands: number },
): Promise<void> {
  const other = join(disk.folder, 'other');
  const file = join(disk.folder, 'backup');
  const words = pick([
    ['user', 'add', `user${round}`, '--data', other],
    ['backup', file, '--data', disk.folder],
  ]);
  set(disk, pick([2, 5, 20, 100]));
  const child = spawn(process.execPath, [...program, ...words, '--native-cache', nativeCache], {
    env: { PATH: process.env.PATH, ...disk.environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (part: Buffer) => (stderr += part.toString()));
  await closed(child);
  set(disk, 0);
  if (child.exitCode === 0) count.doneCommands++;
  else {
    requireReason({ code: child.exitCode, stdout: '', stderr });
    if (existsSync(file)) throw new Error('A backup that failed has its name');
    count.failedCommands++;
  }
  rmSync(other, { recursive: true, force: true });
  rmSync(file, { force: true });
}

/** Throws unless a process has ended with 1 and a line that says why. */
function requireReason({ code, stderr }: Ended): void {
  if (code !== 1 || !/nothing can be stored safely|^tenantry: [^\n]+\n$/m.test(stderr))
    throw new Error(`A process on a failing disk ended with ${code}: ${stderr}`);
}

function set(disk: FaultyDisk, calls: number): void {
  const fault = pick<('sync' | 'write')[]>([['sync'], ['write'], ['sync', 'write']]);
  for (const each of ['sync', 'write'] as const) disk.set(each, fault.includes(each) ? calls : 0);
}

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(choices.length * Math.random())] as T;

async function closed(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

/** The part of `npm run chaos`. */
export const eio: Part = ({ program, rounds }) => failCalls(rounds, Math.ceil(rounds / 50), program);
