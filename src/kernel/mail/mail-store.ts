import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../files.ts';
import type { Mail } from './letter.ts';

declare module '../app.ts' {
  interface App {
    /** Mails that were written to files or memory because no mail server is configured. */
    readonly mailStore: MailStore;
  }
}

/** The folder in the data folder for mails that were not sent because there is no mail server. */
export const mailFolder = (folder: string): string => join(folder, 'mail');

const storedFiles = 1000;
const storedInMemory = 1000;
const fileName = /^[\dTZ-]+-\d+\.eml$/;

/** A mail with its text in the format of RFC 5322. */
interface StoredMail extends Mail {
  readonly message: Buffer;
}

/**
 * Mails of a deployment without a mail server: files in the data folder that only the operator can read, or, without a
 * folder, memory. Only the newest remain. They are not part of backups.
 */
export class MailStore {
  /** Names of the files, oldest first; read with the first mail. */
  #files: string[] | undefined;
  readonly #inMemory: StoredMail[] = [];

  /** `folder` is the one for mails; undefined keeps them in memory. */
  constructor(private readonly folder: string | undefined) {}

  /** The newest mails in memory, oldest first. */
  get inMemory(): readonly StoredMail[] {
    return this.#inMemory;
  }

  /** Removes the mails in memory. */
  forget(): void {
    this.#inMemory.length = 0;
  }

  /** Stores a mail; returns its file, undefined without a folder. Throws errors of the disk. */
  store(message: Buffer, mail: Mail): string | undefined {
    if (this.folder === undefined) {
      this.#inMemory.push({ ...mail, message });
      if (this.#inMemory.length > storedInMemory) this.#inMemory.shift();
      return undefined;
    }
    makeFolder(this.folder);
    this.#files ??= filesIn(this.folder);
    const name = this.#write(this.folder, message, mail.at, this.#files);
    for (const old of this.#files.splice(0, this.#files.length - storedFiles))
      rmSync(join(this.folder, old), { force: true });
    return join(this.folder, name);
  }

  /** Numbers the mails of a second. */
  #write(folder: string, message: Buffer, at: number, files: string[]): string {
    const time = new Date(at / 1000).toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
    for (let number = 1; ; number++) {
      const name = `${time}-${number}.eml`;
      if (files.includes(name)) continue;
      writeFileSync(join(folder, name), message, { mode: 0o600, flag: 'wx', flush: true });
      files.push(name);
      return name;
    }
  }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => fileName.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
