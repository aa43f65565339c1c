import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sinkLags } from '../../activity/audit/sinks/lag.ts';
import type { App } from '../../kernel/app.ts';
import { second } from '../../kernel/clock.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { isFor, StorageError } from '../../kernel/durability/storage-error.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import { errorOf } from '../../kernel/present.ts';
import { requiredBytes } from '../data/data-folder.ts';
import { fenceProblems } from '../replication/fence.ts';
import type { Follower, FollowerState } from '../replication/follower.ts';

/** How long another process may write before the database counts as not writable, and the delay between two checks. */
const maxBusyMs = 1000;
const busyPollMs = 20;
/** Age after which the timer, which runs every second, counts as dead. */
const maxTimerAgeMs = 10_000;

/** The readiness of a server. */
export interface Health {
  readonly isReady: boolean;
  /** Identifies the data folder; undefined if all data is in memory. */
  readonly instance?: string;
  /** For each check, `ok` or a description of the problem. */
  readonly checks: Readonly<Record<string, string>>;
  /** Undelivered records per sink of the audit trail, and the age of the oldest. Absent without sinks. */
  readonly audit_sinks?: Readonly<Record<string, { readonly records: number; readonly seconds: number }>>;
  /** Only on a server with copies of another server's database. */
  readonly follower?: FollowerState;
}

/** Dependencies of the readiness check. */
export interface HealthDependencies {
  readonly app: App;
  /** The data folder; undefined if all data is in memory. */
  readonly folder: string | undefined;
  /** The instance of the data folder at the time it was opened. */
  readonly instance: string | undefined;
  readonly follower?: Pick<Follower, 'state' | 'problem'> | undefined;
  /** Milliseconds since the timer last ran. */
  readonly timerAgeMs: () => number;
  /** Whether the server is shutting down. */
  readonly isClosing: () => boolean;
}

/** Whether the timer that runs all pending work is alive. */
export const isTimerAlive = (timer: Pick<HealthDependencies, 'timerAgeMs'>): boolean =>
  timer.timerAgeMs() < maxTimerAgeMs;

/** Runs all checks. Never rejects. Takes a second if another process writes. */
export async function checkHealth(dependencies: HealthDependencies): Promise<Health> {
  const { app, folder, follower, instance, isClosing, timerAgeMs } = dependencies;
  const [fence] = fenceProblems(app.db);
  const checks = {
    server: isClosing() ? 'is shutting down' : 'ok',
    database: await writeCheck(app.db),
    migrations: schemaCheck(app.db),
    timer: isTimerAlive(dependencies) ? 'ok' : `has not run for ${Math.round(timerAgeMs() / 1000)} seconds`,
    ...(folder !== undefined && { disk: await diskCheck(folder) }),
    ...(fence !== undefined ? { fence } : app.lease && { lease: app.lease.problem() ?? 'ok' }),
    ...(follower && { copy: follower.problem ?? 'ok' }),
  };
  const isReady = Object.values(checks).every((result) => result === 'ok');
  return {
    isReady,
    ...(instance !== undefined && { instance }),
    checks,
    ...auditSinks(app),
    ...(follower && { follower: follower.state }),
  };
}

function auditSinks(app: App): Pick<Health, 'audit_sinks'> {
  const now = app.clock.now();
  const lags = sinkLags(app).map(({ oldest, sink, waiting }) => {
    const seconds = oldest === null ? 0 : Math.max(0, Math.round((now - oldest) / second));
    return [sink, { records: waiting, seconds }] as const;
  });
  return lags.length === 0 ? {} : { audit_sinks: Object.fromEntries(lags) };
}

/** Whether changes can be stored. After a disk error, the database itself retries every second. */
async function writeCheck(db: SqliteDatabase): Promise<string> {
  for (const until = performance.now() + maxBusyMs; ; await sleep(busyPollMs)) {
    // The check `lease` reports a missing lease.
    const error = isFor(db.trouble, 'lease') ? undefined : (db.trouble ?? writeError(db));
    if (error === undefined) return 'ok';
    const isBusy = error instanceof StorageError && error.reason === 'busy';
    if (!isBusy || performance.now() > until) return errorOf(error).message;
  }
}

/** Returns the error of an empty write. */
function writeError(db: SqliteDatabase): unknown {
  try {
    db.write(() => undefined);
    return undefined;
  } catch (error) {
    return error;
  }
}

function schemaCheck(db: SqliteDatabase): string {
  const [schema, expected] = [Number(db.pragma('user_version')), embeddedMigrations().length];
  return schema === expected ? 'ok' : `the database has schema ${schema}, and this version has ${expected}`;
}

async function diskCheck(folder: string): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    return free >= requiredBytes ? 'ok' : `${free} bytes are free, ${requiredBytes} are required`;
  } catch (error) {
    return errorOf(error).message;
  }
}
