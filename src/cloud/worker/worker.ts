import { type Context, type Deployment, ownContext } from '../../kernel/access/deployment.ts';
import { minute, second } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Driver, Step } from '../catalogue/driver.ts';
import { type ErrorClass, ProviderError } from '../catalogue/provider-error.ts';
import { driverOf, driverSettings } from '../drivers/drivers.ts';
import { entityMustWait } from '../entities/entities.ts';
import { type Job, postpone, removeJob } from '../jobs/jobs.ts';
import { longestText, missingAtBackend } from '../resources/operations.ts';
import { failSync, finishSync, startSync } from '../sync/sync.ts';
import { type Subject, subjectOf } from './job-handler.ts';

const leaseFor = 10 * minute;
const lookedAtOfSettings = 50;
const callsPerSettings = 4;
const creatingAtOnce = 4;
/** Waits before a call is repeated that found the provider unavailable. */
const unavailableRetries = [1, 2, 4].map((seconds) => seconds * second);
const limitedRetries = 5;
const limitedWait = 10_000;
const longestWait = 5 * 60_000;
/** How long, in milliseconds, a shutdown waits for calls under way. */
const shutdownPatience = 1000;

/**
 * Runs the jobs that are due: each is claimed with a lease, calls its driver outside of any transaction, and stores what
 * came of it in one. Calls of one settings are bounded, so that a slow provider holds up nobody else.
 */
export class ProviderWorker {
  readonly #running = new Map<number, Promise<void>>();
  readonly #calls = new Map<number, number>();
  #state: 'working' | 'stopping' | 'stopped' = 'working';

  /** `committed` calls back when what was written so far is safe and seen by others. */
  constructor(
    private readonly deployment: Deployment,
    private readonly committed: (callback: () => void) => void = (callback) => deployment.db.settled(() => callback()),
  ) {}

  /** Frees what a process that is no more had claimed; an expired lease still tells that a call was made and nothing came of it. */
  recover(): void {
    this.deployment.db.write(() => this.deployment.db.run(sql`UPDATE job SET lease = 0 WHERE lease IS NOT NULL`));
  }

  /** Starts every job that is due and finds a place. */
  tick(): void {
    if (this.#state !== 'working') return;
    const now = this.deployment.clock.now();
    // Some of every settings, so that one with a long queue does not hide the others; and of each kind that waits to be
    // created, so that these hide neither each other nor what is under way.
    const due = this.deployment.db.all<Job>(sql`SELECT * FROM
      (SELECT j.*, row_number() OVER (PARTITION BY settings_id, iif(operation = 'create' AND started IS NULL, ifnull(entity_kind, (SELECT kind FROM resource WHERE id = resource_id)), '') ORDER BY due, id) AS place
      FROM job j WHERE due <= ${now} AND (lease IS NULL OR lease < ${now}))
      WHERE place <= ${lookedAtOfSettings} ORDER BY due, id`);
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
  async stop(): Promise<void> {
    this.#state = 'stopping';
    await Promise.race([this.idle(), new Promise((resolve) => setTimeout(resolve, shutdownPatience).unref())]);
    this.#state = 'stopped';
  }

  /**
   * At most four objects of one kind are being created at once on the same settings, and none before what it belongs to. Of
   * one name only one until its id is known: what came of a creation without an answer is looked up by the name.
   */
  #mustWait(job: Job): boolean {
    if (job.operation !== 'create' || job.started !== null) return false;
    if (job.entity_id !== null) return entityMustWait(this.deployment, job);
    const parent = this.deployment.db.value<string>(
      sql`SELECT state FROM resource WHERE id = (SELECT parent_id FROM resource WHERE id = ${job.resource_id})`,
    );
    if (parent === 'Creation Scheduled' || parent === 'Creating') return true;
    const { creating, hasNamesake } = this.deployment.db.get<{ creating: number; hasNamesake: number }>(sql`
      SELECT count(*) AS creating, ifnull(max(r.name = own.name AND r.backend_id = '' AND st.backend_url LIKE 'http%'), 0) AS hasNamesake
      FROM resource own JOIN service_settings st ON st.id = own.settings_id
      JOIN resource r ON r.settings_id = own.settings_id AND r.kind = own.kind AND r.state = 'Creating'
      WHERE own.id = ${job.resource_id}`) as { creating: number; hasNamesake: number };
    return creating >= creatingAtOnce || hasNamesake === 1;
  }

  #start(job: Job): void {
    const { deployment } = this;
    const now = deployment.clock.now();
    deployment.db.write(() => {
      deployment.db.run(
        sql`UPDATE job SET lease = ${now + leaseFor}, started = ifnull(started, ${now}) WHERE id = ${job.id}`,
      );
      if (job.started === null) this.#enter(job, ownContext(deployment));
    });
    this.#calls.set(job.settings_id, (this.#calls.get(job.settings_id) ?? 0) + 1);
    // The state that was entered is committed and seen before the provider is called.
    const work = new Promise<void>((resolve) => this.committed(resolve))
      .then(() => this.#run({ ...job, started: job.started ?? now }))
      .catch((error: unknown) => {
        deployment.log.error({ job: job.id, operation: job.operation, err: error }, 'job failed');
        const { now } = ownContext(deployment);
        this.#write(() =>
          deployment.db.run(sql`UPDATE job SET due = ${now + minute}, lease = ${now} WHERE id = ${job.id}`),
        );
      })
      .finally(() => {
        this.#running.delete(job.id);
        this.#calls.set(job.settings_id, (this.#calls.get(job.settings_id) ?? 1) - 1);
      });
    this.#running.set(job.id, work);
  }

  #enter(job: Job, context: Context): void {
    if (job.operation === 'sync') startSync(context, job.settings_id);
    subjectOf(this.deployment, job)?.start(context);
  }

  async #run(job: Job): Promise<void> {
    const settings = driverSettings(this.deployment, job.settings_id);
    if (!settings) return;
    const driver = driverOf(this.deployment, settings);
    if (job.operation === 'sync') return this.#synchronise(job, driver);
    if (job.resource_id === null && job.entity_kind === null) return this.#forgetKey(job, driver);
    const subject = subjectOf(this.deployment, job);
    if (subject) await this.#operate(job, driver, subject);
  }

  async #synchronise(job: Job, driver: Driver): Promise<void> {
    const revisions = new Map(
      this.deployment.db
        .all<{ id: number; revision: number }>(
          sql`SELECT id, revision FROM resource WHERE settings_id = ${job.settings_id}`,
        )
        .map(({ id, revision }) => [id, revision]),
    );
    try {
      await driver.ping();
      const inventory = await driver.sync();
      this.#write((context) => {
        finishSync(context, job.settings_id, inventory, revisions);
        removeJob(this.deployment.db, job.id);
      });
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (this.#repeated(job, error)) return;
      this.#write((context) => {
        failSync(context, job.settings_id, failureText(error));
        removeJob(this.deployment.db, job.id);
      });
    }
  }

  async #forgetKey(job: Job, driver: Driver): Promise<void> {
    const { fingerprint } = JSON.parse(job.parameters) as { fingerprint: string };
    try {
      await driver.forgetKey?.(fingerprint);
      this.#write(() => removeJob(this.deployment.db, job.id));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const isLast = job.retries + 1 >= limitedRetries;
      this.#write(() =>
        isLast
          ? removeJob(this.deployment.db, job.id)
          : postpone(this.deployment, job, this.deployment.clock.now() + minute, { retries: job.retries + 1 }),
      );
    }
  }

  async #operate(job: Job, driver: Driver, subject: Subject): Promise<void> {
    const step = await this.#step(job, driver, subject);
    if (step === undefined) return;
    this.#write((context) => {
      const present = subjectOf(this.deployment, job);
      // The resource was unlinked meanwhile, and the job with it.
      if (!present || this.deployment.db.value(sql`SELECT 1 FROM job WHERE id = ${job.id}`) === undefined) return;
      if (step.kind !== 'wait') {
        removeJob(this.deployment.db, job.id);
        present.finish(context, step);
        return;
      }
      const failure = present.progress(context, step);
      if (failure !== undefined) {
        removeJob(this.deployment.db, job.id);
        subjectOf(this.deployment, job)?.finish(context, { kind: 'fail', text: failure });
        return;
      }
      postpone(this.deployment, job, context.now + step.milliseconds * 1000, { memo: step.memo, retries: 0 });
    });
  }

  /** One call of the driver; undefined when it is to be repeated. */
  async #step(job: Job, driver: Driver, subject: Subject): Promise<Step | undefined> {
    const failure = subject.failure(this.deployment.clock.now());
    if (failure !== undefined) return { kind: 'fail', text: failure };
    const call = subject.call();
    try {
      switch (job.operation) {
        case 'create':
          return await driver.create(call);
        case 'update':
          return await driver.update(call);
        case 'delete':
          // What never came to be at the provider needs no call there.
          return call.values.backend_id === '' ? { kind: 'done' } : await driver.delete(call);
        case 'pull': {
          const values = await driver.pull(call);
          return values
            ? { kind: 'done', values }
            : { kind: 'fail', text: missingAtBackend, values: { runtime_state: '' } };
        }
        default:
          return await driver.action(job.operation, call);
      }
    } catch (error) {
      if (!(error instanceof ProviderError))
        throw new Error(`${call.kind}: ${(error as Error).message}`, { cause: error });
      if (error.type === 'not_found' && job.operation === 'delete') return { kind: 'done' };
      if (error.type === 'not_found' && job.operation === 'pull')
        return { kind: 'fail', text: missingAtBackend, values: { runtime_state: '' } };
      return this.#repeated(job, error) ? undefined : { kind: 'fail', text: failureText(error) };
    }
  }

  /** Puts a job off whose call may succeed later; answers whether it did (providers.md 2, error classes). */
  #repeated(job: Job, error: ProviderError): boolean {
    const wait = waitOf(error.type, job.retries, error.retryAfter);
    if (wait === undefined) return false;
    this.#write((context) => postpone(this.deployment, job, context.now + wait, { retries: job.retries + 1 }));
    return true;
  }

  #write(work: (context: Context) => void): void {
    if (this.#state === 'stopped') return;
    this.deployment.db.write(() => work(ownContext(this.deployment)));
  }
}

/** Microseconds until a failed call is repeated; undefined when it is not. */
function waitOf(type: ErrorClass, retries: number, retryAfter = limitedWait): number | undefined {
  if (type === 'limited') return retries < limitedRetries ? Math.min(retryAfter, longestWait) * 1000 : undefined;
  return type === 'unavailable' ? unavailableRetries[retries] : undefined;
}

function failureText(error: ProviderError): string {
  if (error.type === 'unavailable') return 'Backend does not respond';
  if (error.type === 'malformed') return 'Unexpected answer of backend';
  return error.message.slice(0, longestText);
}
