import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { second } from '../../../kernel/clock.ts';
import { plainReason } from '../../../kernel/plain-reason.ts';
import type { Batch, Sink } from './sink.ts';

const mode = 0o640;

/** Number of bytes at the end of the file to search for its last line: initially, and at most. */
const minTail = 64 * 1024;
const maxTail = 64 * 1024 * 1024;

/** The end of a file at the time it was opened. */
interface Tail {
  /** Offset of the end of the last complete line. */
  readonly end: number;
  /** The rest of the file: a line truncated by a kill or a full disk. */
  readonly partial: Buffer;
  /** The last complete line; empty without one. */
  readonly line: string;
}

/** `audit_file`: appends one line per record, and confirms it once it is on disk. */
export class FileSink implements Sink {
  readonly name = 'file';
  readonly maxRetryDelay = 5 * second;
  #file: FileHandle | undefined;
  /** Undefined after the first append. */
  #tail: Tail | undefined;
  #mustReopen = false;

  constructor(private readonly path: string) {}

  async send(batch: Batch): Promise<void> {
    try {
      do await this.#append(await this.#open(), batch);
      while (
        // After a rename, another program may already be reading the last line, so repeat the batch in the new file.
        this.#mustReopen
      );
    } catch (error) {
      await this.#release();
      throw new Error(plainReason(error), { cause: error });
    }
  }

  /** Makes the next batch reopen the file, because a program has renamed it. */
  reopen(): void {
    this.#mustReopen = true;
  }

  /** Does nothing: a running attempt does not wait for other machines and ends soon. */
  close(): void {
    void this.#release().catch(() => undefined);
  }

  /** Appends the records that the file lacks, because an interrupted attempt may have written the first ones. */
  async #append(file: FileHandle, { records }: Batch): Promise<void> {
    const { end = 0, line: last, partial = Buffer.alloc(0) } = this.#tail ?? {};
    const missing = records.slice(records.findIndex(({ line }) => line === last) + 1);
    const bytes = Buffer.from(missing.map(({ line }) => `${line}\n`).join(''));
    if (partial.length > 0) {
      const isOwn = bytes.subarray(0, partial.length).equals(partial);
      if (isOwn) await file.truncate(end);
      else await file.appendFile('\n');
    }
    this.#tail = undefined;
    await file.appendFile(bytes);
    await file.sync();
  }

  async #open(): Promise<FileHandle> {
    if (this.#mustReopen) await this.#release();
    this.#mustReopen = false;
    if (this.#file) return this.#file;
    const file = await open(this.path, 'a+', mode);
    this.#file = file;
    const stats = await file.stat();
    if (!stats.isFile()) return file;
    // The umask may have removed bits. Only the owner can set them.
    if ((stats.mode & 0o777) !== mode) await file.chmod(mode).catch(() => undefined);
    if (stats.size === 0) await syncFolderOf(this.path);
    this.#tail = await tailOf(file, stats.size);
    return file;
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#tail = undefined;
    await file?.close();
  }
}

/** Reads the end of a file. Rejects if its last line is too long to be a record. */
async function tailOf(file: FileHandle, size: number): Promise<Tail> {
  for (let length = minTail; length <= maxTail; length *= 2) {
    const start = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - start);
    await file.read(bytes, 0, bytes.length, start);
    const end = bytes.lastIndexOf('\n') + 1;
    const lastStart = end > 1 ? bytes.lastIndexOf('\n', end - 2) + 1 : 0;
    if (lastStart === 0 && start > 0) continue;
    const line = bytes.toString('utf8', lastStart, Math.max(lastStart, end - 1));
    return { end: start + end, partial: bytes.subarray(end), line };
  }
  throw new Error('the last line of the file is not a record');
}

/** Resolves when the name of a new file is on disk. */
async function syncFolderOf(path: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
