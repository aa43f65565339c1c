/**
 * The program of the thread that moves the write-ahead log into the file: see checkpoints.ts.
 * See src/decisions/checkpoint-thread.md.
 */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Addon } from '../native/native.ts';
import { codeOf, present } from '../present.ts';
import type { CheckpointOrder, LogState } from './checkpoints.ts';
import { openHandle } from './handle.ts';

/** Milliseconds without work after which the thread ends. */
const patience = 10_000;

const port = present(parentPort);
const { addon, file }: CheckpointOrder = workerData;
const handle = openHandle(file, addon && load(addon), { fileMustExist: true });
// The log is on disk before its pages go into the file, and these are before the log begins anew.
handle.pragma('synchronous = FULL');
const ending = setTimeout(end, patience);

port.on('message', (message: 'checkpoint' | 'end') => {
  if (message === 'end') return end();
  port.postMessage(checkpoint());
  ending.refresh();
});

function checkpoint(): LogState & { readonly code?: string } {
  try {
    return present(handle.prepare<[], LogState>('PRAGMA wal_checkpoint(PASSIVE)').get());
  } catch (error) {
    // A full or failing disk: the log stays as it is, grows, and is tried again; who writes hears of it.
    return { log: 0, checkpointed: 0, code: String(codeOf(error)) };
  }
}

function end(): void {
  clearTimeout(ending);
  handle.close();
  port.close();
}

/**
 * Loads the addon that the process has loaded already. It must be the very same file: two copies of SQLite in one process do
 * not know of each other's locks, and would give up those of the other.
 */
function load({ file, inode }: Omit<Addon, 'exports'>): Pick<Addon, 'exports'> {
  if (statSync(file).ino !== inode) throw new Error(`${file} is not what was loaded before`);
  const holder: { exports: object } = { exports: {} };
  process.dlopen(holder, file);
  return holder;
}
