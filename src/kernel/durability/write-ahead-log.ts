/**
 * The files of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat) and of its index in memory
 * (https://www.sqlite.org/walformat.html#walidxfmt).
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { codeOf, present } from '../present.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;

/** Throws a readable error if the header of a log with pages is damaged. SQLite would silently ignore these pages. */
export function rejectDamagedHeader(file: string): void {
  const header = headerOf(file);
  if (header && !new Checksums(header).isHeaderValid)
    throw new Error(
      `The write-ahead log ${file} is damaged: restore a backup, or move it away to continue without its transactions`,
    );
}

/** Returns the header of a log; undefined if the log has no pages. */
function headerOf(file: string): Buffer | undefined {
  const descriptor = unlessRemoved(() => openSync(file, 'r'));
  if (descriptor === undefined) return undefined;
  try {
    // SQLite syncs the header before the first page, so a header that a power failure damaged has no pages after it.
    if (fstatSync(descriptor).size <= headerBytes) return undefined;
    const header = Buffer.alloc(headerBytes);
    readSync(descriptor, header, 0, headerBytes, 0);
    return header;
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a log; undefined if it does not exist. The last process that closes the database can remove it at any time. */
function unlessRemoved<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** An invalid place in the middle of a log. SQLite reads the log up to this place. */
interface Gap {
  /** Valid pages before it. */
  readonly pages: number;
  /** Number of complete transactions after it, which exist if only one place was damaged. */
  readonly transactions: number;
}

/**
 * Finds the place where a log becomes invalid although valid frames follow. This can happen after a power failure, because the
 * disk writes frames that no request has waited for in any order.
 */
export function findGap(file: string): Gap | undefined {
  const result = readGap(file);
  // If another process writes to the log meanwhile, a read mixes pages from different times.
  const again = result && readGap(file);
  return again?.pages === result?.pages ? again : undefined;
}

function readGap(file: string): Gap | undefined {
  const content = unlessRemoved(() => readFileSync(file));
  if (!content) return undefined;
  const pages = countValidPages(content);
  const checksums = new Checksums(content);
  let transactions = 0;
  for (let index = pages + 1; checksums.hasPage(index); index++)
    if (checksums.isValidAfterPrevious(index) && checksums.endsTransaction(index)) transactions++;
  return transactions === 0 ? undefined : { pages, transactions };
}

/** The only version of the index that SQLite has had since 3.7.0. */
const indexVersion = 3_007_000;
/** Offsets in the index: its version, the number of valid pages of the log, and of those that checkpoints have moved. */
const versionAt = 0;
const pagesAt = 16;
const checkpointedAt = 96;

/**
 * The index of a log. Every process maps it and sees changes at once. Close it after the database: closing a file releases all
 * locks that the process has on it, here those of SQLite.
 */
export class LogIndex {
  readonly #descriptor: number;

  constructor(database: string) {
    this.#descriptor = openSync(`${database}-shm`, 'r+');
  }

  /** Throws a readable error if another version of SQLite uses a different index format. */
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
   * Makes the next checkpoint move every page of the log, unless one is already running. SQLite counts the pages that
   * checkpoints have moved, and a lower count is harmless: after a recovery it is 0. Called with the write lock held.
   */
  resetCheckpointed(): void {
    writeSync(this.#descriptor, new Uint32Array(1), 0, 4, checkpointedAt);
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

/** Counts the pages with valid checksums from the start of a log. */
export function countValidPages(content: Buffer): number {
  const checksums = new Checksums(content);
  let count = 0;
  while (checksums.hasPage(count) && checksums.isNextValid(count)) count++;
  return count;
}

/** Returns the first pages of a log, with its header. */
export const firstPages = (content: Buffer, pages: number): Buffer => content.subarray(0, endOf(content, pages));

/** Removes everything after a page from the file of a log. Called with the write lock held. */
export function truncateLog(file: string, pages: number): void {
  const header = headerOf(file);
  if (header && statSync(file).size > endOf(header, pages)) truncateSync(file, endOf(header, pages));
}

/** Returns the size in bytes of a log with this header and number of pages. */
const endOf = (header: Buffer, pages: number): number =>
  headerBytes + pages * (frameHeaderBytes + header.readUInt32BE(8));

/** Verifies the checksums of a log. Each checksum continues the previous one. */
class Checksums {
  readonly isHeaderValid: boolean;
  readonly #pageBytes: number;
  #one = 0;
  #two = 0;

  constructor(private readonly content: Buffer) {
    const hasHeader = content.length >= headerBytes;
    if (hasHeader) this.#add(0, 24);
    this.isHeaderValid = hasHeader && this.#matchesAt(24);
    this.#pageBytes = hasHeader ? content.readUInt32BE(8) : 0;
  }

  /** Whether a page, counted from 0, belongs to this log and is not left over from an earlier one. */
  hasPage(index: number): boolean {
    const { content } = this;
    const at = this.#startOf(index);
    return (
      this.isHeaderValid &&
      at + frameHeaderBytes + this.#pageBytes <= content.length &&
      content.subarray(at + 8, at + 16).equals(content.subarray(16, 24))
    );
  }

  /** Whether the page after the last checked one is valid. */
  isNextValid(index: number): boolean {
    const at = this.#startOf(index);
    this.#add(at, at + 8);
    this.#add(at + frameHeaderBytes, at + frameHeaderBytes + this.#pageBytes);
    return this.#matchesAt(at + 16);
  }

  /** Whether a page is valid, provided that the checksum of the previous page is. */
  isValidAfterPrevious(index: number): boolean {
    const before = this.#startOf(index - 1) + 16;
    this.#one = this.content.readUInt32BE(before);
    this.#two = this.content.readUInt32BE(before + 4);
    return this.isNextValid(index);
  }

  /** Whether a page is the last of a transaction. */
  endsTransaction(index: number): boolean {
    return this.content.readUInt32BE(this.#startOf(index) + 4) !== 0;
  }

  #startOf(index: number): number {
    return headerBytes + index * (frameHeaderBytes + this.#pageBytes);
  }

  #matchesAt(at: number): boolean {
    return this.content.readUInt32BE(at) === this.#one && this.content.readUInt32BE(at + 4) === this.#two;
  }

  #add(from: number, to: number): void {
    const { content } = this;
    const isBigEndian = (content.readUInt32BE(0) & 1) === 1;
    let [one, two] = [this.#one, this.#two];
    for (let at = from; at < to; at += 8) {
      one = (one + (isBigEndian ? content.readUInt32BE(at) : content.readUInt32LE(at)) + two) >>> 0;
      two = (two + (isBigEndian ? content.readUInt32BE(at + 4) : content.readUInt32LE(at + 4)) + one) >>> 0;
    }
    [this.#one, this.#two] = [one, two];
  }
}
