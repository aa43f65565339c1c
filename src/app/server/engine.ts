import { InvitationOutbox } from '../../accounts/invitations/outbox.ts';
import { createFirstUser, firstUser } from '../../accounts/session/initial-password.ts';
import { PasswordOutbox } from '../../accounts/session/password-reset-outbox.ts';
import { MetadataRefresher } from '../../accounts/session/saml/refresh.ts';
import { NoticeOutbox } from '../../accounts/users/notices.ts';
import { checkAuditSettings } from '../../activity/audit/config.ts';
import { registerKey, signAtShutdown } from '../../activity/audit/heads.ts';
import { AuditSinks } from '../../activity/audit/sinks/sinks.ts';
import { indexAll, indexSome } from '../../activity/events/search.ts';
import { HookOutbox } from '../../activity/hooks/outbox.ts';
import { sealPlainTokens } from '../../activity/hooks/push-tokens.ts';
import { NotificationOutbox } from '../../activity/notifications/mails.ts';
import { ProviderWorker } from '../../cloud/operations/worker.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { busyTimeout } from '../../kernel/durability/handle.ts';
import type { ClockWatch } from '../../kernel/jobs/clock-watch.ts';
import { type Task, Timer } from '../../kernel/jobs/timer.ts';
import { DeliveryWorker } from '../../kernel/outbox/delivery-worker.ts';
import type { OutboxName } from '../../kernel/outbox/outboxes.ts';
import { errorOf } from '../../kernel/present.ts';
import { checkBackupSettings } from '../backup/config.ts';
import { compareCatalogue } from '../backup/scheduled.ts';
import { type Opening, openDeployment } from '../compose/composition.ts';
import { housekeeping } from '../compose/housekeeping.ts';
import { backupTick, ScheduledBackups } from '../operation/scheduled-backups.ts';
import { fencedBy } from '../replication/fence.ts';
import { checkLeaseSettings } from '../replication/writing.ts';
import { type Dispatcher, dispatcher } from './dispatch.ts';

/** A running deployment without a listener. Handles requests and runs background work. */
export interface Engine {
  readonly app: App;
  readonly dispatcher: Dispatcher;
  /** Path of the file with the first user's password, if this start created that user. */
  readonly initialPassword: string | undefined;
  /** Issues a token for a user (default: `admin`). Throws if there is no such active user. */
  issueToken(username?: string): string;
  /** Milliseconds since the timer last ran due work. */
  timerAgeMs(): number;
  /** Runs pending work. The timer does this every second. Optionally leaves out work that reads do on demand. */
  tick(includesOnDemand?: boolean): void;
  /** Reopens the audit trail file. */
  reopenFiles(): void;
  /** Resolves when no pending work is left: provider calls, hook deliveries, mails and housekeeping. */
  settled(): Promise<void>;
  /** Stops background work and cancels deliveries, but still handles requests. Resolves when no provider call is running. */
  pause(): Promise<void>;
  /** Stops background work, gives work in progress `graceMs` (default: a second), saves and closes everything. */
  close(graceMs?: number): Promise<void>;
  /** Stops background work, cancels deliveries, and closes everything when no provider call is running. */
  abandon(): Promise<void>;
}

/**
 * Opens the database and starts background work. A passive engine only handles requests, which still end expired roles and
 * invitations. Rejects with a readable error if the configuration or the data is unusable.
 */
export async function startEngine(
  config: Config,
  opening: Omit<Opening, 'purpose' | 'isCopy' | 'wakeOutbox'>,
  isPassive = false,
): Promise<Engine> {
  checkBackupSettings(config);
  checkLeaseSettings(config);
  checkAuditSettings(config);
  let isPaused = isPassive;
  const { app, router, issueToken, watch, watchData, close } = openDeployment(config, {
    ...opening,
    purpose: 'serve',
    isCopy: isPassive,
    wakeOutbox: (outbox, queues) => isPaused || outboxes[outbox].wake(queues),
  });
  const { db } = app;
  const outboxes = {
    hooks: new DeliveryWorker(app, new HookOutbox(app)),
    invitations: new DeliveryWorker(app, new InvitationOutbox(app)),
    notices: new DeliveryWorker(app, new NoticeOutbox(app)),
    notifications: new DeliveryWorker(app, new NotificationOutbox(app)),
    passwords: new DeliveryWorker(app, new PasswordOutbox(app)),
  } satisfies Record<OutboxName, unknown>;
  const deliverers = Object.values(outboxes);
  const worker = new ProviderWorker(app);
  const auditSinks = new AuditSinks(app);
  const closeData = async (): Promise<void> => {
    app.deployment.examination.close();
    app.deployment.backups?.close();
    scheduledBackups.close();
    await app.samlThread.close();
    await app.readingThread?.close();
    await db.stopCheckpoints();
    close();
  };
  const refresher = new MetadataRefresher(app);
  const scheduledBackups = new ScheduledBackups();
  isPaused ||= fencedBy(db) !== null;
  const started = isPaused ? Promise.resolve(undefined) : startWork(app, opening.folder, watch, worker, refresher);
  const initialPassword = await started.catch(
    // Close everything and unlock the folder, because an embedding program may try again.
    async (error: unknown) => {
      await closeData();
      throw error;
    },
  );
  const pollDeliverers = (): void => {
    for (const deliverer of deliverers) deliverer.poll();
  };
  const tasks: readonly Task[] = [
    // Run this before all tasks that depend on the clock.
    { name: 'watch the clock', every: 0, run: () => watch.look() },
    ...housekeeping(app.catalogue),
    { name: 'claim due deliveries', every: 0, run: pollDeliverers },
    { name: 'poll for events of other processes', every: 0, run: () => app.eventStreams.poll() },
    { name: 'claim due jobs', every: config.job_tick, run: () => worker.tick() },
    { name: 'refresh identity providers', every: hour, run: () => refresher.poll() },
    { name: 'send audit records', every: 0, run: () => auditSinks.poll() },
    { name: 'watch the audit sinks', every: minute, run: (context) => auditSinks.watch(context) },
    { name: 'make scheduled backups', every: backupTick, run: (context) => scheduledBackups.tick(context) },
  ];
  const timer = new Timer(app, [
    { name: 'watch the database file', every: 0, run: watchData },
    ...(isPaused ? [] : tasks),
  ]);
  timer.start();
  const pause = async (): Promise<void> => {
    isPaused = true;
    timer.stop();
    refresher.close();
    await worker.stop(0);
    await Promise.all(deliverers.map((deliverer) => deliverer.close(0)));
    await auditSinks.close(0);
    await worker.idle();
  };
  return {
    app,
    dispatcher: dispatcher(app, router),
    initialPassword,
    issueToken: (username = firstUser) => issueToken(username),
    timerAgeMs: () => timer.quiet(),
    tick: (includesOnDemand) => timer.tick(includesOnDemand),
    reopenFiles: () => auditSinks.reopen(),
    settled: async () => {
      await worker.idle();
      await timer.idle();
      await refresher.idle();
      await Promise.all(deliverers.map((deliverer) => deliverer.idle()));
      await auditSinks.idle();
    },
    close: async (graceMs) => {
      db.waitFor(busyTimeout);
      app.eventStreams.close();
      timer.stop();
      refresher.close();
      await worker.stop(graceMs);
      await Promise.all(deliverers.map((deliverer) => deliverer.close(graceMs)));
      if (!isPaused) signAtShutdown(app);
      await auditSinks.close(isPaused ? 0 : graceMs);
      await closeData();
    },
    pause,
    abandon: async () => {
      app.eventStreams.close();
      await pause();
      await closeData();
    },
  };
}

/**
 * Prepares the deployment for its first request, which includes reading the metadata of identity providers. Returns the path of
 * the first user's password. Rejects with a readable error, or with ConfigError for metadata files.
 */
async function startWork(
  app: App,
  folder: string | undefined,
  watch: ClockWatch,
  worker: ProviderWorker,
  refresher: MetadataRefresher,
): Promise<string | undefined> {
  watch.start();
  worker.recover();
  if (indexSome(app.db)) {
    app.log.info('updating the full-text index of events');
    indexAll(app.db);
  }
  sealPlainTokens(app);
  registerKey(app);
  const initialPassword = await createFirstUser(app, folder);
  if (folder !== undefined && app.config.backup_schedule !== null)
    // Do not wait: an unreachable target must not delay the start.
    compareCatalogue(app).catch((error: unknown) =>
      app.log.warn({ reason: errorOf(error).message }, 'failed to list the backups at the target'),
    );
  await refresher.start();
  return initialPassword;
}
