import type { StorageError } from './storage-error.ts';

/** Receives what happens to the storage. */
export interface StorageReport {
  /** A commit failed; a later one may succeed. */
  readonly failed: (error: StorageError) => void;
  /** Nothing is stored until the database is opened again; `advice` is the operator's next step. Called once. */
  readonly lost: (error: StorageError, advice: string) => void;
}

/** Reports nothing: every write throws the error anyway. */
export const noReport: StorageReport = { failed: () => undefined, lost: () => undefined };
