import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { minute } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { errorOf } from '../../kernel/present.ts';
import type { Driver, DriverCall, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import type { ResourceKind } from '../catalogue/type.ts';
import type { JobHandler } from './job-handler.ts';
import { immediately, type Job, postpone, removeJob } from './jobs.ts';

/* Jobs that are operations on one object: a resource or an entity (services.md 8.3). */

/** Message for an object that no longer exists at the provider. */
export const missingAtBackend = 'Does not exist at backend.';

/** Maximum stored characters of an error message. */
export const maxFailureLength = 2000;

/** The object of an operation. */
export interface Subject {
  /** Scheduled becomes running. */
  start(context: Context): void;
  /** Why the operation must stop: the message of its failure, or undefined. */
  failure(now: number): string | undefined;
  /** Input of the driver. */
  call(): DriverCall;
  /** Stores the updates of a waiting operation. Returns a failure message if the provider's state means failure. */
  progress(context: Context, step: Extract<Step, { kind: 'wait' }>): string | undefined;
  /** Stores the end of the operation. */
  finish(context: Context, step: Exclude<Step, { kind: 'wait' }>): void;
}

/** Finds the current object of a job; undefined if it no longer exists. */
type FindSubject = (app: App, job: Job) => Subject | undefined;

/** Creates the handler of operations on one sort of object. */
export const operationHandler = (
  subjectOf: FindSubject,
  mustWait: NonNullable<JobHandler['mustWait']>,
): JobHandler => ({
  mustWait,
  start: (context, job) => subjectOf(context.app, job)?.start(context),
  call: async (app, job, driver) => {
    const subject = subjectOf(app, job);
    const step = subject && (await callDriver(job, driver, subject, app.clock.now()));
    return step && ((context) => settle(context, job, step, subjectOf));
  },
  fail: (context, job, text) => settle(context, job, { kind: 'fail', text }, subjectOf),
});

/** One call of the driver. Rejects with ProviderError. */
async function callDriver(job: Job, driver: Driver, subject: Subject, now: number): Promise<Step> {
  const failure = subject.failure(now);
  if (failure !== undefined) return { kind: 'fail', text: failure };
  const call = subject.call();
  const missing: Step = { kind: 'fail', text: missingAtBackend, values: { runtime_state: '' } };
  try {
    switch (job.operation) {
      case 'create':
        return await driver.create(call);
      case 'update':
        return await driver.update(call);
      case 'delete':
        // An object that was never created at the provider needs no call.
        return call.values.backend_id === '' ? { kind: 'done' } : await driver.delete(call);
      case 'pull': {
        const values = await driver.pull(call);
        return values ? { kind: 'done', values } : missing;
      }
      default:
        return await driver.action(job.operation, call);
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw new Error(`${call.kind}: ${errorOf(error).message}`, { cause: error });
    if (error.type === 'not_found' && job.operation === 'delete') return { kind: 'done' };
    if (error.type === 'not_found' && job.operation === 'pull') return missing;
    throw error;
  }
}

/** Stores a step of an operation. */
function settle(context: Context, job: Job, step: Step, subjectOf: FindSubject): void {
  const { app } = context;
  const { db } = app;
  const subject = subjectOf(app, job);
  // The resource was unlinked meanwhile, and the job with it.
  if (!subject || db.value(sql`SELECT 1 FROM job WHERE id = ${job.id}`) === undefined) return;
  if (step.kind !== 'wait') {
    removeJob(db, job.id);
    subject.finish(context, step);
    return;
  }
  const failure = subject.progress(context, step);
  if (failure !== undefined) {
    removeJob(db, job.id);
    subjectOf(app, job)?.finish(context, { kind: 'fail', text: failure });
    return;
  }
  const due = step.isImmediate ? immediately : context.now + step.milliseconds * 1000;
  postpone(app, job, due, { memo: step.memo, retries: 0 });
}

/** Returns the failure message of an operation that has exceeded its time limit; undefined before (services.md 8.3 "Limits"). */
export function timeoutOf(
  job: Job,
  now: number,
  { action = 25, create = 30, delete: remove = 5 }: NonNullable<ResourceKind['limits']> = {},
): string | undefined {
  const minutes = job.operation === 'create' ? create : job.operation === 'delete' ? remove : action;
  if (job.started === null || now <= job.started + minutes * minute) return undefined;
  return job.operation === 'create' ? 'Provisioning is timed out.' : 'Operation is timed out.';
}
