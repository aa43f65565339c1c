import type { App } from '../app.ts';
import { raw, sql } from '../db/sql.ts';
import type { Secrets } from './secrets.ts';

/** Every column that holds a sealed secret, with the SQL of the uuid it is sealed for. */
export const sealedColumns: readonly { readonly table: string; readonly column: string; readonly uuid: string }[] = [
  { table: 'hook', column: 'secret', uuid: 'uuid' },
  { table: 'hook', column: 'old_secret', uuid: 'uuid' },
  { table: 'hook', column: 'token', uuid: 'uuid' },
  { table: 'hook_confirmation', column: 'secret', uuid: 'uuid' },
  { table: 'digest_key', column: 'sealed', uuid: "'digest_key'" },
  ...['password', 'token', 'certificate', 'secret_options'].map((column) => ({
    table: 'service_settings',
    column,
    uuid: 'uuid',
  })),
  { table: 'invitation_mail', column: 'secret', uuid: 'uuid' },
  { table: 'password_reset', column: 'secret', uuid: 'uuid' },
  { table: 'resource', column: 'secrets', uuid: 'uuid' },
  { table: 'deployment', column: 'key_check', uuid: "'deployment'" },
  { table: 'job', column: 'secrets', uuid: "ifnull((SELECT uuid FROM resource WHERE id = resource_id), '')" },
];

/** Encrypts every stored secret anew with the first of these keys, all or none. Answers how many there are. */
export function sealAnew({ db }: Pick<App, 'db'>, secrets: Secrets): number {
  let count = 0;
  db.write(() => {
    for (const { column, table, uuid } of sealedColumns) {
      const rows = db.all<{ id: number; uuid: string; value: Uint8Array }>(
        sql`SELECT id, ${raw(uuid)} AS uuid, ${raw(column)} AS value FROM ${raw(table)} WHERE ${raw(column)} IS NOT NULL`,
      );
      for (const row of rows)
        db.update(table, row.id, { [column]: secrets.seal(secrets.open(row.value, row.uuid), row.uuid) });
      count += rows.length;
    }
  });
  db.store();
  return count;
}
