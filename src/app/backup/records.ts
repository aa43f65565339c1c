/** Audit records of the backups at the target (audit.md 2 "Backups at the target"). */
import { createHash } from 'node:crypto';
import { appendRecord } from '../../activity/audit/append.ts';
import { ofCommand } from '../../activity/audit/commands.ts';
import type { App } from '../../kernel/app.ts';

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
