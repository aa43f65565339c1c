import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readdirSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { appendRecord } from '../../activity/audit/append.ts';
import { ofCommand } from '../../activity/audit/commands.ts';
import type { App } from '../../kernel/app.ts';
import { day } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { makeFolder, place, placeNew, syncFolder } from '../../kernel/files.ts';
import { codeOf, plainReason } from '../../kernel/present.ts';
import { type BackupTarget, isBackupOf, type StoredFile } from './backup-target.ts';
import { backupFolder } from './before-upgrade.ts';
import { isS3 } from './config.ts';
import { S3Target } from './s3.ts';

/** Returns the target in the settings. Throws ConfigError. */
export function targetOf(config: Config): BackupTarget {
  const { backup_target: target } = config;
  if (target !== null && isS3(target)) return new S3Target(config, target);
  return new FolderTarget(target === null ? backupFolder(resolve(config.data)) : resolve(target));
}

/** Prefix of unfinished files in a folder. */
const draftPrefix = '.partial-';

/** Returns the prefix of temporary folders of an installation in the folder of its backups. */
export const draftFolderPrefix = (installation: string): string => `${draftPrefix}${installation}-`;

class FolderTarget implements BackupTarget {
  readonly kind = 'folder';

  constructor(readonly place: string) {}

  async put(name: string, file: string): Promise<void> {
    const draft = join(this.place, `${draftPrefix}${name}`);
    try {
      makeFolder(this.place);
      await pipeline(createReadStream(file), createWriteStream(draft, { mode: 0o600 }));
      const [stored, size] = [statSync(draft).size, statSync(file).size];
      if (stored !== size) throw new Error(`${stored} of ${size} bytes were written`);
      placeNew(draft, join(this.place, name));
    } catch (error) {
      rmSync(draft, { force: true });
      throw this.#failure('write', error);
    }
  }

  async list(): Promise<readonly StoredFile[]> {
    try {
      return this.#entries().flatMap(({ name, stats }) => (stats.isFile() ? [{ name, size: stats.size }] : []));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw this.#failure('read', error);
    }
  }

  async get(name: string): Promise<Readable> {
    const file = join(this.place, name);
    try {
      statSync(file);
    } catch (error) {
      throw this.#failure('read', error);
    }
    return createReadStream(file);
  }

  async write(name: string, content: string): Promise<void> {
    const draft = join(this.place, `${draftPrefix}${name}`);
    try {
      writeFileSync(draft, content, { mode: 0o600 });
      place(draft, join(this.place, name));
    } catch (error) {
      rmSync(draft, { force: true });
      throw this.#failure('write', error);
    }
  }

  async remove(name: string): Promise<void> {
    try {
      rmSync(join(this.place, name), { force: true });
      syncFolder(this.place);
    } catch (error) {
      throw this.#failure('remove a backup from', error);
    }
  }

  /** Removes drafts older than a day. Another command may still write younger ones. */
  async removeRemains(installation: string): Promise<undefined> {
    const isOurs = (name: string): boolean =>
      name.startsWith(draftFolderPrefix(installation)) ||
      (name.startsWith(draftPrefix) && isBackupOf(installation, name.slice(draftPrefix.length)));
    try {
      for (const { name, stats } of this.#entries())
        if (isOurs(name) && Date.now() - stats.mtimeMs > day / 1000)
          rmSync(join(this.place, name), { recursive: true, force: true });
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw this.#failure('read', error);
    }
  }

  /** Skips files that disappear meanwhile: drafts get their final names. */
  #entries(): { readonly name: string; readonly stats: Stats }[] {
    return readdirSync(this.place).flatMap((name) => {
      const stats = statSync(join(this.place, name), { throwIfNoEntry: false });
      return stats ? [{ name, stats }] : [];
    });
  }

  #failure(action: string, error: unknown): Error {
    return new Error(`cannot ${action} ${this.place}: ${plainReason(error, join(this.place, '/'))}`, { cause: error });
  }
}

/** Computes the size and the hexadecimal SHA-256 of a file. */
export async function digestOf(file: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

/* Audit records of the backups at the target (audit.md 2 "Backups at the target"). */

/** Derives the uuid of a backup from its name. */
export const backupUuid = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32);

/** Records a command's use of a backup. Must run inside a write. `problem` is the reason if it failed. */
export function recordBackup(
  app: App,
  result: 'made' | 'failed' | 'verified' | 'fetched' | 'removed',
  name: string | undefined,
  problem?: string,
): void {
  appendRecord(app, {
    ...ofCommand(),
    at: app.clock.now(),
    operation: `backup.${result}`,
    status: problem === undefined ? 0 : 1,
    object: name === undefined ? null : { type: 'backups', uuid: backupUuid(name) },
    customers: [],
    projects: [],
    objectName: name ?? null,
    changes: problem === undefined ? [] : [{ field: 'error_message', from: null, to: problem }],
  });
}
