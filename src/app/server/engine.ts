import { InvitationOutbox } from '../../accounts/invitations/outbox.ts';
import { createFirstUser, firstUser } from '../../accounts/session/initial-password.ts';
import { PasswordOutbox } from '../../accounts/session/password-reset-outbox.ts';
import { MetadataRefresher } from '../../accounts/session/saml/refresh.ts';
import { NoticeOutbox } from '../../accounts/users/notices.ts';
import { indexAll, indexSome } from '../../activity/events/search.ts';
import { HookOutbox } from '../../activity/hooks/outbox.ts';
import { sealPlainTokens } from '../../activity/hooks/push-tokens.ts';
import { ProviderWorker } from '../../cloud/operations/worker.ts';
import type { App } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { busyTimeout } from '../../kernel/durability/handle.ts';
import type { ClockWatch } from '../../kernel/jobs/clock-watch.ts';
import { type Task, Timer } from '../../kernel/jobs/timer.ts';
import { DeliveryWorker } from '../../kernel/outbox/delivery-worker.ts';
import type { OutboxName } from '../../kernel/outbox/outboxes.ts';
import { type Opening, openDeployment } from '../compose/composition.ts';
import { housekeeping } from '../compose/housekeeping.ts';
import { fencedBy } from '../replication/fence.ts';
import { type Dispatcher, dispatcher } from './dispatch.ts';

/** A deployment at work: what requests ask, and what it does by itself. Whoever listens stands in front of it. */
export interface Engine {
  readonly app: App;
  readonly dispatcher: Dispatcher;
  /** Path of the file with the first user's password, when this start created that user. */
  readonly initialPassword: string | undefined;
  /** A fresh token of a user, `admin` unless it is named. Throws when there is no such active user. */
  issueToken(username?: string): string;
  /** How long ago, in milliseconds, what comes due was last looked at. */
  quiet(): number;
  /** Does the work that has come due by the clock; by itself it happens every second. */
  tick(): void;
  /** Resolves when nothing is left of what was due: no call of a provider, nothing to send to hooks or by mail, no housekeeping. */
  settled(): Promise<void>;
  /** Begins nothing more, breaks off what is sent, and answers still; resolves when no provider is being called. */
  rest(): Promise<void>;
  /** Begins nothing more, gives work in progress `graceMs` (default: a second), saves and closes everything. */
  close(graceMs?: number): Promise<void>;
  /** Begins nothing more, breaks off what is sent, and closes everything when no provider is being called. */
  abandon(): Promise<void>;
}

/**
 * Opens the database and begins to work on it; where it only `rests`, it answers and does nothing by itself but end what is due
 * when it is asked. Rejects with a sentence when the configuration or the data is unusable.
 */
export async function startEngine(
  config: Config,
  opening: Omit<Opening, 'purpose' | 'isCopy' | 'wakeOutbox'>,
  rests = false,
): Promise<Engine> {
  let isResting = rests;
  const { app, router, issueToken, watch, watchData, close } = openDeployment(config, {
    ...opening,
    purpose: 'serve',
    isCopy: rests,
    wakeOutbox: (outbox, queues) => isResting || outboxes[outbox].wake(queues),
  });
  const { db } = app;
  const outboxes = {
    hooks: new DeliveryWorker(app, new HookOutbox(app)),
    invitations: new DeliveryWorker(app, new InvitationOutbox(app)),
    notices: new DeliveryWorker(app, new NoticeOutbox(app)),
    passwords: new DeliveryWorker(app, new PasswordOutbox(app)),
  } satisfies Record<OutboxName, unknown>;
  const deliverers = Object.values(outboxes);
  const worker = new ProviderWorker(app);
  const closeData = async (): Promise<void> => {
    app.deployment.examination.close();
    app.deployment.backups?.close();
    await app.samlThread.close();
    await app.readingThread?.close();
    await db.stopCheckpoints();
    close();
  };
  const refresher = new MetadataRefresher(app);
  isResting ||= fencedBy(db) !== null;
  const begun = isResting ? Promise.resolve(undefined) : begin(app, opening.folder, watch, worker, refresher);
  const initialPassword = await begun.catch(
    // An embedding program may try again: nothing stays open, and the folder is not locked.
    async (error: unknown) => {
      await closeData();
      throw error;
    },
  );
  const pollDeliverers = (): void => {
    for (const deliverer of deliverers) deliverer.poll();
  };
  const tasks: readonly Task[] = [
    // Before whatever goes by the clock.
    { name: 'watch the clock', every: 0, run: () => watch.look() },
    ...housekeeping(app.catalogue),
    { name: 'take due deliveries', every: 0, run: pollDeliverers },
    { name: 'look for events of other processes', every: 0, run: () => app.eventStreams.poll() },
    { name: 'take due jobs', every: config.job_tick, run: () => worker.tick() },
    { name: 'refresh identity providers', every: hour, run: () => refresher.poll() },
  ];
  const timer = new Timer(app, [{ name: 'watch the file', every: 0, run: watchData }, ...(isResting ? [] : tasks)]);
  timer.start();
  const rest = async (): Promise<void> => {
    isResting = true;
    timer.stop();
    refresher.close();
    await worker.stop(0);
    await Promise.all(deliverers.map((deliverer) => deliverer.close(0)));
    await worker.idle();
  };
  return {
    app,
    dispatcher: dispatcher(app, router),
    initialPassword,
    issueToken: (username = firstUser) => issueToken(username),
    quiet: () => timer.quiet(),
    tick: () => timer.tick(),
    settled: async () => {
      await worker.idle();
      await timer.idle();
      await refresher.idle();
      await Promise.all(deliverers.map((deliverer) => deliverer.idle()));
    },
    close: async (graceMs) => {
      db.waitFor(busyTimeout);
      app.eventStreams.close();
      timer.stop();
      refresher.close();
      await worker.stop(graceMs);
      await Promise.all(deliverers.map((deliverer) => deliverer.close(graceMs)));
      await closeData();
    },
    rest,
    abandon: async () => {
      app.eventStreams.close();
      await rest();
      await closeData();
    },
  };
}

/**
 * What a start does before anybody is served; identity providers of files are read. Answers the path of a first user's password.
 * Rejects with a sentence, with ConfigError for files of metadata.
 */
async function begin(
  app: App,
  folder: string | undefined,
  watch: ClockWatch,
  worker: ProviderWorker,
  refresher: MetadataRefresher,
): Promise<string | undefined> {
  watch.start();
  worker.recover();
  if (indexSome(app.db)) {
    app.log.info('entering the words of events into the index');
    indexAll(app.db);
  }
  sealPlainTokens(app);
  const initialPassword = await createFirstUser(app, folder);
  await refresher.start();
  return initialPassword;
}
