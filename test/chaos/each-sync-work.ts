/**
 * The processes of each-sync.ts. Each works on the database in a folder like a server or a command, and records which writes were
 * acknowledged. It ends by SIGKILL.
 */

import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { sql } from '../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../src/kernel/db/sqlite-database.ts';
import { takeSnapshot } from '../../src/kernel/durability/snapshot.ts';
import { compiled } from '../support/compiled.ts';
import { hasSyncFailed } from './faulty-disk.ts';

/**
 * The reaction to a failed sync. The process notices it, stops and is restarted; or it is killed; or it closes; or another
 * process writes to the database before it has noticed. A backup follows a kill.
 */
export const reactions = ['restart', 'kill', 'close', 'beside', 'backup'] as const;

export interface Work {
  /**
   * The first process creates the database and runs the whole work. A later one repeats it, writes a little, or makes a backup.
   */
  readonly part: 'first' | 'again' | 'after' | 'beside' | 'backup';
  readonly folder: string;
  readonly trace: string;
  /** The file with the numbers of acknowledged writes, and the length of the trace at each. */
  readonly notes: string;
  readonly reaction: (typeof reactions)[number] | 'none';
}

/** This file, compiled. */
const self = compiled(import.meta.url);

/** Bytes of a page. Small, so that writing many of them is fast. */
const pageBytes = 512;

/** Rows that change repeatedly, each on its own page. */
const marks = 40;

/** The two rows that store the number of the last write. */
export const marksOf = (id: number): readonly number[] => [id % marks, (7 * id + 3) % marks];

/** The number of the last write. */
export const contentOf = (id: number, pages: number): string =>
  `${id} `.repeat(pages * pageBytes).slice(0, pages * 450);

async function run(work: Work): Promise<void> {
  const { folder, part } = work;
  // The thread of the database does not keep the process alive.
  const alive = setInterval(() => undefined, 1000);
  const file = join(folder, 'tenantry.db');
  if (part === 'backup') {
    takeSnapshot(file, join(folder, 'backup'), undefined);
    process.kill(process.pid, 'SIGKILL');
  }
  if (part === 'first') make(file, folder);
  const worker = new Worker(work, SqliteDatabase.open(file));
  if (part === 'first' || part === 'again') await worker.doAll();
  else await worker.writeSome();
  clearInterval(alive);
  if (part === 'beside') worker.close();
  else process.kill(process.pid, 'SIGKILL');
}

function make(file: string, folder: string): void {
  mkdirSync(folder);
  const handle = new SQLite(file);
  handle.pragma(`page_size = ${pageBytes}`);
  handle.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE item (id INTEGER PRIMARY KEY, pages INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
    CREATE TABLE mark (number INTEGER PRIMARY KEY, item INTEGER NOT NULL, filling TEXT NOT NULL) STRICT;
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${marks - 1})
      INSERT INTO mark SELECT i, 0, '${'x'.repeat(pageBytes - 100)}' FROM n;
    CREATE TABLE housekeeping (count INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
    INSERT INTO housekeeping VALUES (0, ''); PRAGMA application_id = ${0x544e5259};`);
  handle.close();
}

class Worker {
  #hasReacted = false;

  constructor(
    private readonly work: Work,
    private readonly db: SqliteDatabase,
  ) {}

  /** Every step of a WAL: its first pages, the start of the thread, a checkpoint in it, a restart, a partial checkpoint. */
  async doAll(): Promise<void> {
    const { db, work } = this;
    db.checkpointInThread(undefined, (error) => {
      throw error;
    });
    for (let i = 0; i < 4; i++) await this.#write(1);
    for (let i = 0; i < 5; i++) await this.#write(480);
    await db.checkpointed();
    for (let i = 0; i < 3; i++) await this.#write(1);
    const reader = new SQLite(join(work.folder, 'tenantry.db'), { readonly: true });
    reader.exec('BEGIN; SELECT count(*) FROM item');
    for (let i = 0; i < 5; i++) await this.#write(480);
    await db.checkpointed();
    for (let i = 0; i < 2; i++) await this.#write(1);
    reader.close();
    for (let i = 0; i < 5; i++) await this.#write(480);
    await db.checkpointed();
    for (let i = 0; i < 4; i++) await this.#write(1);
  }

  async writeSome(): Promise<void> {
    for (let i = 0; i < 4; i++) await this.#write(1);
  }

  close(): void {
    this.db.close();
  }

  /** Stores this many pages after unrelated housekeeping. If the disk has failed, stops like a server. */
  async #write(pages: number): Promise<void> {
    await this.#react();
    this.#cleanUp();
    const id = this.#store(pages);
    if (id === undefined) {
      if (!hasSyncFailed()) throw new Error('It stops without a failed sync');
      await this.#react();
      await this.#stop();
    }
    appendFileSync(this.work.notes, `${statSync(this.work.trace).size} ${id}\n`);
    // Waits for the messages of the thread.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #store(pages: number): number | undefined {
    const { db } = this;
    let id: number | undefined;
    try {
      db.write(() => {
        const stored = db.insert('item', { pages, text: '' });
        db.update('item', stored, { text: contentOf(stored, pages) });
        for (const mark of marksOf(stored)) db.run(sql`UPDATE mark SET item = ${stored} WHERE number = ${mark}`);
        id = stored;
      });
      db.afterCommit((error) => {
        if (error !== undefined) id = undefined;
      });
      db.commit();
    } catch {
      return undefined;
    }
    return id;
  }

  #cleanUp(): void {
    const { db } = this;
    try {
      db.writeRelaxed(() => db.run(sql`UPDATE housekeeping SET count = count + 1, text = ${'x'.repeat(1500)}`));
    } catch {
      // Retried later.
    }
  }

  async #stop(): Promise<never> {
    await this.db.stopCheckpoints();
    try {
      this.db.close();
    } finally {
      process.kill(process.pid, 'SIGKILL');
    }
    throw new Error('It runs after SIGKILL');
  }

  async #react(): Promise<void> {
    const { reaction } = this.work;
    if (this.#hasReacted || reaction === 'none' || reaction === 'restart' || !hasSyncFailed()) return;
    this.#hasReacted = true;
    if (reaction === 'kill' || reaction === 'backup') process.kill(process.pid, 'SIGKILL');
    else if (reaction === 'close') await this.#stop();
    else {
      const work: Work = { ...this.work, part: 'beside', reaction: 'none' };
      // A failed start has acknowledged no writes.
      spawnSync(process.execPath, [self, JSON.stringify(work)]);
    }
  }
}

const [, started, argument] = process.argv;
if (started === self) await run(JSON.parse(argument ?? ''));
