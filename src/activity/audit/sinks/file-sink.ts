import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { second } from '../../../kernel/clock.ts';
import { codeOf, plainReason } from '../../../kernel/present.ts';
import type { Batch, Sink } from './sink.ts';

const mode = 0o640;
const newline = 0x0a;

/** `audit_file`: appends one line per record, and confirms it once it is on disk. */
export class FileSink implements Sink {
  readonly name = 'file';
  readonly maxRetryDelay = 5 * second;
  #file: FileHandle | undefined;
  /** Size of the file when it was opened; undefined after the first append, and if it is no regular file. */
  #openedSize: number | undefined;
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

  /** Appends the records, after those that an interrupted attempt has written. */
  async #append(file: FileHandle, { records }: Batch): Promise<void> {
    const bytes = Buffer.from(records.map(({ line }) => `${line}\n`).join(''));
    const written = this.#openedSize === undefined ? 0 : await this.#rewrite(file, bytes, this.#openedSize);
    this.#openedSize = undefined;
    await file.appendFile(bytes.subarray(written));
    await file.sync();
  }

  /**
   * Writes the start of a batch at the end of the file again, in place, and returns its length. After a power failure, sectors of
   * it can be zero; after a failed sync, the system considers pages written that are not on disk. Ends a line of another program.
   */
  async #rewrite(file: FileHandle, bytes: Buffer, size: number): Promise<number> {
    const start = Math.max(0, size - bytes.length - 1);
    const tail = Buffer.alloc(size - start);
    await file.read(tail, 0, tail.length, start);
    const written = tornPrefixLength(tail, bytes, start === 0) ?? 0;
    if (written > 0 && (await this.#overwrite(bytes.subarray(0, written), size - written))) return written;
    if (size > 0 && tail.at(-1) !== newline) await file.appendFile('\n');
    return 0;
  }

  /** Writes bytes into the file. Returns false if it is append-only. */
  async #overwrite(bytes: Buffer, position: number): Promise<boolean> {
    const writer = await open(this.path, 'r+').catch((error: unknown) => {
      if (codeOf(error) === 'EPERM') return undefined;
      throw error;
    });
    try {
      await writer?.write(bytes, 0, bytes.length, position);
    } finally {
      await writer?.close();
    }
    return writer !== undefined;
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
    this.#openedSize = stats.size;
    return file;
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#openedSize = undefined;
    await file?.close();
  }
}

/**
 * Returns how many bytes at the end of a tail are the first bytes of a batch, or zeros in their place; undefined if the tail ends
 * inside of a different line. The batch starts after the end of a line, or at the start of the file if the tail is the whole file.
 */
function tornPrefixLength(tail: Buffer, batch: Buffer, isWhole: boolean): number | undefined {
  for (let start = isWhole ? 0 : tail.indexOf('\n') + 1; ; start = tail.indexOf('\n', start) + 1) {
    if (start === 0 && !isWhole) return undefined;
    const rest = tail.subarray(start);
    if (rest.length <= batch.length && rest.every((byte, i) => byte === 0 || byte === batch[i])) return rest.length;
    if (tail.indexOf('\n', start) === -1) return undefined;
  }
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
