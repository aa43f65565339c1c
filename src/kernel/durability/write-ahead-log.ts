/**
 * The files of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat) and of its index in memory
 * (https://www.sqlite.org/walformat.html#walidxfmt).
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { codeOf, present } from '../present.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;

/** Throws with a sentence when a log has pages that SQLite would pass over without a word, for its head is damaged. */
export function rejectHeadless(file: string): void {
  const head = headOf(file);
  if (head && !new Checksums(head).isHeadWhole)
    throw new Error(
      `The write-ahead log ${file} is damaged: restore a backup, or move it away to go on without what it holds`,
    );
}

/** The head of a log that has pages; undefined where there is none. */
function headOf(file: string): Buffer | undefined {
  const descriptor = unlessRemoved(() => openSync(file, 'r'));
  if (descriptor === undefined) return undefined;
  try {
    // What a cut of the power leaves of a head has no page behind it: it is synced before the first.
    if (fstatSync(descriptor).size <= headerBytes) return undefined;
    const head = Buffer.alloc(headerBytes);
    readSync(descriptor, head, 0, headerBytes, 0);
    return head;
  } finally {
    closeSync(descriptor);
  }
}

/** What reading a log comes to; undefined where there is none, as the last process to close its database removes it at any time. */
function unlessRemoved<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A log in the middle of which something is not whole: SQLite reads it up to there. */
interface Break {
  /** Pages before it. */
  readonly pages: number;
  /** Transactions behind it that are whole, as they are when only one place was changed. */
  readonly transactions: number;
}

/**
 * Where a log breaks off although valid frames follow; undefined where it does not. After a power failure this is possible: frames
 * that no request waited for, and so none reported, are written in any order.
 */
export function breakOf(file: string): Break | undefined {
  const result = readBreak(file);
  // A log that is written to meanwhile is read in pieces of several moments.
  const again = result && readBreak(file);
  return again?.pages === result?.pages ? again : undefined;
}

function readBreak(file: string): Break | undefined {
  const content = unlessRemoved(() => readFileSync(file));
  if (!content) return undefined;
  const pages = wholePages(content);
  const checksums = new Checksums(content);
  let transactions = 0;
  for (let index = pages + 1; checksums.hasPage(index); index++)
    if (checksums.isWholeBehind(index) && checksums.endsTransaction(index)) transactions++;
  return transactions === 0 ? undefined : { pages, transactions };
}

/** The only version of the index that SQLite has had since 3.7.0. */
const indexVersion = 3_007_000;
/** Offsets in the index: its version, the number of valid pages of the log, and of those that checkpoints have moved. */
const versionAt = 0;
const pagesAt = 16;
const movedAt = 96;

/**
 * The index of a log. Every process maps it and sees changes at once. Closed only after the database: to
 * close a file gives up all locks of the process on it, here those of SQLite.
 */
export class LogIndex {
  readonly #descriptor: number;

  constructor(database: string) {
    this.#descriptor = openSync(`${database}-shm`, 'r+');
  }

  /** Throws with a sentence if another version of SQLite has given the index a different form. */
  requireKnownVersion(): void {
    const version = this.#read(versionAt);
    if (version !== indexVersion)
      throw new Error(
        `The index of the write-ahead log has version ${version}, this program knows only ${indexVersion}`,
      );
  }

  /** Number of valid pages of the log. Called with the write lock held. */
  get pages(): number {
    return this.#read(pagesAt);
  }

  /**
   * Makes the next checkpoint move every page of the log, unless one is already running. SQLite counts what checkpoints have
   * moved, and a lower count does no harm: after a recovery it is 0. Called with the write lock held.
   */
  forgetMoved(): void {
    writeSync(this.#descriptor, new Uint32Array(1), 0, 4, movedAt);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(at: number): number {
    const number = new Uint32Array(1);
    readSync(this.#descriptor, number, 0, number.byteLength, at);
    return present(number[0]);
  }
}

/** Pages from the beginning of a log whose checksums are right. */
export function wholePages(content: Buffer): number {
  const checksums = new Checksums(content);
  let count = 0;
  while (checksums.hasPage(count) && checksums.isNextWhole(count)) count++;
  return count;
}

/** The beginning of a log, up to a page. */
export const upToPage = (content: Buffer, pages: number): Buffer => content.subarray(0, endOf(content, pages));

/** Removes everything behind a page from the file of a log. Called with the write lock held. */
export function cutLog(file: string, pages: number): void {
  const head = headOf(file);
  if (head && statSync(file).size > endOf(head, pages)) truncateSync(file, endOf(head, pages));
}

/** Bytes of a log with so many pages; `head` is its beginning. */
const endOf = (head: Buffer, pages: number): number => headerBytes + pages * (frameHeaderBytes + head.readUInt32BE(8));

/** Each checksum continues the one before. */
class Checksums {
  readonly isHeadWhole: boolean;
  readonly #pageBytes: number;
  #one = 0;
  #two = 0;

  constructor(private readonly content: Buffer) {
    const hasHead = content.length >= headerBytes;
    if (hasHead) this.#add(0, 24);
    this.isHeadWhole = hasHead && this.#isAt(24);
    this.#pageBytes = hasHead ? content.readUInt32BE(8) : 0;
  }

  /** Whether a page, counted from 0, is of this log, and not left of the one before it. */
  hasPage(index: number): boolean {
    const { content } = this;
    const at = this.#startOf(index);
    return (
      this.isHeadWhole &&
      at + frameHeaderBytes + this.#pageBytes <= content.length &&
      content.subarray(at + 8, at + 16).equals(content.subarray(16, 24))
    );
  }

  /** Whether the page is whole that follows those that were asked for. */
  isNextWhole(index: number): boolean {
    const at = this.#startOf(index);
    this.#add(at, at + 8);
    this.#add(at + frameHeaderBytes, at + frameHeaderBytes + this.#pageBytes);
    return this.#isAt(at + 16);
  }

  /** Whether a page is whole, if that before it has its right checksum. */
  isWholeBehind(index: number): boolean {
    const before = this.#startOf(index - 1) + 16;
    this.#one = this.content.readUInt32BE(before);
    this.#two = this.content.readUInt32BE(before + 4);
    return this.isNextWhole(index);
  }

  /** Whether a page is the last of a transaction. */
  endsTransaction(index: number): boolean {
    return this.content.readUInt32BE(this.#startOf(index) + 4) !== 0;
  }

  #startOf(index: number): number {
    return headerBytes + index * (frameHeaderBytes + this.#pageBytes);
  }

  #isAt(at: number): boolean {
    return this.content.readUInt32BE(at) === this.#one && this.content.readUInt32BE(at + 4) === this.#two;
  }

  #add(from: number, to: number): void {
    const { content } = this;
    const isBig = (content.readUInt32BE(0) & 1) === 1;
    let [one, two] = [this.#one, this.#two];
    for (let at = from; at < to; at += 8) {
      one = (one + (isBig ? content.readUInt32BE(at) : content.readUInt32LE(at)) + two) >>> 0;
      two = (two + (isBig ? content.readUInt32BE(at + 4) : content.readUInt32LE(at + 4)) + one) >>> 0;
    }
    [this.#one, this.#two] = [one, two];
  }
}
