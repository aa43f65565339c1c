/** What staff may read and do of the running program itself, besides its data (core.md 14.6). */
import type { SettingName } from '../../kernel/config/config.ts';
import type { BackupFolder } from './backup-folder.ts';
import type { ProgramCall } from './beside.ts';
import type { Examination } from './examination.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly deployment: Deployment;
  }
}

/** What a server knows of its surroundings. */
export interface Surroundings {
  /** What gave a setting; undefined: it has its default. */
  readonly sourceOf: (name: SettingName) => string | undefined;
  /** How to call the program with the same settings; undefined: it is embedded in another. */
  readonly program?: ProgramCall | undefined;
  /** Lets so many milliseconds pass; undefined where the clock is not the server's own. Rejects. */
  readonly advance?: ((milliseconds: number) => Promise<void>) | undefined;
}

interface Deployment extends Surroundings {
  /** Undefined: everything is in memory. */
  readonly backups: BackupFolder | undefined;
  readonly examination: Examination;
}
