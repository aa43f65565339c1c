import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { minute, second } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { sql } from '../../kernel/db/sql.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { driverOf, driverSettings } from './drivers.ts';
import type { JobHandler, StoreStep, StoreSteps } from './job-handler.ts';
import { immediately, type Job, jobContext, postpone } from './jobs.ts';
import { maxFailureLength } from './operation.ts';

const leaseFor = 10 * minute;
const maxCheckedPerSettings = 50;
const maxCallsPerSettings = 4;
/** Delays before retries of a call to an unavailable provider. */
const unavailableRetries = [1, 2, 4].map((seconds) => seconds * second);
const maxLimitedRetries = 5;
const limitedWaitMs = 10_000;
const maxWaitMs = 5 * 60_000;
/** Milliseconds between attempts to store the result of a call. */
const storePauseMs = 1000;
/** Milliseconds that a shutdown waits for running calls. */
const shutdownTimeoutMs = 1000;

/** Instants of jobs: due time, lease and start. */
export const jobInstants = ({ job_delay: delay }: Config): readonly StoredInstants[] => [
  { table: 'job', column: 'due', ahead: Math.max(delay, maxWaitMs * 1000), isDue: true },
  { table: 'job', column: 'lease', ahead: leaseFor },
  { table: 'job', column: 'started', ahead: 0, countsRunning: true },
];

/**
 * Runs due jobs: claims each with a lease, calls its driver outside of transactions, and stores the result in one. Limits the calls
 * of each settings object, so that a slow provider does not block others.
 */
export class ProviderWorker {
  readonly #running = new Map<number, Promise<void>>();
  readonly #calls = new Map<number, number>();
  #state: 'working' | 'stopping' | 'stopped' = 'working';

  /** `committed` calls back when all writes are durable and visible; `nextSlice` resolves when other requests were served. */
  constructor(
    private readonly app: App,
    private readonly committed: (callback: (error?: unknown) => void) => void = (callback) =>
      app.db.afterCommit(callback),
    private readonly nextSlice = timeSlices(),
  ) {}

  /** Releases the jobs of the previous process. The expired lease marks a call whose outcome is unknown. */
  recover(): void {
    this.app.db.write(() => this.app.db.run(sql`UPDATE job SET lease = 0 WHERE lease IS NOT NULL`));
  }

  /** Starts due jobs within the limits. */
  tick(): void {
    // Make no call whose result cannot be stored.
    if (this.#state !== 'working' || this.app.db.trouble) return;
    const now = this.app.clock.now();
    // A bounded number of jobs per settings object, so that a long queue does not hide others. Waiting creations count per kind,
    // so that they hide neither each other nor running jobs.
    const due = this.app.db.all<Job>(sql`
      SELECT * FROM (
        SELECT j.*, row_number() OVER (
          PARTITION BY settings_id, iif(
            operation = 'create' AND started IS NULL,
            ifnull(entity_kind, (SELECT kind FROM resource WHERE id = resource_id)),
            '')
          ORDER BY due, id) AS place
        FROM job j
        WHERE due <= ${now} AND (lease IS NULL OR lease < ${now}))
      WHERE place <= ${maxCheckedPerSettings}
      ORDER BY due, id`);
    for (const job of due) {
      if (
        this.#running.has(job.id) ||
        (this.#calls.get(job.settings_id) ?? 0) >= maxCallsPerSettings ||
        this.#mustWait(job)
      )
        continue;
      this.#start(job);
    }
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Claims no more jobs and waits for running calls until the timeout. The next start looks up the outcome of the others. */
  async stop(timeoutMs = shutdownTimeoutMs): Promise<void> {
    this.#state = 'stopping';
    await Promise.race([this.idle(), new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
    this.#state = 'stopped';
  }

  #mustWait(job: Job): boolean {
    if (job.operation !== 'create' || job.started !== null) return false;
    return this.app.jobHandlerOf(job).mustWait?.(this.app, job) ?? false;
  }

  #start(job: Job): void {
    const { app } = this;
    const now = app.clock.now();
    app.db.write(() => {
      app.db.update('job', job.id, { lease: now + leaseFor, started: job.started ?? now });
      if (job.started === null) this.app.jobHandlerOf(job).start?.(jobContext(app, job), job);
    });
    this.#calls.set(job.settings_id, (this.#calls.get(job.settings_id) ?? 0) + 1);
    // The new state is committed and visible before the provider is called.
    const work = this.#committed()
      .then(() => this.#runRepeatedly({ ...job, started: job.started ?? now }))
      .catch((error: unknown) => {
        // Nothing was stored, so the job is still due; or its settings were removed meanwhile, and the job with them.
        if (error instanceof StorageError || !this.#exists(job)) return;
        app.log.error({ job: job.id, operation: job.operation, err: error }, 'job failed');
        const { now } = systemContext(app);
        return this.#write(() => app.db.update('job', job.id, { due: now + minute, lease: now }), job);
      })
      .finally(() => {
        this.#running.delete(job.id);
        this.#calls.set(job.settings_id, (this.#calls.get(job.settings_id) ?? 1) - 1);
      });
    this.#running.set(job.id, work);
  }

  /** Runs a job, repeatedly while it continues immediately. */
  async #runRepeatedly(first: Job): Promise<void> {
    for (let job: Job | undefined = first; job; job = await this.#claimAgain(job)) await this.#run(job);
  }

  /** Claims the job again if it continues immediately; undefined if it waits or has ended. */
  async #claimAgain({ id }: Job): Promise<Job | undefined> {
    const { clock, db } = this.app;
    if (this.#state !== 'working' || db.trouble) return undefined;
    const job = db.get<Job>(sql`SELECT * FROM job WHERE id = ${id} AND due = ${immediately} AND lease IS NULL`);
    if (!job) return undefined;
    db.write(() => db.update('job', id, { lease: clock.now() + leaseFor }));
    await this.#committed();
    return job;
  }

  #exists = ({ id }: Job): boolean => this.app.db.value(sql`SELECT 1 FROM job WHERE id = ${id}`) !== undefined;

  async #run(job: Job): Promise<void> {
    const settings = driverSettings(this.app, job.settings_id);
    if (!settings) return;
    const handler = this.app.jobHandlerOf(job);
    const { metrics } = this.app;
    metrics.providerCalls.add(settings.type);
    const call = async (): Promise<StoreSteps | undefined> => handler.call(this.app, job, driverOf(this.app, settings));
    const stores = await call().catch((error: unknown) => {
      if (!(error instanceof ProviderError)) throw error;
      metrics.providerFailures.add(settings.type, error.type);
      return this.#afterFailure(job, handler, error);
    });
    if (typeof stores === 'function') await this.#write(stores, job);
    else if (stores)
      for (const store of stores) {
        await this.#write(store, job);
        await this.nextSlice();
      }
  }

  /** Postpones a call that may succeed later, and fails any other (providers.md 2, error classes). */
  #afterFailure(job: Job, handler: JobHandler, error: ProviderError): StoreStep {
    const wait = (handler.repeatAfter ?? repeatAfter)(job, error);
    return wait === undefined
      ? (context) => handler.fail(context, job, failureText(error))
      : (context) =>
          postpone(this.app, job, context.now + wait, { retries: job.retries + 1, error: failureText(error) });
  }

  /** Stores the result of a call, retrying until it is stored. */
  async #write(work: (context: Context) => void, job: Job): Promise<void> {
    while (this.#state !== 'stopped') {
      try {
        this.app.db.write(() => work(jobContext(this.app, job)));
        await this.#committed();
        return;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        await sleep(storePauseMs, undefined, { ref: false });
      }
    }
  }

  #committed(): Promise<void> {
    return new Promise((resolve, reject) =>
      this.committed((error) => (error === undefined ? resolve() : reject(error))),
    );
  }
}

/**
 * Creates a function whose calls resolve in separate iterations of the event loop. Results that were committed together thus do
 * not block it with their next steps at once.
 */
function timeSlices(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
}

/** Microseconds until a failed call is retried; undefined for never. */
function repeatAfter({ retries }: Job, { retryAfter, type }: ProviderError): number | undefined {
  const requested = Math.min(retryAfter ?? 0, maxWaitMs) * 1000;
  if (type === 'limited') {
    if (retries >= maxLimitedRetries) return undefined;
    return retryAfter === undefined ? limitedWaitMs * 1000 : requested;
  }
  const pause = type === 'unavailable' ? unavailableRetries[retries] : undefined;
  return pause && Math.max(pause, requested);
}

function failureText(error: ProviderError): string {
  if (error.type === 'unavailable') return 'Backend does not respond';
  if (error.type === 'malformed') return 'Unexpected answer of backend';
  return error.message.slice(0, maxFailureLength);
}
