import { codeOf } from '../present.ts';

/** Why nothing can currently be stored. */
type Reason =
  /** The disk is full. */
  | 'full'
  /** Another process has been writing for too long. */
  | 'busy'
  /** The disk has failed. */
  | 'broken'
  /** This process does not hold the lease that allows it to write. */
  | 'lease';

/** Thrown if nothing can currently be stored. Nothing was changed. `message` is a readable reason. */
export class StorageError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Thrown if a write was rolled back because another write in its batch failed. The caller repeats the write. */
export class BatchRolledBack extends Error {
  constructor() {
    super('rolled back with other writes of the same batch');
  }
}

/** Whether the error is a StorageError with this reason. */
export const isFor = (error: unknown, reason: Reason): error is StorageError =>
  error instanceof StorageError && error.reason === reason;

/** Returns the message of an error about a missing lease. Without the lease, nothing may be sent either. */
export const missingLease = (error: unknown): string | undefined => (isFor(error, 'lease') ? error.message : undefined);

/**
 * Whether a write or sync failed, so that the log on disk may have a hole. A full disk is not a failed write, and an unreadable
 * page does not affect the log.
 */
export const isFailedWrite = (error: unknown): error is StorageError =>
  error instanceof StorageError && /^SQLITE_IOERR(?!_(SHORT_)?READ)/.test(String(codeOf(error.cause)));

const reasons: readonly (readonly [RegExp, Reason, string])[] = [
  [/^SQLITE_FULL/, 'full', 'the disk is full'],
  [/^SQLITE_BUSY/, 'busy', 'another process is writing'],
  [/^SQLITE_CORRUPT/, 'broken', 'the database is damaged'],
  [/^SQLITE_(IOERR|READONLY|CANTOPEN)/, 'broken', 'the disk fails'],
];

/** Converts SQLite's storage errors to StorageError. Returns other errors unchanged. */
export function storageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [, reason, sentence] = reasons.find(([pattern]) => pattern.test(code)) ?? [];
  return reason === undefined ? error : new StorageError(reason, `${sentence} (${code})`, error);
}

/** Receives storage failures. */
export interface StorageReport {
  /** A commit failed; a later one may succeed. */
  readonly failed: (error: StorageError) => void;
  /** Nothing will be stored until the database is reopened. `advice` is the operator's next step. Called once. */
  readonly lost: (error: StorageError, advice: string) => void;
}

/** Reports nothing: every write throws the error anyway. */
export const noReport: StorageReport = { failed: () => undefined, lost: () => undefined };
