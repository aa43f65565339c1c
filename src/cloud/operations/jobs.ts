import type { Actor } from '../../kernel/access/caller.ts';
import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { PlainValues } from '../catalogue/driver.ts';

/** Row of a job at a provider. */
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
  /** Of the last call that failed. */
  readonly error_message: string;
  /** JSON of the caller of the request that caused it, as of then; null: a timer did. */
  readonly actor: string | null;
}

interface NewJob {
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

/** The stored part of an actor, without the caller's rights. */
const named = ({ fullName, nativeName, username, uuid }: Actor): Actor => ({ uuid, username, fullName, nativeName });

/** The context of a job's transactions: on behalf of the user who caused it, without an address. */
export const jobContext = (app: App, { actor, operation }: Pick<Job, 'actor' | 'operation'>): Context => ({
  ...systemContext(app),
  job: operation,
  actor: actor === null ? null : JSON.parse(actor),
});

/** Due time of a job that continues immediately, without waiting for the worker's period. */
export const immediately = 0;

/** Postpones a job to its next poll or retry. */
export function postpone(
  app: App,
  job: Job,
  due: number,
  change: { memo?: PlainValues; retries: number; error?: string },
): void {
  app.db.update('job', job.id, {
    due,
    lease: null,
    retries: change.retries,
    error_message: change.error ?? '',
    ...(change.memo && { memo: JSON.stringify(change.memo) }),
  });
}

/** Removes a finished job. */
export const removeJob = (db: Database, job: number): void => void db.run(sql`DELETE FROM job WHERE id = ${job}`);
