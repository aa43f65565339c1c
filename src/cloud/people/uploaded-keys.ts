import type { Context } from '../../kernel/access/context.ts';
import { minute } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { JobHandler } from '../operations/job-handler.ts';
import { queueJob, removeJob } from '../operations/jobs.ts';
import { readableServices } from '../services/readable.ts';

/*
 * SSH keys at providers that store them (providers.md 5.4). A key is recorded when a machine is created with it. A job removes it
 * when its owner deletes the key or loses the last role that gives access to the settings.
 */

interface UploadedKey {
  readonly settings_id: number;
  readonly user_id: number;
  readonly fingerprint: string;
}

/** Records that a provider will get a key. */
export function noteUploadedKey({ app: { db } }: Context, settings: number, key: number): void {
  db.run(sql`
    INSERT INTO uploaded_key (settings_id, user_id, fingerprint)
    SELECT ${settings}, user_id, fingerprint FROM ssh_key WHERE id = ${key}
    ON CONFLICT DO NOTHING`);
}

/** Removes a deleted key from every provider that has it. */
export function removeDeletedKey(context: Context, user: number, fingerprint: string): void {
  const { db } = context.app;
  removeKeys(
    context,
    db.all<UploadedKey>(sql`SELECT * FROM uploaded_key WHERE user_id = ${user} AND fingerprint = ${fingerprint}`),
  );
}

/** Removes the keys of a user from providers to which they have lost access. Staff have access to all. */
export function removeInaccessibleKeys(context: Context, user: number): void {
  const { db } = context.app;
  const inaccessible = db.all<UploadedKey>(sql`
    SELECT k.*
    FROM uploaded_key k JOIN user u ON u.id = k.user_id
    WHERE k.user_id = ${user} AND NOT u.is_staff
      AND k.settings_id NOT IN (SELECT settings_id FROM service WHERE id IN (${readableServices(sql`${user}`)}))`);
  removeKeys(context, inaccessible);
}

function removeKeys(context: Context, keys: readonly UploadedKey[]): void {
  const { db } = context.app;
  for (const { fingerprint, settings_id: settings, user_id: user } of keys) {
    db.run(sql`
      DELETE FROM uploaded_key
      WHERE settings_id = ${settings} AND fingerprint = ${fingerprint} AND user_id = ${user}`);
    // Another user may have uploaded the same key and still use it.
    const isUsedByOthers =
      db.value(sql`SELECT 1 FROM uploaded_key WHERE settings_id = ${settings} AND fingerprint = ${fingerprint}`) !==
      undefined;
    if (!isUsedByOthers) queueJob(context, { settings, operation: 'forget_key', parameters: { fingerprint } });
  }
}

const maxCalls = 5;

/** Deletes an uploaded key at a provider. Gives up after a few attempts if the provider is unavailable. */
export const deleteKeyHandler: JobHandler = {
  call: async (_, job, driver) => {
    const { fingerprint }: { fingerprint: string } = JSON.parse(job.parameters);
    await driver.deleteKey?.(fingerprint);
    return ({ app }) => removeJob(app.db, job.id);
  },
  fail: ({ app }, job) => removeJob(app.db, job.id),
  repeatAfter: ({ retries }) => (retries + 1 < maxCalls ? minute : undefined),
};
