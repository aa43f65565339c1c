import { join, resolve } from 'node:path';
import { loadCommonPasswords } from '../accounts/users/passwords.ts';
import type { App } from '../kernel/app.ts';
import { isSettable, runningClock } from '../kernel/clock.ts';
import { authorityOf } from '../kernel/config/address.ts';
import { localOrigins } from '../kernel/http/cors.ts';
import { HttpServer } from '../kernel/http/http-server.ts';
import { openLog } from '../kernel/log.ts';
import { Metrics } from '../kernel/metrics/metrics.ts';
import { type SelfChecks, setSelfChecks } from '../kernel/verification.ts';
import { backUpBeforeUpgrade } from './backup/before-upgrade.ts';
import type { Replacements } from './compose/composition.ts';
import { localDefaults } from './compose/local-defaults.ts';
import type { Memory } from './compose/memory.ts';
import { nativeFolder } from './data/data-folder.ts';
import { demo } from './demo/demo.ts';
import { Fixture, type FixtureHandle } from './fixture/fixture.ts';
import { FixtureError } from './fixture/fixture-error.ts';
import { requireFit } from './fixture/replacements.ts';
import type { Seed, Seeded } from './fixture/seed.ts';
import { sow } from './fixture/sow.ts';
import { Stage } from './fixture/stage.ts';
import { type AdminAccess, openAdmin } from './operation/admin-listener.ts';
import type { Surroundings } from './operation/deployment.ts';
import { isTimerAlive, type Vitals } from './operation/health.ts';
import { instanceOf } from './operation/instance.ts';
import { reloadAll, ServedCertificate } from './operation/reload.ts';
import { Fence } from './replication/fence.ts';
import { Follower, type Following } from './replication/follower.ts';
import { Ending } from './server/ending.ts';
import { type Engine, startEngine } from './server/engine.ts';
import type { GivenSettings } from './settings.ts';
import { loadConfig } from './settings.ts';

/** Settings by their names, and what an embedding program may replace. */
export interface ServerOptions extends GivenSettings, Replacements {
  /** Keep everything in memory; nothing is read from or written to disk. */
  readonly ephemeral?: boolean;
  /** Whether it is the program itself, which listens for its operator unless it is told not to. */
  readonly isProgram?: boolean;
  /** @internal How the program is called, and what gave its settings. */
  readonly called?: Pick<Surroundings, 'program' | 'sourceOf'>;
  /** What is there from the start, in memory only: things by name, or the demonstration world. */
  readonly seed?: Seed | 'demo';
  /** @internal Whether it serves sample data to try it out: pages of this machine may call it, as they may one in memory. */
  readonly isTrial?: boolean;
  /** @internal Checks that the program makes of itself, for its tests. */
  readonly selfChecks?: Partial<SelfChecks>;
  /** @internal Serves copies of another's database, for reading. */
  readonly follow?: Following | undefined;
}

/** A running Tenantry. */
export interface Server extends FixtureHandle {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Where it listens for the operator, without a trailing slash; undefined: nowhere. */
  readonly adminUrl: string | undefined;
  /** @internal What serves at this moment, which is no part of the published types; a reset puts another in its place. */
  readonly app: App;
  /** Path of the file with the first user's password, when this start created that user. */
  readonly initialPassword: string | undefined;
  /**
   * A token of `admin`, the same after every reset; another one where time has ended it. Throws where the data is in a
   * folder.
   */
  readonly token: string;
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
  /**
   * Resolves after `close`. Rejects if pending work cannot be saved, and within a second after a failed write or sync of the
   * database: the server stores nothing more and closes by itself. The start of the next one repairs the write-ahead log.
   */
  readonly closed: Promise<void>;
}

/** Opens the database, mounts the API and listens. Rejects with a sentence when the configuration or the data is unusable. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  const {
    called,
    clock,
    ephemeral,
    follow,
    isProgram,
    isTrial,
    providers,
    random,
    resolve: resolver,
    seed,
    selfChecks,
    ...given
  } = options;
  if (seed !== undefined && !ephemeral) throw new FixtureError('seed', 'is for servers in memory (ephemeral)');
  requireFit(options);
  const config = { ...loadConfig({ given }), ...(ephemeral && localDefaults((name) => given[name] !== undefined)) };
  if (selfChecks) setSelfChecks(selfChecks);
  const folder = ephemeral ? undefined : resolve(config.data);
  if (config.password_refuse_weak) await loadCommonPasswords();
  const backup = folder === undefined ? undefined : await backUpBeforeUpgrade(config, folder);
  const { log, close: closeLog, reopen: reopenLog } = openLog(config.log_level, config.log_file);
  const orCloseLog = <T>(step: Promise<T>): Promise<T> =>
    step.catch((error: unknown) => {
      closeLog();
      throw error;
    });
  if (backup !== undefined) log.info({ file: backup }, 'the database was backed up before it was brought up to date');
  const replacements: Replacements = {
    // The same through all resets.
    ...(clock ? { clock } : ephemeral && { clock: runningClock() }),
    ...(providers && { providers }),
    ...(random && { random }),
    ...(resolver && { resolve: resolver }),
  };
  const metrics = new Metrics();
  const ending = new Ending();
  const surroundings: Surroundings = {
    ...(called ?? { sourceOf: (name) => (given[name] === undefined ? undefined : 'createServer') }),
    ...(ephemeral &&
      replacements.clock &&
      isSettable(replacements.clock) && { advance: (milliseconds) => fixture.advance(milliseconds) }),
  };
  const open = (memory?: Memory): Promise<Engine> =>
    startEngine(config, { ...replacements, folder, memory, log, metrics, surroundings, stop: ending.fail });
  const rest = (copy: string): Promise<Engine> =>
    startEngine(
      // The native module is loaded once, not from every copy.
      { ...config, native_cache: config.native_cache ?? join(folder ?? copy, nativeFolder) },
      { ...replacements, folder: copy, log, metrics, surroundings, stop: ending.fail },
      true,
    );
  const certificate = await orCloseLog(Promise.resolve().then(() => ServedCertificate.of(config, log)));
  const follower =
    follow && folder !== undefined
      ? await orCloseLog(Promise.resolve().then(() => new Follower({ ...follow, config, folder, log })))
      : undefined;
  const startFirst = async (follower: Follower): Promise<Engine> => {
    const copy = await follower.first();
    return rest(copy).catch((error: unknown) => {
      follower.discard(copy);
      throw error;
    });
  };
  const first = follower ? startFirst(follower) : open();
  const stage = new Stage(
    await orCloseLog(
      first.catch(async (error: unknown) => {
        await follower?.close();
        throw error;
      }),
    ),
  );
  follower?.begin({
    get app() {
      return stage.engine.app;
    },
    replace: async (copy) => {
      const engine = await rest(copy);
      await stage.replace(async () => engine);
    },
  });
  const { initialPassword } = stage.engine;
  const fence = folder === undefined || follower ? undefined : new Fence(stage.engine);
  await fence?.begin();
  const listener = new HttpServer({
    admit: stage.admit,
    answer: stage.answer,
    unsaved: stage.unsaved,
    elsewhere: follower?.elsewhere ?? fence?.elsewhere,
    afterCommit: stage.afterCommit,
    bodyBudget: config.body_budget_bytes,
    connections: { all: config.max_connections, each: config.max_connections_per_address },
    keepAlive: config.keep_alive_timeout,
    baseUrl: config.base_url,
    trustedProxies: config.trusted_proxies,
    allowedOrigins:
      config.allowed_origins.length === 0 && (ephemeral || isTrial) ? localOrigins : config.allowed_origins,
    log,
    certificate: certificate?.current,
    counts: metrics.requests,
  });
  const port = await orCloseLog(
    listener.listen(config.host, config.port).catch(async (error: unknown) => {
      await follower?.close();
      await fence?.close();
      await stage.close();
      throw error;
    }),
  );
  const url = `${certificate ? 'https' : 'http'}://${authorityOf({ host: config.host, port })}`;
  // The event loop waits for nobody.
  stage.engine.app.db.waitFor(0);
  let admin: AdminAccess | undefined;
  const closeServing = async (): Promise<void> => {
    try {
      // The listener waits for what is being answered.
      stage.engine.app.eventStreams.close();
      await listener.close(ending.graceMs);
      await admin?.close();
      await follower?.close();
      await fence?.close();
      await stage.close(ending.graceMs);
    } finally {
      closeLog();
    }
  };
  const orClose = <T>(step: Promise<T>): Promise<T> =>
    step.catch(async (error: unknown) => {
      await closeServing();
      throw error;
    });
  const vitals: Vitals = {
    get app() {
      return stage.engine.app;
    },
    folder,
    instance: folder === undefined ? undefined : instanceOf(folder),
    follower,
    quiet: () => stage.engine.quiet(),
    isClosing: () => ending.hasBegun,
  };
  admin = await orClose(openAdmin(vitals, isProgram === true && !ephemeral, certificate ? [certificate.reading] : []));
  const seeded = await orClose(grow(stage.engine, seed, url));
  // Before what resets go back to.
  const token = ephemeral ? stage.engine.issueToken() : undefined;
  const fixture = new Fixture({ stage, url, seeded, open: folder === undefined ? open : undefined });
  if (ending.failure) await orClose(Promise.reject(ending.failure));
  ending.begin(async () => {
    await fixture.close();
    await closeServing();
  });
  const { advance, as, events, failNext, issueToken, mails, reset, restore, seeded: find, snapshot } = fixture;
  return {
    url,
    adminUrl: admin?.url,
    get app() {
      return stage.engine.app;
    },
    initialPassword,
    get token() {
      if (token === undefined) throw new Error('only a server in memory has a token from the start');
      return fixture.adminToken(token);
    },
    tick: () => stage.engine.tick(),
    settled: () => stage.engine.settled(),
    ...{ advance, as, events, failNext, issueToken, mails, reset, restore, seeded: find, snapshot },
    isAlive: () => isTimerAlive(vitals),
    reload: () =>
      reloadAll(log, {
        'the log file': reopenLog,
        'the certificate': certificate && (() => certificate.renew(listener)),
      }),
    close: ending.close,
    closed: ending.closed,
  };
}

/** Makes what is there from the start; answers the things of a seed by name. */
async function grow(engine: Engine, seed: ServerOptions['seed'], url: string): Promise<ReadonlyMap<string, Seeded>> {
  if (seed === 'demo') await demo(engine.app);
  return seed === undefined || seed === 'demo' ? new Map() : sow(engine, seed, url);
}
