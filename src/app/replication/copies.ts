import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Config } from '../../kernel/config/config.ts';
import { copyDatabase } from '../../kernel/durability/copy.ts';
import { makeFolder, placeNew } from '../../kernel/place.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { keyFile } from '../../kernel/security/secrets.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { databaseFile, prepareFolder, requireDatabase } from '../data/data-folder.ts';

const run = promisify(execFile);

/** How often a folder is copied that changes meanwhile. */
const attempts = 5;
/** Bytes of the head of a write-ahead log, which is another one each time that the log begins anew. */
const logHeadBytes = 32;
/** Milliseconds that Litestream may take for a copy. */
const longestRestore = 600_000;

/** What an option says is followed, with a folder as an absolute path. */
export const sourceOf = (text: string): string => (isReplica(text) ? text : resolve(text));

/** Whether a source is the URL of a replica of Litestream, and not a folder. */
const isReplica = (source: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(source);

/**
 * The copies of a followed database, each in a data folder of its own below `copies`, by growing numbers. One that was not
 * finished has no database.
 */
export class Copies {
  readonly #folder: string;
  #next: number;
  /** What tells the source as it was copied last from the source as it is. */
  #seen: string | undefined;

  constructor(
    private readonly config: Config,
    /** The data folder of the follower. */
    private readonly data: string,
  ) {
    this.#folder = join(data, 'copies');
    this.#next = Math.max(0, ...this.#numbers()) + 1;
  }

  /** The data folder of the newest whole copy, if there is one. */
  get newest(): string | undefined {
    const whole = this.#numbers().filter((number) => existsSync(join(this.#at(number), databaseFile)));
    return whole.length === 0 ? undefined : this.#at(Math.max(...whole));
  }

  /**
   * Copies the source as it is now: a folder in which another program keeps the database, or a replica of Litestream. Answers
   * the data folder of the copy; undefined where nothing has changed since the last. Rejects with a sentence, also when it is
   * told to end meanwhile.
   */
  async take(source: string, signal?: AbortSignal): Promise<string | undefined> {
    const before = isReplica(source) ? undefined : stateOf(source);
    if (before !== undefined && before === this.#seen) return undefined;
    const copy = this.#at(this.#next++);
    makeFolder(copy);
    try {
      const draft = join(copy, 'draft.db');
      const seen = before ?? (await this.#restore(source, draft, signal));
      if (seen === this.#seen) {
        rmSync(copy, { recursive: true });
        return undefined;
      }
      if (before !== undefined) await this.#copy(source, draft);
      this.#placeKeys(copy);
      if (existsSync(`${draft}-wal`)) placeNew(`${draft}-wal`, join(copy, `${databaseFile}-wal`));
      placeNew(draft, join(copy, databaseFile));
      this.#seen = seen;
      return copy;
    } catch (error) {
      rmSync(copy, { recursive: true, force: true });
      throw error;
    }
  }

  /** Removes a copy, and takes the source for changed. */
  discard(copy: string): void {
    this.#seen = undefined;
    rmSync(copy, { recursive: true, force: true });
  }

  /** Removes all but the newest, and as many before it. */
  removeOld(kept: number): void {
    const old = this.#numbers().sort((a, b) => b - a);
    for (const number of old.slice(kept + 1)) rmSync(this.#at(number), { recursive: true, force: true });
  }

  async #copy(source: string, draft: string): Promise<void> {
    const key = keyFile(source);
    if (existsSync(key)) copyFileSync(key, keyFile(this.data));
    const addon = prepareFolder(this.config, this.data);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const before = beginningOf(source);
      rmSync(`${draft}-wal`, { force: true });
      await copyDatabase(join(source, databaseFile), draft, addon);
      if (beginningOf(source) === before) return;
    }
    throw new Error(`${source} changes all the time`);
  }

  /** Answers a sum of what was restored: a database that has not changed is restored the same. */
  async #restore(source: string, draft: string, signal: AbortSignal | undefined): Promise<string> {
    const { litestream_program: program } = this.config;
    try {
      await run(program, ['restore', '-o', draft, source], { timeout: longestRestore, ...(signal && { signal }) });
    } catch (error) {
      const told = error instanceof Error && 'stdout' in error ? String(error.stdout).trim().split('\n').at(-1) : '';
      // The command in the error itself names the source with its credentials.
      throw new Error(withoutCredentials(`${program} restore ${source}: ${told || plainReason(error).split('\n')[0]}`));
    }
    const sum = createHash('sha256');
    await pipeline(createReadStream(draft), sum);
    return sum.digest('hex');
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
 * What stays while a database is copied soundly: a log that began anew meanwhile may be copied half old and half new, and a
 * file without a log in use may be replaced.
 */
function beginningOf(folder: string): string {
  const log = join(folder, `${databaseFile}-wal`);
  if (!existsSync(log) || !existsSync(join(folder, `${databaseFile}-shm`))) return stateOf(folder);
  const descriptor = openSync(log, 'r');
  try {
    const head = Buffer.alloc(logHeadBytes);
    readSync(descriptor, head);
    return `${statSync(join(folder, databaseFile), { bigint: true }).ino} ${head.toString('hex')}`;
  } finally {
    closeSync(descriptor);
  }
}

/** What changes with the files of a database. Throws with a sentence when there is none. */
function stateOf(folder: string): string {
  requireDatabase(folder);
  return ['', '-wal']
    .map((ending) => statSync(join(folder, databaseFile + ending), { throwIfNoEntry: false, bigint: true }))
    .map((found) => found && `${found.ino} ${found.size} ${found.mtimeNs}`)
    .join();
}
