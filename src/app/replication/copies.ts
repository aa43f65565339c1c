import { execFile } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../kernel/config/config.ts';
import { copyDatabase } from '../../kernel/durability/copy.ts';
import { makeFolder, place, placeNew } from '../../kernel/files.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { databaseFile, prepareFolder, requireDatabase } from '../data/data-folder.ts';
import { Increments, lastLineOf } from './increments.ts';

const run = promisify(execFile);

/** Maximum number of attempts to copy a folder that keeps changing. */
const maxAttempts = 5;
/** Header size of a write-ahead log. The header changes each time the log restarts. */
const logHeaderBytes = 32;
/** Timeout of a restore by Litestream. */
const restoreTimeoutMs = 600_000;

/** Parses the source in an option. Makes the path of a folder absolute. */
export const sourceOf = (text: string): string => (isReplica(text) ? text : resolve(text));

/** Whether a source is the URL of a Litestream replica instead of a folder. */
const isReplica = (source: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(source);

/**
 * The copies of a followed database. Each has its own data folder in `copies`, named by an increasing number. An unfinished copy
 * has no database.
 */
export class Copies {
  readonly #folder: string;
  #next: number;
  /** The state of the source at the last copy. */
  #lastState: string | undefined;
  /** The database that receives the increments of a replica; undefined before the first copy, and for folders. */
  #increments: Increments | undefined;

  constructor(
    private readonly config: Config,
    /** The data folder of the follower. */
    private readonly data: string,
    /** Whether copies are taken repeatedly. If so, a replica is not restored completely each time. */
    private readonly isFollowing = false,
  ) {
    this.#folder = join(data, 'copies');
    this.#next = Math.max(0, ...this.#numbers()) + 1;
  }

  /** The data folder of the newest complete copy; undefined if there is none. */
  get newest(): string | undefined {
    const complete = this.#numbers().filter((number) => existsSync(join(this.#at(number), databaseFile)));
    return complete.length === 0 ? undefined : this.#at(Math.max(...complete));
  }

  /**
   * Copies the source: a folder in which another program updates the database, or a Litestream replica. Returns the data folder
   * of the copy; undefined if nothing has changed since the last one. Rejects with a readable error, also when aborted.
   */
  async take(source: string, signal?: AbortSignal): Promise<string | undefined> {
    const increments = this.#incrementsOf(source);
    const state = isReplica(source) ? await increments?.state(signal) : stateOf(source);
    if (state !== undefined && state === this.#lastState) return undefined;
    const copy = this.#at(this.#next++);
    makeFolder(copy);
    try {
      const draft = join(copy, 'draft.db');
      if (!isReplica(source)) await this.#copy(source, draft);
      else if (increments) await increments.copy(draft);
      else await this.#restore(source, draft, signal);
      this.#placeKeys(copy);
      if (existsSync(`${draft}-wal`)) placeNew(`${draft}-wal`, join(copy, `${databaseFile}-wal`));
      placeNew(draft, join(copy, databaseFile));
      this.#lastState = state;
      return copy;
    } catch (error) {
      rmSync(copy, { recursive: true, force: true });
      throw error;
    }
  }

  /** Stops applying the increments of a replica. */
  async close(): Promise<void> {
    await this.#increments?.close();
  }

  #incrementsOf(source: string): Increments | undefined {
    if (!this.isFollowing || !isReplica(source)) return undefined;
    const { follow_interval: interval, litestream_program: program } = this.config;
    this.#increments ??= new Increments({
      program,
      source,
      parent: this.#folder,
      // An increment then waits for at most half of the interval.
      intervalMs: interval / 2000,
      addon: prepareFolder(this.config, this.data),
    });
    return this.#increments;
  }

  /** Removes a copy, and treats the source as changed. */
  discard(copy: string): void {
    this.#lastState = undefined;
    rmSync(copy, { recursive: true, force: true });
  }

  /** Removes all copies except the newest and a number of previous ones. */
  removeOld(previous: number): void {
    const old = this.#numbers().sort((a, b) => b - a);
    for (const number of old.slice(previous + 1)) rmSync(this.#at(number), { recursive: true, force: true });
  }

  async #copy(source: string, draft: string): Promise<void> {
    this.#copyKeys(keyFile(source));
    const addon = prepareFolder(this.config, this.data);
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const before = baseStateOf(source);
      rmSync(`${draft}-wal`, { force: true });
      await copyDatabase(join(source, databaseFile), draft, addon);
      if (baseStateOf(source) === before) return;
    }
    throw new Error(`${source} changes too often to be copied`);
  }

  /** Copies changed keys. They must survive a power failure: without them, no copy can be promoted. */
  #copyKeys(source: string): void {
    const file = keyFile(this.data);
    if (!existsSync(source) || (existsSync(file) && readFileSync(source).equals(readFileSync(file)))) return;
    const draft = `${file}.new`;
    copyFileSync(source, draft);
    place(draft, file);
  }

  /** Restores a replica once. */
  async #restore(source: string, draft: string, signal: AbortSignal | undefined): Promise<void> {
    const { litestream_program: program } = this.config;
    try {
      await run(program, ['restore', '-o', draft, source], { timeout: restoreTimeoutMs, ...(signal && { signal }) });
    } catch (error) {
      // The error message contains the command, including the credentials of the source.
      throw new Error(withoutCredentials(`${program} restore ${source}: ${lastLineOf(error)}`));
    }
  }

  #placeKeys(copy: string): void {
    if (existsSync(keyFile(this.data))) copyFileSync(keyFile(this.data), keyFile(copy));
    else if (this.config.encryption_keys.length === 0)
      throw new Error(`${keyFile(this.data)} is missing: copy it from the data folder of the primary`);
  }

  #at(number: number): string {
    return join(this.#folder, String(number));
  }

  #numbers(): number[] {
    return existsSync(this.#folder) ? readdirSync(this.#folder).map(Number).filter(Number.isInteger) : [];
  }
}

/**
 * Returns a state that must not change during a copy. If the log restarts meanwhile, the copy may be half old and half new. A
 * file without an active log may be replaced.
 */
function baseStateOf(folder: string): string {
  const log = join(folder, `${databaseFile}-wal`);
  if (!existsSync(log) || !existsSync(join(folder, `${databaseFile}-shm`))) return stateOf(folder);
  const descriptor = openSync(log, 'r');
  try {
    const header = Buffer.alloc(logHeaderBytes);
    readSync(descriptor, header);
    return `${statSync(join(folder, databaseFile), { bigint: true }).ino} ${header.toString('hex')}`;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns a state that changes with the database files. Throws a readable error if there are none. */
function stateOf(folder: string): string {
  requireDatabase(folder);
  return ['', '-wal']
    .map((ending) => statSync(join(folder, databaseFile + ending), { throwIfNoEntry: false, bigint: true }))
    .map((file) => file && `${file.ino} ${file.size} ${file.mtimeNs}`)
    .join();
}
