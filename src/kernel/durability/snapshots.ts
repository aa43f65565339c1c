import { Worker } from 'node:worker_threads';
import { embeddedMigrations, embeddedThread } from '../native/embedded.ts';
import type { Addon } from '../native/native.ts';
import { present } from '../present.ts';
import { type AddonFile, addonFile } from './handle.ts';
import type { Carried } from './snapshot.ts';

/*
 * Runs the functions of snapshot.ts in a thread, because their duration grows with the database and commands must stay responsive
 * to signals.
 */

/** The task of a thread. */
export interface SnapshotOrder {
  readonly addon: AddonFile | undefined;
  readonly work:
    | { readonly kind: 'take'; readonly file: string; readonly copy: string }
    | { readonly kind: 'pack'; readonly copy: string; readonly carried: Carried }
    | { readonly kind: 'unpack'; readonly copy: string; readonly newest: number };
}

/** The result of a thread. */
export interface SnapshotOutcome {
  /** The backup's time and keys, after `unpack`. */
  readonly carried?: Carried;
  /** A readable error message. */
  readonly failure?: string;
}

/** Writes a snapshot of a database into a new file. Rejects with a readable error. */
export async function takeSnapshotInThread(file: string, copy: string, addon: Addon | undefined): Promise<void> {
  await inThread({ kind: 'take', file, copy }, addon);
}

/** Converts a copy to a backup. Rejects with a readable error if the copy is damaged. */
export async function packBackupInThread(copy: string, carried: Carried, addon: Addon | undefined): Promise<void> {
  await inThread({ kind: 'pack', copy, carried }, addon);
}

/** Creates a database from a backup and returns its other files. Rejects with a readable error if it is invalid or newer. */
export async function unpackBackupInThread(copy: string, addon: Addon | undefined): Promise<Carried> {
  return present(await inThread({ kind: 'unpack', copy, newest: embeddedMigrations().length }, addon));
}

function inThread(work: SnapshotOrder['work'], addon: Addon | undefined): Promise<Carried | undefined> {
  const order: SnapshotOrder = { addon: addonFile(addon), work };
  return new Promise((resolve, reject) => {
    const thread = new Worker(embeddedThread('kernel/durability/snapshot-thread'), {
      eval: true,
      execArgv: [],
      workerData: order,
    });
    let outcome: SnapshotOutcome = { failure: 'Its thread has ended' };
    thread.on('message', (message: SnapshotOutcome) => (outcome = message));
    thread.on('error', reject);
    thread.on('exit', () =>
      outcome.failure === undefined ? resolve(outcome.carried) : reject(new Error(outcome.failure)),
    );
  });
}
