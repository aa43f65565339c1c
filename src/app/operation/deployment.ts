/** The running program, which staff monitor and control (core.md 14.6). */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupFolder } from './backup-folder.ts';
import type { Examination } from './examination.ts';
import type { HostProcess } from './program.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly deployment: Deployment;
  }
}

interface Deployment extends HostProcess {
  /** Undefined if all data is in memory. */
  readonly backups: BackupFolder | undefined;
  readonly examination: Examination;
}

/**
 * Identifies a data folder on this machine by its inode, which distinguishes the folders `/data` of two containers and copies of
 * a folder. Throws file system errors.
 */
export function instanceOf(folder: string): string {
  const { dev, ino } = statSync(join(folder, '/'), { bigint: true });
  return createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 32);
}
