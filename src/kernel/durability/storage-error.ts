import { codeOf } from '../present.ts';

/** Why nothing can be stored at the moment. */
type Reason =
  /** The disk is full. */
  | 'full'
  /** Another process has been writing for too long. */
  | 'busy'
  /** The disk fails. */
  | 'broken'
  /** This process does not hold the lease that allows it to write. */
  | 'lease';

/** Nothing was changed, because nothing can be stored at the moment; `message` gives the reason in a sentence. */
export class StorageError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Whether the error is a StorageError with this reason. */
export const isFor = (error: unknown, reason: Reason): error is StorageError =>
  error instanceof StorageError && error.reason === reason;

/** Returns the sentence of an error if it reports a missing lease; then nothing may be sent either. */
export const missingLease = (error: unknown): string | undefined => (isFor(error, 'lease') ? error.message : undefined);

/**
 * Whether a write or sync failed, so that the log on the disk may have a hole. A full disk is not a failed write, and a page that
 * cannot be read leaves the log as it was.
 */
export const isFailedWrite = (error: unknown): error is StorageError =>
  error instanceof StorageError && /^SQLITE_IOERR(?!_(SHORT_)?READ)/.test(String(codeOf(error.cause)));

const reasons: readonly (readonly [RegExp, Reason, string])[] = [
  [/^SQLITE_FULL/, 'full', 'the disk is full'],
  [/^SQLITE_BUSY/, 'busy', 'another process is writing'],
  [/^SQLITE_CORRUPT/, 'broken', 'the database is damaged'],
  [/^SQLITE_(IOERR|READONLY|CANTOPEN)/, 'broken', 'the disk fails'],
];

/** Converts an error of SQLite about the storage to a StorageError; returns other errors unchanged. */
export function storageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const [, reason, sentence] = reasons.find(([pattern]) => pattern.test(code)) ?? [];
  return reason === undefined ? error : new StorageError(reason, `${sentence} (${code})`, error);
}

/** Receives failures of the storage. */
export interface StorageReport {
  /** A commit failed; a later one may succeed. */
  readonly failed: (error: StorageError) => void;
  /** Nothing is stored until the database is opened again; `advice` is the operator's next step. Called once. */
  readonly lost: (error: StorageError, advice: string) => void;
}

/** Reports nothing: every write throws the error anyway. */
export const noReport: StorageReport = { failed: () => undefined, lost: () => undefined };
