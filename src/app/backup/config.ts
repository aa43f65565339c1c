import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { flag } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof backupSettings> {}
}

/** Settings of backups. */
export const backupSettings = {
  backup_before_upgrade: flag(
    true,
    'Before a new version changes the schema, the database is backed up into `backups` in its folder; the last 3 are kept.',
  ),
} satisfies Settings;
