import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { minute, second } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { sql } from '../../kernel/db/sql.ts';
import { StorageError } from '../../kernel/durability/storage-error.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { driverOf, driverSettings } from './drivers.ts';
import type { JobHandler, Store, Stores } from './job-handler.ts';
import { dueAtOnce, type Job, jobContext, postpone } from './jobs.ts';
import { maxFailureLength } from './operation.ts';

const leaseFor = 10 * minute;
const lookedAtOfSettings = 50;
const callsPerSettings = 4;
/** Waits before a call is repeated that found the provider unavailable. */
const unavailableRetries = [1, 2, 4].map((seconds) => seconds * second);
const limitedRetries = 5;
const limitedWait = 10_000;
const maxWaitMs = 5 * 60_000;
/** Milliseconds until the result of a call is stored again that could not be. */
const storePause = 1000;
/** How long, in milliseconds, a shutdown waits for calls under way. */
const shutdownPatience = 1000;

/** When jobs are due, are given up for lost, and were begun. */
export const jobInstants = ({ job_delay: delay }: Config): readonly StoredInstants[] => [
  { table: 'job', column: 'due', ahead: Math.max(delay, maxWaitMs * 1000), isDue: true },
  { table: 'job', column: 'lease', ahead: leaseFor },
  { table: 'job', column: 'started', ahead: 0, countsRunning: true },
];

/**
 * Runs the jobs that are due: each is claimed with a lease, calls its driver outside of any transaction, and stores what
 * came of it in one. Calls of one settings are bounded, so that a slow provider holds up nobody else.
 */
export class ProviderWorker {
  readonly #running = new Map<number, Promise<void>>();
  readonly #calls = new Map<number, number>();
  #state: 'working' | 'stopping' | 'stopped' = 'working';

  /** `committed` calls back when what was written so far is safe and seen by others; `turn` resolves when others were served. */
  constructor(
    private readonly app: App,
    private readonly committed: (callback: (error?: unknown) => void) => void = (callback) =>
      app.db.afterCommit(callback),
    private readonly turn = ownTurns(),
  ) {}

  /** Frees what a process that is no more had claimed; an expired lease still tells that a call was made and nothing came of it. */
  recover(): void {
    this.app.db.write(() => this.app.db.run(sql`UPDATE job SET lease = 0 WHERE lease IS NOT NULL`));
  }

  /** Starts every job that is due and finds a place. */
  tick(): void {
    // A call whose result cannot be stored is not made.
    if (this.#state !== 'working' || this.app.db.trouble) return;
    const now = this.app.clock.now();
    // Some of every settings, so that one with a long queue does not hide the others; and of each kind that waits to be
    // created, so that these hide neither each other nor what is under way.
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
      WHERE place <= ${lookedAtOfSettings}
      ORDER BY due, id`);
    for (const job of due) {
      if (
        this.#running.has(job.id) ||
        (this.#calls.get(job.settings_id) ?? 0) >= callsPerSettings ||
        this.#mustWait(job)
      )
        continue;
      this.#start(job);
    }
  }

  /** Resolves when no driver is being called. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Takes no more jobs and waits a moment for the running calls; what came of the others is found out at the next start. */
  async stop(patience = shutdownPatience): Promise<void> {
    this.#state = 'stopping';
    await Promise.race([this.idle(), new Promise((resolve) => setTimeout(resolve, patience).unref())]);
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
    // The state that was entered is committed and seen before the provider is called.
    const work = this.#committed()
      .then(() => this.#runOn({ ...job, started: job.started ?? now }))
      .catch((error: unknown) => {
        // Nothing was done: the job is due as before. Or its account has been removed meanwhile, and the job with it.
        if (error instanceof StorageError || !this.#isThere(job)) return;
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

  /** Runs a job, and again at once as long as it goes on. */
  async #runOn(first: Job): Promise<void> {
    for (let job: Job | undefined = first; job; job = await this.#claimAgain(job)) await this.#run(job);
  }

  /** The job as it goes on, claimed anew; undefined when it waits for its time, or is over. */
  async #claimAgain({ id }: Job): Promise<Job | undefined> {
    const { clock, db } = this.app;
    if (this.#state !== 'working' || db.trouble) return undefined;
    const job = db.get<Job>(sql`SELECT * FROM job WHERE id = ${id} AND due = ${dueAtOnce} AND lease IS NULL`);
    if (!job) return undefined;
    db.write(() => db.update('job', id, { lease: clock.now() + leaseFor }));
    await this.#committed();
    return job;
  }

  #isThere = ({ id }: Job): boolean => this.app.db.value(sql`SELECT 1 FROM job WHERE id = ${id}`) !== undefined;

  async #run(job: Job): Promise<void> {
    const settings = driverSettings(this.app, job.settings_id);
    if (!settings) return;
    const handler = this.app.jobHandlerOf(job);
    const { metrics } = this.app;
    metrics.providerCalls.add(settings.type);
    const call = async (): Promise<Stores | undefined> => handler.call(this.app, job, driverOf(this.app, settings));
    const stores = await call().catch((error: unknown) => {
      if (!(error instanceof ProviderError)) throw error;
      metrics.providerFailures.add(settings.type, error.type);
      return this.#afterFailure(job, handler, error);
    });
    if (typeof stores === 'function') await this.#write(stores, job);
    else if (stores)
      for (const store of stores) {
        await this.#write(store, job);
        await this.turn();
      }
  }

  /** A call that may succeed later is put off, any other has failed for good (providers.md 2, error classes). */
  #afterFailure(job: Job, handler: JobHandler, error: ProviderError): Store {
    const wait = (handler.repeatAfter ?? repeatAfter)(job, error);
    return wait === undefined
      ? (context) => handler.fail(context, job, failureText(error))
      : (context) =>
          postpone(this.app, job, context.now + wait, { retries: job.retries + 1, error: failureText(error) });
  }

  /** Stores what came of a call, and tries until it can be stored. */
  async #write(work: (context: Context) => void, job: Job): Promise<void> {
    while (this.#state !== 'stopped') {
      try {
        this.app.db.write(() => work(jobContext(this.app, job)));
        await this.#committed();
        return;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        await sleep(storePause, undefined, { ref: false });
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
 * Makes what resolves in a turn of the event loop that no other caller gets: of accounts whose steps were committed together, the
 * next ones do not hold it together.
 */
function ownTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
}

/** Microseconds until a failed call is repeated; undefined when it is not. */
function repeatAfter({ retries }: Job, { retryAfter, type }: ProviderError): number | undefined {
  const asked = Math.min(retryAfter ?? 0, maxWaitMs) * 1000;
  if (type === 'limited') {
    if (retries >= limitedRetries) return undefined;
    return retryAfter === undefined ? limitedWait * 1000 : asked;
  }
  const pause = type === 'unavailable' ? unavailableRetries[retries] : undefined;
  return pause && Math.max(pause, asked);
}

function failureText(error: ProviderError): string {
  if (error.type === 'unavailable') return 'Backend does not respond';
  if (error.type === 'malformed') return 'Unexpected answer of backend';
  return error.message.slice(0, maxFailureLength);
}
