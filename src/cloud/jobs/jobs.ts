import { type App, type Context, systemContext } from '../../kernel/access/app.ts';
import type { Actor } from '../../kernel/access/caller.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { PlainValues } from '../catalogue/driver.ts';

/** Work at a provider, as its row holds it. */
export interface Job {
  readonly id: number;
  readonly settings_id: number;
  readonly resource_id: number | null;
  /** `JIRA.Issue`; null: the job is about a resource or the settings. */
  readonly entity_kind: string | null;
  readonly entity_id: number | null;
  /** sync, create, update, delete, pull, forget_key, or the name of an action. */
  readonly operation: string;
  /** JSON */
  readonly parameters: string;
  readonly secrets: Uint8Array | null;
  /** JSON */
  readonly memo: string;
  readonly created: number;
  readonly due: number;
  readonly started: number | null;
  readonly lease: number | null;
  readonly retries: number;
  /** JSON of the caller of the request that caused it, as of then; null: a timer did. */
  readonly actor: string | null;
}

export interface NewJob {
  readonly settings: number;
  readonly resource?: { readonly id: number; readonly uuid: string };
  /** An object of the type's own, or without an id one of that kind that the parameters name. */
  readonly entity?: { readonly kind: string; readonly id: number | null };
  readonly operation: string;
  readonly parameters?: PlainValues | undefined;
  readonly secrets?: PlainValues | undefined;
}

/** Queues work in the transaction of the request that causes it. */
export function queueJob(context: Context, job: NewJob): void {
  const { config, db, secrets } = context.app;
  const hasSecrets = job.secrets !== undefined && Object.keys(job.secrets).length > 0;
  db.insert('job', {
    settings_id: job.settings,
    resource_id: job.resource?.id ?? null,
    entity_kind: job.entity?.kind ?? null,
    entity_id: job.entity?.id ?? null,
    operation: job.operation,
    parameters: JSON.stringify(job.parameters ?? {}),
    secrets: hasSecrets ? secrets.seal(JSON.stringify(job.secrets), job.resource?.uuid ?? '') : null,
    created: context.now,
    due: context.now + config.job_delay,
    actor: context.actor && JSON.stringify(named(context.actor)),
  });
}

/** What is kept of an actor: nothing of the rights that a caller has. */
const named = ({ fullName, nativeName, username, uuid }: Actor): Actor => ({ uuid, username, fullName, nativeName });

/** The context in which the work of a job is stored: on behalf of whoever caused it, without an address. */
export const jobContext = (app: App, { actor }: Pick<Job, 'actor'>): Context => ({
  ...systemContext(app),
  actor: actor === null ? null : JSON.parse(actor),
});

/** Queues a synchronisation of settings, unless one is queued already. */
export function queueSync(context: Context, settings: number): void {
  const { db } = context.app;
  if (db.value(sql`SELECT 1 FROM job WHERE settings_id = ${settings} AND operation = 'sync'`) === undefined) {
    queueJob(context, { settings, operation: 'sync' });
  }
}

/** What a running synchronisation is told of objects that were deleted while it lists them. */
interface SyncMemo {
  /** `<Type>.<Kind> <id at the provider>` */
  readonly gone?: readonly string[];
}

/** Tells the synchronisation of settings, where one is under way, that an object is gone: its listing may hold it yet. */
export const noteGone = (db: Database, settings: number, object: string): void =>
  void db.run(sql`
    UPDATE job
    SET memo = json_insert(json_insert(memo, '$.gone', json('[]')), '$.gone[#]', ${object})
    WHERE settings_id = ${settings} AND operation = 'sync' AND started IS NOT NULL`);

/** The objects that were deleted since a synchronisation was first begun. */
export function goneSince(db: Database, job: Job): readonly string[] {
  const { gone = [] }: SyncMemo = JSON.parse(db.value<string>(sql`SELECT memo FROM job WHERE id = ${job.id}`) ?? '{}');
  return gone;
}

/** Puts a job off: to its next look at the provider, or to a repetition of a failed call. */
export function postpone(app: App, job: Job, due: number, change: { memo?: PlainValues; retries: number }): void {
  app.db.update('job', job.id, {
    due,
    lease: null,
    retries: change.retries,
    ...(change.memo && { memo: JSON.stringify(change.memo) }),
  });
}

/** Removes a finished job. */
export const removeJob = (db: Database, job: number): void => void db.run(sql`DELETE FROM job WHERE id = ${job}`);
