/** The program of the thread that copies databases (snapshots.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { errorOf, present } from '../present.ts';
import { loadAgain } from './handle.ts';
import { packBackup, takeSnapshot, unpackBackup } from './snapshot.ts';
import type { SnapshotOrder, SnapshotOutcome } from './snapshots.ts';

const { addon: file, work }: SnapshotOrder = workerData;
const addon = file && loadAgain(file);

/** Converts SQLite errors, which threads do not pass on. */
function outcome(): SnapshotOutcome {
  try {
    if (work.kind === 'take') takeSnapshot(work.file, work.copy, addon);
    else if (work.kind === 'pack') packBackup(work.copy, work.carried, addon);
    else return { carried: unpackBackup(work.copy, work.newest, addon) };
    return {};
  } catch (error) {
    return { failure: errorOf(error).message };
  }
}

present(parentPort).postMessage(outcome());
