/** The program of the reader thread (long-reads.ts). See src/decisions/reader-thread.md. */
import { workerData } from 'node:worker_threads';
import type { DeferredQuery, ReadResult } from '../db/deferred-reads.ts';
import { caseFold } from '../db/sql.ts';
import { Statements } from '../db/statements.ts';
import { loadAgain, openHandle } from '../durability/handle.ts';
import type { ReaderThreadData } from './long-reads.ts';
import { serveTasks } from './task-thread.ts';

const { addon, file }: ReaderThreadData = workerData;
const handle = openHandle(file, addon && loadAgain(addon), { fileMustExist: true, readonly: true });
for (const pragma of ['temp_store = MEMORY', 'cache_size = -16384', 'mmap_size = 0']) handle.pragma(pragma);
handle.function('fold', { deterministic: true }, (text: unknown) => (typeof text === 'string' ? caseFold(text) : null));
const statements = new Statements(handle);

function response({ isPlucked, text, values }: DeferredQuery): ReadResult {
  const started = performance.now();
  const rows = (isPlucked ? statements.values(text) : statements.rows(text)).all(values);
  return { rows, milliseconds: performance.now() - started };
}

/** Runs all reads in one transaction. */
const runAll = handle.transaction((queries: readonly DeferredQuery[]) => queries.map(response));

serveTasks((queries: readonly DeferredQuery[]) => runAll(queries));
