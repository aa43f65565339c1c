import { resolve } from 'node:path';
import { InvitationOutbox } from '../accounts/invitations/outbox.ts';
import { createFirstUser, firstUser } from '../accounts/session/initial-password.ts';
import { PasswordOutbox } from '../accounts/session/password-reset-outbox.ts';
import { MetadataRefresher } from '../accounts/session/saml/refresh.ts';
import { NoticeOutbox } from '../accounts/users/notices.ts';
import { loadCommonPasswords } from '../accounts/users/passwords.ts';
import { indexAll, indexSome } from '../activity/events/search.ts';
import { HookOutbox } from '../activity/hooks/outbox.ts';
import { sealPlainTokens } from '../activity/hooks/push-tokens.ts';
import { ProviderWorker } from '../cloud/worker/worker.ts';
import type { App, OutboxName } from '../kernel/access/app.ts';
import { hour } from '../kernel/clock.ts';
import { addressOf, authorityOf, usualAdminAddress } from '../kernel/config/address.ts';
import type { GivenSettings } from '../kernel/config/config.ts';
import { loadConfig } from '../kernel/config/load.ts';
import { busyTimeout } from '../kernel/db/handle.ts';
import { HttpServer } from '../kernel/http/http-server.ts';
import type { ClockWatch } from '../kernel/jobs/clock-watch.ts';
import { Timer } from '../kernel/jobs/timer.ts';
import { DeliveryWorker } from '../kernel/outbox/delivery-worker.ts';
import { errorOf } from '../kernel/present.ts';
import { backUpBeforeUpgrade } from './backup/before-upgrade.ts';
import { openDeployment, type Replacements } from './composition.ts';
import { dispatcher } from './dispatch.ts';
import { AdminListener } from './operation/admin-listener.ts';
import { isTimerAlive, type Vitals } from './operation/health.ts';
import { reloadAll, ServedCertificate } from './operation/reload.ts';
import type { Reading } from './operation/samples.ts';
import { housekeeping } from './schedule/housekeeping.ts';

/** Settings by their names, and what an embedding program may replace. */
export interface ServerOptions extends GivenSettings, Replacements {
  /** Keep everything in memory; nothing is read from or written to disk. */
  readonly ephemeral?: boolean;
  /** Whether it is the program itself, which listens for its operator unless it is told not to. */
  readonly isProgram?: boolean;
}

/** A running Tenantry. */
export interface Server {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Where it listens for the operator, without a trailing slash; undefined: nowhere. */
  readonly adminUrl: string | undefined;
  /** @internal What it consists of, which is no part of the published types. */
  readonly app: App;
  /** Path of the file with the first user's password, when this start created that user. */
  readonly initialPassword: string | undefined;
  /** A fresh token of a user. Throws when there is no such active user. */
  issueToken(username?: string): string;
  /** Does the work that has come due by the clock; by itself it happens every second. */
  tick(): void;
  /** Resolves when nothing is left of what was due: no call of a provider, nothing to send to hooks or by mail, no housekeeping. */
  settled(): Promise<void>;
  /** Whether what comes due is done: by itself that is looked at every second. */
  isAlive(): boolean;
  /** Reads the certificate anew, and goes on in a new log file; what is of no use is told in the log, and nothing changes. */
  reload(): void;
  /** Finishes running requests, saves and closes everything. */
  close(): Promise<void>;
}

/** Opens the database, mounts the API and listens. Rejects with a sentence when the configuration or the data is unusable. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  const {
    clock: _clock,
    ephemeral,
    isProgram,
    providers: _providers,
    random: _random,
    resolve: _resolve,
    ...given
  } = options;
  const config = loadConfig({ given });
  const folder = ephemeral ? undefined : resolve(config.data);
  if (config.password_refuse_weak) await loadCommonPasswords();
  const backup = folder === undefined ? undefined : await backUpBeforeUpgrade(config, folder);
  const { app, router, log, issueToken, watch, watchData, reopenLog, close } = openDeployment(config, {
    ...options,
    folder,
    purpose: 'serve',
    wakeOutbox: (outbox, queues) => outboxes[outbox].wake(queues),
  });
  if (backup !== undefined) log.info({ file: backup }, 'the database was backed up before it was brought up to date');
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
    await app.samlThread.close();
    await db.stopCheckpoints();
    close();
  };
  // An embedding program may try again: nothing stays open, and the folder is not locked.
  const orClose = <T>(step: Promise<T>): Promise<T> =>
    step.catch(async (error: unknown) => {
      await closeData();
      throw error;
    });
  const { initialPassword, refresher } = await orClose(begin(app, folder, watch, worker));
  const pollDeliverers = (): void => {
    for (const deliverer of deliverers) deliverer.poll();
  };
  const timer = new Timer(app, [
    { name: 'watch the file', every: 0, run: watchData },
    // Before whatever goes by the clock.
    { name: 'watch the clock', every: 0, run: () => watch.look() },
    ...housekeeping(app.catalogue),
    { name: 'take due deliveries', every: 0, run: pollDeliverers },
    { name: 'take due jobs', every: config.job_tick, run: () => worker.tick() },
    { name: 'refresh identity providers', every: hour, run: () => refresher.poll() },
  ]);
  const certificate = await orClose(Promise.resolve().then(() => ServedCertificate.of(config, log)));
  const listener = new HttpServer({
    ...dispatcher(app, router),
    afterCommit: (callback) => db.afterCommit(callback),
    bodyBudget: config.body_budget_bytes,
    connections: { all: config.max_connections, each: config.max_connections_per_address },
    baseUrl: config.base_url,
    trustedProxies: config.trusted_proxies,
    allowedOrigins: config.allowed_origins,
    log,
    certificate: certificate?.current,
    counts: app.metrics.requests,
  });
  const port = await orClose(listener.listen(config.host, config.port));
  let closing: Promise<void> | undefined;
  const admin = await orClose(
    openAdmin(
      { app, folder, quiet: () => timer.quiet(), isClosing: () => closing !== undefined },
      isProgram === true && !ephemeral,
      certificate ? [certificate.reading] : [],
    ),
  );
  const closeAll = async (): Promise<void> => {
    await listener.close();
    await admin?.close();
    db.waitFor(busyTimeout);
    timer.stop();
    refresher.close();
    await worker.stop();
    await Promise.all(deliverers.map((deliverer) => deliverer.close()));
    await closeData();
  };
  timer.start();
  // The event loop waits for nobody.
  db.waitFor(0);
  return {
    url: `${certificate ? 'https' : 'http'}://${authorityOf({ host: config.host, port })}`,
    adminUrl: admin?.url,
    app,
    initialPassword,
    issueToken: (username = firstUser) => issueToken(username),
    tick: () => timer.tick(),
    settled: async () => {
      await worker.idle();
      await timer.idle();
      await refresher.idle();
      await Promise.all(deliverers.map((deliverer) => deliverer.idle()));
    },
    isAlive: () => isTimerAlive(timer),
    reload: () =>
      reloadAll(log, {
        'the log file': reopenLog,
        'the certificate': certificate && (() => certificate.renew(listener)),
      }),
    close: () => (closing ??= closeAll()),
  };
}

/**
 * Listens for the operator where the settings say so; else, for the program, at the usual address, unless somebody else does.
 * Rejects with a sentence.
 */
async function openAdmin(
  vitals: Vitals,
  isUsual: boolean,
  further: readonly Reading[],
): Promise<{ readonly url: string; close(): Promise<void> } | undefined> {
  const { config, log } = vitals.app;
  const given = config.admin_listen;
  const address = given === null ? (isUsual && config.port !== 0 ? usualAdminAddress : undefined) : addressOf(given);
  if (!address) return undefined;
  const admin = new AdminListener(vitals, further);
  try {
    const port = await admin.listen(address);
    return { url: `http://${authorityOf({ ...address, port })}`, close: () => admin.close() };
  } catch (error) {
    await admin.close();
    if (given !== null) throw error;
    log.warn(
      `${errorOf(error).message}: nobody can read /healthz, /readyz and /metrics; admin_listen names another address, or off`,
    );
    return undefined;
  }
}

/**
 * What a start does before anybody is served. Answers the path of a first user's password and the identity providers of the
 * settings, those of files read. Rejects with a sentence, with ConfigError for files of metadata.
 */
async function begin(
  app: App,
  folder: string | undefined,
  watch: ClockWatch,
  worker: ProviderWorker,
): Promise<{ readonly initialPassword: string | undefined; readonly refresher: MetadataRefresher }> {
  watch.start();
  worker.recover();
  if (indexSome(app.db)) {
    app.log.info('entering the words of events into the index');
    indexAll(app.db);
  }
  sealPlainTokens(app);
  const initialPassword = await createFirstUser(app, folder);
  const refresher = new MetadataRefresher(app);
  await refresher.start();
  return { initialPassword, refresher };
}
