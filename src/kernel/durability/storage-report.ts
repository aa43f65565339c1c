import type { LogReport } from './log-repair.ts';
import type { StorageError } from './storage-error.ts';

/** Nothing can be stored any more, which has been told: nobody catches it, and the process ends. */
export class StorageLost extends Error {}

/** Told of what happens to the storage. */
export interface StorageReport extends LogReport {
  /** A commit failed. */
  readonly failed: (error: StorageError) => void;
}

/** As an exception that nobody catches: who runs the process says how it ends. */
export const endProcess: StorageReport = {
  mended: () => undefined,
  failed: () => undefined,
  lost: (error) =>
    void setImmediate(() => {
      throw error;
    }),
};
