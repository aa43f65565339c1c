import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { flag } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof backupSettings> {}
}

/** Settings of backups. */
export const backupSettings = {
  backup_before_upgrade: flag(
    true,
    'Back up the database to `backups` in its folder before a new version changes the schema. The last 3 of these backups are stored.',
  ),
} satisfies Settings;
