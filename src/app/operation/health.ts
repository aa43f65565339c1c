import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../kernel/app.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import { errorOf } from '../../kernel/present.ts';
import { neededRoom } from '../data/data-folder.ts';
import { fenceTroubles } from '../replication/fence.ts';
import type { Follower, FollowerState } from '../replication/follower.ts';

/** For how long, in milliseconds, another process may write until the database counts as not writable, and between two looks. */
const patience = 1000;
const pause = 20;
/** Milliseconds after which a timer that runs every second counts as dead. */
const longestSilence = 10_000;

/** What a server is asked by those who send it requests: whether it can do its work, and of each check "ok" or what is wrong. */
export interface Health {
  readonly isReady: boolean;
  /** Of the data folder; undefined: everything is in memory. */
  readonly instance?: string;
  readonly checks: Readonly<Record<string, string>>;
  /** Of a server that serves copies of another's database. */
  readonly follower?: FollowerState;
}

/** What health depends on. */
export interface Vitals {
  readonly app: App;
  /** The data folder; undefined: everything is in memory. */
  readonly folder: string | undefined;
  /** That of the data folder when it was opened. */
  readonly instance: string | undefined;
  readonly follower?: Pick<Follower, 'state' | 'trouble'> | undefined;
  /** How long ago, in milliseconds, the timer last ran. */
  readonly quiet: () => number;
  /** Whether the server is about to end. */
  readonly isClosing: () => boolean;
}

/** Whether the timer, which does everything that comes due, still runs. */
export const isTimerAlive = (timer: Pick<Vitals, 'quiet'>): boolean => timer.quiet() < longestSilence;

/** Looks after a server. Never rejects; takes a second where another process writes. */
export async function examineHealth(vitals: Vitals): Promise<Health> {
  const { app, folder, follower, instance, isClosing, quiet } = vitals;
  const [fence] = fenceTroubles(app.db);
  const checks = {
    server: isClosing() ? 'is about to end' : 'ok',
    database: await writing(app.db),
    migrations: migrated(app.db),
    timer: isTimerAlive(vitals) ? 'ok' : `has not run for ${Math.round(quiet() / 1000)} seconds`,
    ...(folder !== undefined && { disk: await room(folder) }),
    ...(fence !== undefined && { fence }),
    ...(follower && { copy: follower.trouble ?? 'ok' }),
  };
  const isReady = Object.values(checks).every((told) => told === 'ok');
  return {
    isReady,
    ...(instance !== undefined && { instance }),
    checks,
    ...(follower && { follower: follower.state }),
  };
}

/** Whether changes can be stored. The database itself tries again, every second, what the disk did not let happen. */
async function writing(db: SqliteDatabase): Promise<string> {
  for (const until = performance.now() + patience; ; await sleep(pause)) {
    const trouble = db.trouble ?? troubleOfWriting(db);
    if (trouble === undefined) return 'ok';
    const isBusy = trouble instanceof StorageError && trouble.reason === 'busy';
    if (!isBusy || performance.now() > until) return errorOf(trouble).message;
  }
}

/** Takes the place of the writer for a moment, which changes nothing. */
function troubleOfWriting(db: SqliteDatabase): unknown {
  try {
    db.write(() => undefined);
    return undefined;
  } catch (error) {
    return error;
  }
}

function migrated(db: SqliteDatabase): string {
  const [schema, ours] = [Number(db.pragma('user_version')), embeddedMigrations().length];
  return schema === ours ? 'ok' : `the database has schema ${schema}, and this version has ${ours}`;
}

async function room(folder: string): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    return free >= neededRoom ? 'ok' : `${free} bytes are free of ${neededRoom} that are needed`;
  } catch (error) {
    return errorOf(error).message;
  }
}
