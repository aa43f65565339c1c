/**
 * The program of the checkpoint thread, which moves the write-ahead log into the file (checkpoints.ts).
 * See src/decisions/checkpoint-thread.md.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, present } from '../present.ts';
import type { CheckpointOrder, LogState } from './checkpoints.ts';
import { loadAgain, openHandle } from './handle.ts';

/** Idle time after which the thread ends. */
const timeout = 10_000;

const port = present(parentPort);
const { addon, file }: CheckpointOrder = workerData;
const handle = openHandle(file, addon && loadAgain(addon), { fileMustExist: true });
// Sync the log before moving its pages into the file, and the file before the log restarts.
handle.pragma('synchronous = FULL');
try {
  // Opens the log.
  handle.prepare('PRAGMA wal_checkpoint(NOOP)').get();
} catch {
  // The checkpoint reports it.
}
port.postMessage('ready');
const ending = setTimeout(end, timeout);

port.on('message', (message: 'checkpoint' | 'end') => {
  if (message === 'end') return end();
  port.postMessage(checkpoint());
  ending.refresh();
});

function checkpoint(): LogState & { readonly code?: string } {
  try {
    return present(handle.prepare<[], LogState>('PRAGMA wal_checkpoint(PASSIVE)').get());
  } catch (error) {
    // On a full disk, the log grows until a checkpoint succeeds. Any other failure stops the server.
    return { log: 0, checkpointed: 0, code: String(codeOf(error)) };
  }
}

function end(): void {
  clearTimeout(ending);
  handle.close();
  port.close();
}
