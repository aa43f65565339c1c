/** The backups in the data folder: requested backups, and backups before upgrades. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { makeFolder } from '../../kernel/files.ts';
import { conflict } from '../../kernel/http/error.ts';
import { backupFolder } from '../backup/before-upgrade.ts';
import { backupUuid, recordBackup } from '../backup/target.ts';
import { failureOf, type Program, runCommand } from './program.ts';

/** Maximum number of requested backups. */
const maxBackups = 20;

const namePattern = /^(?:backup|before-upgrade-from-\d+)-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d(?:\.\d+)?)Z$/;

/** A backup in responses, without its links. */
export interface Backup {
  /** Derived from the name. */
  readonly uuid: string;
  readonly name: string;
  readonly state: 'writing' | 'ready' | 'failed';
  readonly size: number;
  readonly created: string;
  readonly error_message: string;
}

/** The last requested backup while its file does not exist. */
interface PendingBackup {
  readonly name: string;
  readonly failure: string | undefined;
}

export class BackupFolder {
  #pending: PendingBackup | undefined;
  #stop: (() => void) | undefined;
  #isClosed = false;
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = backupFolder(dataFolder);
  }

  /** Returns all backups, newest first. */
  list(): readonly Backup[] {
    const names = this.#names();
    const pending = this.#pending;
    const pendingNames = pending && !names.includes(pending.name) ? [pending.name] : [];
    return [...names, ...pendingNames].map((name) => this.#read(name)).sort((a, b) => (a.created < b.created ? 1 : -1));
  }

  /** Returns the path of a backup. */
  fileOf({ name }: Backup): string {
    return join(this.#folder, name);
  }

  /** Starts writing a backup in a child process. Throws 409. */
  start(app: App, program: Program | undefined): Backup {
    const { clock, log } = app;
    if (!program) throw conflict('The program that embeds this server makes the backups itself.');
    if (this.#stop) throw conflict('A backup is being written already.');
    if (this.#names().filter((name) => name.startsWith('backup-')).length >= maxBackups)
      throw conflict(`There are ${maxBackups} backups already: delete some.`);
    const name = `backup-${isoTime(clock.now()).replaceAll(':', '-')}`;
    makeFolder(this.#folder);
    const { result, stop } = runCommand(program, ['backup', join(this.#folder, name), '--quiet']);
    this.#stop = stop;
    this.#pending = { name, failure: undefined };
    void result.then((exit) => {
      this.#stop = undefined;
      if (exit.code === 0) this.#pending = undefined;
      else {
        this.#pending = { name, failure: failureOf(exit) };
        log.error({ backup: name, reason: failureOf(exit) }, 'failed to write a backup');
        if (!this.#isClosed) recordFailure(app, name, failureOf(exit));
      }
    });
    return this.#read(name);
  }

  /** Deletes a backup. Throws 409 while it is being written. */
  delete(backup: Backup): void {
    if (backup.state === 'writing') throw conflict('The backup is being written.');
    if (this.#pending?.name === backup.name) this.#pending = undefined;
    rmSync(this.fileOf(backup), { force: true });
  }

  /** Stops the running backup and removes its partial file. */
  close(): void {
    this.#isClosed = true;
    this.#stop?.();
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#folder).filter((name) => namePattern.test(name));
    } catch {
      // The first backup creates the folder.
      return [];
    }
  }

  #read(name: string): Backup {
    const [, day = '', hours = '', minutes = '', seconds = ''] = namePattern.exec(name) ?? [];
    const pending = this.#pending?.name === name ? this.#pending : undefined;
    const size = statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return {
      uuid: backupUuid(name),
      name,
      state: pending?.failure !== undefined ? 'failed' : pending ? 'writing' : 'ready',
      size,
      created: `${day}${hours}:${minutes}:${seconds}Z`,
      error_message: pending?.failure ?? '',
    };
  }
}

/** Records a failed backup. The command records successful ones itself. */
function recordFailure(app: App, name: string, reason: string): void {
  try {
    app.db.write(() => recordBackup(app, 'failed', name, reason));
  } catch (error) {
    app.log.warn({ err: error, backup: name }, 'failed to record a failed backup');
  }
}
