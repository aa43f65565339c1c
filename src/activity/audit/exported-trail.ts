/** Reads exports of the trail from files: one line of JSON per record, between a checkpoint and a head (audit.md 6). */
import { closeSync, openSync, readSync } from 'node:fs';
import { plainReason } from '../../kernel/present.ts';
import { canonicalJson } from './append.ts';
import { asHead, type Head, objectOf } from './heads-log.ts';
import type { StoredRecord, TrailSource } from './verify.ts';

const chunkBytes = 65_536;
const newline = 0x0a;

/** Returns the trail in an export. Throws a readable error if the file is unreadable or not an export. */
export function exportedTrail(
  file: string,
  keys: ReadonlyMap<string, string> | undefined,
  heads: readonly Head[],
): TrailSource {
  let count = 0;
  let [first, last] = ['', ''];
  for (const line of linesOf(file)) {
    if (count === 0) first = line;
    if (isOfSink(statementOf(last, 'head'))) throw new Error(`${file} has heads between records: use --copy`);
    last = line;
    count++;
  }
  if (!/^\s*\{/.test(first)) throw new Error(`${file} is not an export of the audit trail`);
  const end = statementOf(last, 'head');
  return {
    records: () => exportedRecords(file, count),
    checkpoint: statementOf(first, 'checkpoint'),
    heads,
    end: end ?? null,
    keys,
    isExcerpt: true,
  };
}

/** Whether a head is from a sink. Heads of exports have a record count. */
const isOfSink = (head: Head | undefined): boolean => head !== undefined && head.records === undefined;

/** Returns the trail in a sink's copy, with heads between the records. Throws a readable error if the file is unreadable. */
export function copiedTrail(
  file: string,
  keys: ReadonlyMap<string, string> | undefined,
  heads: readonly Head[],
): TrailSource {
  const ownHeads: Head[] = [];
  for (const line of linesOf(file)) {
    const head = statementOf(line, 'head');
    if (head) ownHeads.push(head);
  }
  return { records: () => copiedRecords(file), heads: [...ownHeads, ...heads], keys, isExcerpt: true, isCopy: true };
}

function* copiedRecords(file: string): Generator<StoredRecord> {
  for (const line of linesOf(file, true)) if (!statementOf(line, 'head')) yield recordOf(line);
}

function* exportedRecords(file: string, count: number): Generator<StoredRecord> {
  let number = 0;
  for (const line of linesOf(file)) {
    number++;
    const checkpoint = statementOf(line, 'checkpoint');
    if (checkpoint && number === 1) continue;
    const head = statementOf(line, 'head');
    if (number === count && (head || line.startsWith(headStart))) continue;
    const misplaced = checkpoint ?? head;
    yield misplaced ? { ...noRecord, misplaced: misplaced.sequence } : recordOf(line);
  }
}

/** The start of heads, even truncated ones. */
const headStart = '{"head"';

const noRecord: StoredRecord = { text: '', hash: '', private: null };

/** Returns the checkpoint or head in a line; undefined for any other line. */
function statementOf(line: string, name: 'checkpoint' | 'head'): Head | undefined {
  // Records start differently.
  if (!line.slice(0, 20).includes(name)) return undefined;
  const value = objectOf(line);
  return asHead(value?.[name]);
}

function recordOf(line: string): StoredRecord {
  const value = objectOf(line);
  if (!value) return noRecord;
  const { hash, private: hidden, ...open } = value;
  return { text: canonicalJson(open), hash: String(hash), private: hidden === null ? null : canonicalJson(hidden) };
}

/** Yields the lines of a file, without an incomplete last one if it `isGrowing`. Throws a readable error. */
function* linesOf(file: string, isGrowing = false): Generator<string> {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    throw new Error(`cannot read the export ${file}: ${plainReason(error, file)}`, { cause: error });
  }
  try {
    let parts: Buffer[] = [];
    const chunk = Buffer.alloc(chunkBytes);
    for (let size = read(descriptor, chunk, file); size > 0; size = read(descriptor, chunk, file)) {
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0 && end < size; end = chunk.indexOf(newline, start)) {
        parts.push(Buffer.from(chunk.subarray(start, end)));
        yield Buffer.concat(parts).toString();
        parts = [];
        start = end + 1;
      }
      parts.push(Buffer.from(chunk.subarray(start, size)));
    }
    const rest = Buffer.concat(parts).toString();
    if (rest !== '' && !(isGrowing && !objectOf(rest))) yield rest;
  } finally {
    closeSync(descriptor);
  }
}

function read(descriptor: number, chunk: Buffer, file: string): number {
  try {
    return readSync(descriptor, chunk);
  } catch (error) {
    throw new Error(`cannot read the export ${file}: ${plainReason(error, file)}`, { cause: error });
  }
}
