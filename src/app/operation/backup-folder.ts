/** The backups in the data folder: those that were asked for, and those from before an upgrade. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { conflict } from '../../kernel/http/error.ts';
import { makeFolder } from '../../kernel/place.ts';
import { backupFolder } from '../backup/before-upgrade.ts';
import { failureOf, type Program, runCommand } from './program.ts';

/** So many lie there at a time, of those that were asked for. */
const mostBackups = 20;

const form = /^(?:backup|before-upgrade-from-\d+)-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d(?:\.\d+)?)Z$/;

/** A backup as the API tells it, without its links. */
export interface Backup {
  /** Made from the name. */
  readonly uuid: string;
  readonly name: string;
  readonly state: 'writing' | 'ready' | 'failed';
  readonly size: number;
  readonly created: string;
  readonly error_message: string;
}

/** The one that was asked for last: nothing is said of it any more when it is there. */
interface Order {
  readonly name: string;
  readonly failure: string | undefined;
}

export class BackupFolder {
  #order: Order | undefined;
  #stop: (() => void) | undefined;
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = backupFolder(dataFolder);
  }

  /** All of them, the latest first. */
  list(): readonly Backup[] {
    const names = this.#names();
    const order = this.#order;
    const ordered = order && !names.includes(order.name) ? [order.name] : [];
    return [...names, ...ordered].map((name) => this.#describe(name)).sort((a, b) => (a.created < b.created ? 1 : -1));
  }

  /** Where the bytes of a backup are. */
  fileOf({ name }: Backup): string {
    return join(this.#folder, name);
  }

  /** Begins to write another, in a process of its own. Throws 409. */
  take({ clock, log }: App, program: Program | undefined): Backup {
    if (!program) throw conflict('The program that embeds this server makes the backups itself.');
    if (this.#stop) throw conflict('A backup is being written already.');
    if (this.#names().filter((name) => name.startsWith('backup-')).length >= mostBackups)
      throw conflict(`There are ${mostBackups} backups already: delete some.`);
    const name = `backup-${isoTime(clock.now()).replaceAll(':', '-')}`;
    makeFolder(this.#folder);
    const { result, stop } = runCommand(program, ['backup', join(this.#folder, name), '--quiet']);
    this.#stop = stop;
    this.#order = { name, failure: undefined };
    void result.then((exit) => {
      this.#stop = undefined;
      if (exit.code === 0) this.#order = undefined;
      else {
        this.#order = { name, failure: failureOf(exit) };
        log.error({ backup: name, reason: failureOf(exit) }, 'a backup could not be written');
      }
    });
    return this.#describe(name);
  }

  /** Removes one. Throws 409 while it is written. */
  delete(backup: Backup): void {
    if (backup.state === 'writing') throw conflict('The backup is being written.');
    if (this.#order?.name === backup.name) this.#order = undefined;
    rmSync(this.fileOf(backup), { force: true });
  }

  /** Ends the one that is being written: nothing is left of it. */
  close(): void {
    this.#stop?.();
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#folder).filter((name) => form.test(name));
    } catch {
      // There was none yet.
      return [];
    }
  }

  #describe(name: string): Backup {
    const [, day = '', hours = '', minutes = '', seconds = ''] = form.exec(name) ?? [];
    const order = this.#order?.name === name ? this.#order : undefined;
    const size = statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return {
      uuid: createHash('sha256').update(name).digest('hex').slice(0, 32),
      name,
      state: order?.failure !== undefined ? 'failed' : order ? 'writing' : 'ready',
      size,
      created: `${day}${hours}:${minutes}:${seconds}Z`,
      error_message: order?.failure ?? '',
    };
  }
}
