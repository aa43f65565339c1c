import { InvitationOutbox } from '../../accounts/invitations/outbox.ts';
import { createFirstUser } from '../../accounts/session/initial-password.ts';
import { removeOtherFailures } from '../../accounts/session/oidc/failures.ts';
import { PasswordOutbox } from '../../accounts/session/password-reset-outbox.ts';
import { MetadataRefresher } from '../../accounts/session/saml/refresh.ts';
import { NoticeOutbox } from '../../accounts/users/notices.ts';
import { registerKey, signAtShutdown } from '../../activity/audit/heads.ts';
import { AuditSinks } from '../../activity/audit/sinks/sinks.ts';
import { indexAll, indexSome } from '../../activity/events/search.ts';
import { HookOutbox } from '../../activity/hooks/outbox.ts';
import { sealPlainTokens } from '../../activity/hooks/push-tokens.ts';
import { NotificationOutbox } from '../../activity/notifications/mails.ts';
import { ProviderWorker } from '../../cloud/operations/worker.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute } from '../../kernel/clock.ts';
import type { ClockWatch } from '../../kernel/jobs/clock-watch.ts';
import { type Task, Timer } from '../../kernel/jobs/timer.ts';
import { DeliveryWorker, type OutboxName } from '../../kernel/outbox/delivery-worker.ts';
import { errorOf } from '../../kernel/present.ts';
import { compareCatalogue, hasBackups } from '../backup/scheduled.ts';
import { housekeeping } from '../compose/housekeeping.ts';
import { backupTick, ScheduledBackups } from '../operation/scheduled-backups.ts';
import { fencedBy } from '../replication/fence.ts';

/** The parts of an open deployment that the work uses. */
interface Deployment {
  readonly app: App;
  readonly watch: ClockWatch;
  readonly watchData: () => void;
}

/** The work of a deployment outside of requests: timer, jobs at providers, deliveries, audit sinks and backups. */
export class BackgroundWork {
  readonly #app: App;
  readonly #watch: ClockWatch;
  readonly #outboxes;
  readonly #deliverers: readonly Pick<DeliveryWorker<never>, 'poll' | 'idle' | 'close'>[];
  readonly #worker: ProviderWorker;
  readonly #refresher: MetadataRefresher;
  readonly #auditSinks: AuditSinks;
  readonly #scheduledBackups = new ScheduledBackups();
  readonly #timer: Timer;
  #isPaused: boolean;

  /** Starts nothing. Passive work, also that of a fenced deployment, only watches the file of the database. */
  constructor({ app, watch, watchData }: Deployment, isPassive: boolean) {
    this.#app = app;
    this.#watch = watch;
    this.#outboxes = {
      hooks: new DeliveryWorker(app, new HookOutbox(app)),
      invitations: new DeliveryWorker(app, new InvitationOutbox(app)),
      notices: new DeliveryWorker(app, new NoticeOutbox(app)),
      notifications: new DeliveryWorker(app, new NotificationOutbox(app)),
      passwords: new DeliveryWorker(app, new PasswordOutbox(app)),
    } satisfies Record<OutboxName, unknown>;
    this.#deliverers = Object.values(this.#outboxes);
    this.#worker = new ProviderWorker(app);
    this.#refresher = new MetadataRefresher(app);
    this.#auditSinks = new AuditSinks(app);
    this.#isPaused = isPassive || fencedBy(app.db) !== null;
    this.#timer = new Timer(app, [
      { name: 'watch the database file', every: 0, run: watchData },
      ...(this.#isPaused ? [] : this.#tasks()),
    ]);
  }

  #tasks(): readonly Task[] {
    const { catalogue, config, eventStreams } = this.#app;
    return [
      // Run this before all tasks that depend on the clock.
      { name: 'watch the clock', every: 0, run: () => this.#watch.check() },
      ...housekeeping(catalogue),
      { name: 'claim due deliveries', every: 0, run: () => this.#pollDeliverers() },
      { name: 'poll for events of other processes', every: 0, run: () => eventStreams.poll() },
      { name: 'claim due jobs', every: config.job_tick, run: () => this.#worker.tick() },
      { name: 'refresh identity providers', every: hour, run: () => this.#refresher.poll() },
      { name: 'send audit records', every: 0, run: () => this.#auditSinks.poll() },
      { name: 'watch the audit sinks', every: minute, run: (context) => this.#auditSinks.watch(context) },
      { name: 'make scheduled backups', every: backupTick, run: (context) => this.#scheduledBackups.tick(context) },
    ];
  }

  #pollDeliverers(): void {
    for (const deliverer of this.#deliverers) deliverer.poll();
  }

  /**
   * Prepares the deployment for its first request, which includes reading the metadata of identity providers, and starts the
   * timer. Returns the path of the first user's password if this start created that user. Rejects with a readable error, or with
   * ConfigError for metadata files.
   */
  async start(folder: string | undefined): Promise<string | undefined> {
    const initialPassword = this.#isPaused ? undefined : await this.#prepare(folder);
    this.#timer.start();
    return initialPassword;
  }

  async #prepare(folder: string | undefined): Promise<string | undefined> {
    const { db, log } = this.#app;
    this.#watch.start();
    this.#worker.recover();
    if (indexSome(db)) {
      log.info('updating the full-text index of events');
      indexAll(db);
    }
    sealPlainTokens(this.#app);
    registerKey(this.#app);
    const initialPassword = await createFirstUser(this.#app, folder);
    if (folder !== undefined && hasBackups(this.#app))
      // Do not wait: an unreachable target must not delay the start.
      compareCatalogue(this.#app).catch((error: unknown) =>
        log.warn({ reason: errorOf(error).message }, 'failed to list the backups at the target'),
      );
    removeOtherFailures(
      db,
      [...this.#app.oidcClients.values()].map(({ provider }) => provider.issuer),
    );
    await this.#refresher.start();
    return initialPassword;
  }

  /** Sends the messages of an outbox, or of some of its queues, as soon as possible. */
  readonly wake: App['wakeOutbox'] = (outbox, queues) => {
    if (!this.#isPaused) this.#outboxes[outbox].wake(queues);
  };

  /** Milliseconds since the timer last ran due work. */
  timerAgeMs(): number {
    return this.#timer.millisecondsSinceRun();
  }

  /** Runs pending work. Optionally leaves out work that reads do on demand. */
  tick(includesOnDemand?: boolean): void {
    this.#timer.tick(includesOnDemand);
  }

  /** Reopens the file of audit records. */
  reopenFiles(): void {
    this.#auditSinks.reopen();
  }

  /** Resolves when no pending work is left. */
  async idle(): Promise<void> {
    await this.#worker.idle();
    await this.#timer.idle();
    await this.#refresher.idle();
    await Promise.all(this.#deliverers.map((deliverer) => deliverer.idle()));
    await this.#auditSinks.idle();
  }

  /** Stops all work and cancels deliveries. Resolves when no provider call is running. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#stop(0);
    await this.#auditSinks.close(0);
    await this.#worker.idle();
  }

  /** Stops all work, gives work in progress `graceMs` (default: a second), and signs the head of the audit trail. */
  async close(graceMs: number | undefined): Promise<void> {
    await this.#stop(graceMs);
    if (!this.#isPaused) signAtShutdown(this.#app);
    await this.#auditSinks.close(this.#isPaused ? 0 : graceMs);
  }

  async #stop(graceMs: number | undefined): Promise<void> {
    this.#timer.stop();
    this.#refresher.close();
    this.#scheduledBackups.close();
    await this.#worker.stop(graceMs);
    await Promise.all(this.#deliverers.map((deliverer) => deliverer.close(graceMs)));
  }
}
