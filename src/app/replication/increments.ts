import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openHandle } from '../../kernel/durability/handle.ts';
import { makeFolder } from '../../kernel/files.ts';
import type { Addon } from '../../kernel/native/native.ts';
import { codeOf, plainReason } from '../../kernel/present.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { databaseFile } from '../data/data-folder.ts';

/** Timeout of Litestream's first complete state. */
const maxStartMs = 600_000;
/** Interval for polling the first state or a lock of Litestream, and the maximum number of attempts for a lock. */
const lookMs = 50;
const maxLooks = 100;
/** Time without an increment before checking the replica for a newer one, and the interval between these checks. */
const idleMs = 30_000;
/** Timeout of listing the increments in a replica. */
const listTimeoutMs = 60_000;

interface IncrementsOptions {
  /** The program `litestream`. */
  readonly program: string;
  /** The URL of the replica. */
  readonly source: string;
  /** The parent folder of the database. */
  readonly parent: string;
  readonly intervalMs: number;
  readonly addon: Addon | undefined;
}

/**
 * A database that `litestream restore -f` keeps up to date. Litestream applies each increment to the file in place, under
 * SQLite's locks, and records the last one in a file `-txid`. If it exits, an increment may be half written. So the next start
 * restores again, into another folder, where a process that outlived the follower cannot write.
 */
export class Increments {
  readonly #options: IncrementsOptions;
  #child: ChildProcess | undefined;
  #file = '';
  /** Litestream's last output line, and its last error since the last increment. */
  #lastLine = '';
  #failure: string | undefined;
  #state = '';
  /** When the state changed, and when the replica was last checked (monotonic clock). */
  #changedAt = 0;
  #askedAt = 0;
  /** Whether that check found a newer increment. */
  #isBehind = false;

  constructor(options: IncrementsOptions) {
    this.#options = options;
  }

  /** Returns a text that changes with each increment, once the file is complete. Rejects with a readable error. */
  async state(signal?: AbortSignal): Promise<string> {
    if (this.#child === undefined) await this.#start(signal);
    if (this.#failure !== undefined) throw this.#sentence(this.#failure);
    const state = readFileSync(`${this.#file}-txid`, 'utf8').trim();
    const now = performance.now();
    if (state !== this.#state) [this.#state, this.#changedAt, this.#isBehind] = [state, now, false];
    else if (now - Math.max(this.#changedAt, this.#askedAt) > idleMs) await this.#requireProgress();
    return `${this.#file} ${state}`;
  }

  /** Copies the current state to a file. Rejects with a readable error. */
  async copy(target: string): Promise<void> {
    const child = this.#child;
    // Waiting for a lock inside SQLite would block the event loop.
    const reader = openHandle(this.#file, this.#options.addon, { readonly: true, timeout: 0 });
    try {
      await whenUnlocked(
        () => reader.exec('BEGIN; SELECT 1 FROM sqlite_schema'),
        () => reader.exec('ROLLBACK'),
      );
      await copyFile(this.#file, target, constants.COPYFILE_FICLONE);
      await chmod(target, 0o600);
    } finally {
      reader.close();
    }
    // The exit of a killed process is reported after its locks are released.
    await turn();
    if (child === undefined || child !== this.#child) throw this.#sentence(this.#lastLine);
  }

  /** Stops Litestream. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await closed;
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { intervalMs, parent, program, source } = this.#options;
    makeFolder(parent);
    for (const name of readdirSync(parent).filter((one) => one.startsWith('increments-')))
      rmSync(join(parent, name), { recursive: true, force: true });
    this.#file = join(mkdtempSync(join(parent, 'increments-')), databaseFile);
    [this.#lastLine, this.#failure, this.#state, this.#isBehind] = ['', undefined, '', false];
    this.#changedAt = performance.now();
    const interval = `${Math.max(100, Math.round(intervalMs))}ms`;
    const words = ['restore', '-f', '-follow-interval', interval, '-o', this.#file, source];
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', (line) => this.#note(line));
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const end = (reason: string): void => {
      process.off('exit', kill);
      this.#lastLine ||= reason;
      if (this.#child === child) this.#child = undefined;
    };
    child.once('error', (error) => end(plainReason(error)));
    child.once('close', (code) => end(`it ended with ${code}`));
    const until = performance.now() + maxStartMs;
    while (!existsSync(`${this.#file}-txid`)) {
      if (signal?.aborted || performance.now() > until) await this.close();
      if (this.#child === undefined) throw this.#sentence(this.#lastLine);
      await sleep(lookMs);
    }
    await this.#leaveWriteAheadLog();
  }

  /** Switches the restored file out of WAL mode, because Litestream does not use the locks of a write-ahead log. */
  async #leaveWriteAheadLog(): Promise<void> {
    const handle = openHandle(this.#file, this.#options.addon, { fileMustExist: true, timeout: 0 });
    try {
      await whenUnlocked(() => handle.pragma('journal_mode = DELETE'));
    } finally {
      handle.close();
    }
  }

  #note(line: string): void {
    const text = line.trim();
    if (text === '') return;
    this.#lastLine = text;
    if (/level=ERROR/.test(text)) this.#failure = text;
    else if (text.includes('applied updates')) this.#failure = undefined;
  }

  /** Stops Litestream, and rejects with a readable error, if it has not applied newer increments for a while. */
  async #requireProgress(): Promise<void> {
    const { program, source } = this.#options;
    this.#askedAt = performance.now();
    const { stdout } = await promisify(execFile)(program, ['ltx', '-level', 'all', source], {
      timeout: listTimeoutMs,
      maxBuffer: 256 * 1024 * 1024,
    }).catch((error: unknown) => {
      throw this.#sentence(lastLineOf(error));
    });
    const newest = stdout.split('\n').reduce((max, line) => {
      const txid = line.trim().split(/\s+/)[2] ?? '';
      return /^[0-9a-f]{16}$/.test(txid) && txid > max ? txid : max;
    }, '');
    const isBehind = newest > this.#state;
    if (isBehind && this.#isBehind) {
      await this.close();
      throw this.#sentence(`it stopped at ${this.#state} and did not apply ${newest}: it is started again`);
    }
    this.#isBehind = isBehind;
  }

  /** Builds an error without the credentials of the source. */
  #sentence(reason: string): Error {
    const { program, source } = this.#options;
    const hint = reason.includes('flag provided but not defined') ? 'Litestream 0.5.9 or later is required' : reason;
    return new Error(withoutCredentials(`${program} restore ${source}: ${hint}`));
  }
}

/** Returns the last output line of a failed program, or the first line of the error. */
export function lastLineOf(error: unknown): string {
  const { message = '', stderr = '', stdout = '' } = error as { message?: string; stderr?: string; stdout?: string };
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim() ?? message.split('\n')[0] ?? '';
}

/** Retries work that another process's lock prevents, calling `undo` before each retry. */
async function whenUnlocked(work: () => unknown, undo: () => unknown = () => undefined): Promise<void> {
  for (let look = 1; ; look++) {
    try {
      work();
      return;
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || look === maxLooks) throw error;
      undo();
    }
    await sleep(lookMs);
  }
}
