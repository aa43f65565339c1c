/** The program of the thread that copies databases: see snapshots.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadAgain } from '../native/thread-addon.ts';
import { present } from '../present.ts';
import { packBackup, takeSnapshot, unpackBackup } from './snapshot.ts';
import type { SnapshotOrder } from './snapshots.ts';

const { addon: file, work }: SnapshotOrder = workerData;
const addon = file && loadAgain(file);
const done =
  work.kind === 'take'
    ? takeSnapshot(work.file, work.copy, addon)
    : work.kind === 'pack'
      ? packBackup(work.copy, work.carried, addon)
      : unpackBackup(work.copy, work.newest, addon);
present(parentPort).postMessage(done);
