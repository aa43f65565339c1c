import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import type { StorageError } from '../../kernel/durability/storage-error.ts';
import { type Log, openLog } from '../../kernel/log.ts';
import { errorOf } from '../../kernel/present.ts';
import { databaseFile, leaseFile, lockFolder, prepareFolder } from '../data/data-folder.ts';
import { Lease, noLease, Superseded } from './lease.ts';
import {
  hasLeaseState,
  isOfThisBoot,
  machineNow,
  millisecondsUntil,
  readLeaseState,
  storeLeaseState,
} from './lease-file.ts';
import { LeaseStore } from './lease-store.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** The lease of the setting `lease_url`; undefined without it. */
    readonly lease: Pick<Lease, 'problem' | 'secondsLeft'> | undefined;
  }
}

/** Whether a process may write to a data folder under `lease_url`. */
export type WriteAccess =
  /** The process holds the lease itself. */
  | { readonly kind: 'held'; readonly lease: Lease }
  /** A server that runs on the folder holds the lease. */
  | { readonly kind: 'shared'; readonly failure: () => StorageError | undefined }
  /** A newer holder exists: the process must not write. */
  | { readonly kind: 'superseded'; readonly epoch: number };

/** Throws ConfigError if `lease_url` is combined with settings that it replaces. */
export function checkLeaseSettings({ lease_url: url, peers }: Config): void {
  if (url !== null && peers.length > 0) throw new ConfigError('peers is redundant with lease_url: remove it');
}

/** Throws ConfigError if the folder's data is written under a lease, but the settings do not name it. */
export function requireNoLease(folder: string): void {
  if (hasLeaseState(folder)) throw leaseRequired(folder);
}

const leaseRequired = (folder: string): ConfigError =>
  new ConfigError(
    `${folder} is written under a lease: set lease_url as its server does, or remove ${join(folder, leaseFile)} if no other server uses that lease`,
  );

interface AcquireOptions {
  readonly log: Log;
  readonly isServer?: boolean;
  /** Whether the data replaces that of all other servers. */
  readonly takesOver?: boolean;
}

/** Acquires the lease for a data folder after testing the object store. Rejects with a readable error. */
export async function acquireLease(
  config: Config,
  url: string,
  { isServer = false, log, takesOver = false }: AcquireOptions,
): Promise<WriteAccess> {
  const folder = resolve(config.data);
  // A second server of the folder must not compete for the lease, also not while this one waits for it.
  const unlock = isServer ? lockFolder(folder, prepareFolder(config, folder)) : undefined;
  try {
    const store = new LeaseStore(config, url);
    const own = ownEpoch(config, folder);
    if (own.fencedBy !== null && !takesOver) return { kind: 'superseded', epoch: own.fencedBy };
    const lease = await Lease.acquire({
      store,
      own,
      takesOver,
      checked: store.check(),
      log,
      changed: (state, isSynced) => storeLeaseState(folder, { ...state, isServer }, isSynced),
    });
    return { kind: 'held', lease };
  } catch (error) {
    if (error instanceof Superseded) return { kind: 'superseded', epoch: error.epoch };
    throw error;
  } finally {
    unlock?.();
  }
}

/** Returns the epoch of a folder's data, its last holder, and the epoch of a server that superseded it. */
function ownEpoch(
  config: Config,
  folder: string,
): { readonly epoch: number; readonly holder: string | undefined; readonly fencedBy: number | null } {
  const addon = prepareFolder(config, folder);
  const state = readLeaseState(folder);
  const acquired = state?.isAcquired ? state.epoch : 0;
  const none = { epoch: acquired, holder: state?.holder, fencedBy: null };
  if (!existsSync(join(folder, databaseFile))) return none;
  const handle = openHandle(join(folder, databaseFile), addon, { readonly: true });
  try {
    const row = handle.prepare('SELECT epoch, fenced FROM deployment').get() as {
      epoch: number;
      fenced: number | null;
    };
    return { epoch: Math.max(acquired, row.epoch), holder: state?.holder, fencedBy: row.fenced };
  } catch {
    // The database is from a version without epochs, or damaged, which the start reports.
    return none;
  } finally {
    handle.close();
  }
}

/** Makes all commits depend on the lease, and stores the epoch of the lease or of the newer holder. */
export function applyAccess(db: SqliteDatabase, access: WriteAccess): void {
  if (access.kind === 'superseded') {
    db.write(() => db.run(sql`UPDATE deployment SET fenced = ${access.epoch} WHERE fenced IS NULL`));
    db.store();
    return;
  }
  db.guard(access.kind === 'held' ? access.lease.failure : access.failure);
  if (access.kind === 'shared') return;
  db.write(() => db.run(sql`UPDATE deployment SET epoch = ${access.lease.epoch}`));
  db.store();
}

/**
 * Runs a command that writes to a data folder. If a server runs on the folder under a lease, the command shares that lease;
 * otherwise, with `lease_url`, it acquires the lease and releases it afterwards. Rejects with a readable error, also if the
 * folder's data is written under a lease that neither a server nor the setting provides.
 */
export async function withWriteAccess<T>(
  config: Config,
  use: (access: WriteAccess | undefined) => T | Promise<T>,
  takesOver = false,
): Promise<T> {
  const { lease_url: url } = config;
  checkLeaseSettings(config);
  const folder = resolve(config.data);
  if (url === null && !hasLeaseState(folder)) return use(undefined);
  const failure = sharedFailure(folder);
  if (!takesOver && failure) return use({ kind: 'shared', failure });
  if (takesOver || ownEpoch(config, folder).fencedBy === null) requireNoServer(config, folder);
  if (url === null) throw leaseRequired(folder);
  const { log, close } = openLog(config.log_level, null);
  try {
    const access = await acquireLease(config, url, { log, takesOver });
    let isDone = false;
    try {
      const result = await use(access);
      isDone = true;
      return result;
    } finally {
      // A failed take-over, such as a restore of a damaged backup, must not fence the previous holder.
      if (access.kind === 'held') await access.lease.release(isDone || !takesOver);
    }
  } finally {
    close();
  }
}

/** Returns a check of the lease that a server on the folder holds; undefined if none does. */
function sharedFailure(folder: string): (() => StorageError | undefined) | undefined {
  const holder = readLeaseState(folder)?.holder;
  const failure = (): StorageError | undefined => {
    const state = readLeaseState(folder);
    const isHeld = state?.isServer && state.isAcquired && state.holder === holder && isOfThisBoot(state);
    return isHeld && millisecondsUntil(state.deadline, machineNow()) > 0 ? undefined : noLease();
  };
  return failure() === undefined ? failure : undefined;
}

/** Throws if a server runs on the folder: a command must not take its lease. */
function requireNoServer(config: Config, folder: string): void {
  try {
    lockFolder(folder, prepareFolder(config, folder))();
  } catch (error) {
    throw errorOf(error).message.includes('another server') ? noLease() : error;
  }
}
