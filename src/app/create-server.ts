import { join, resolve } from 'node:path';
import { loadCommonPasswords } from '../accounts/users/passwords.ts';
import type { App } from '../kernel/app.ts';
import { isSettable, runningClock } from '../kernel/clock.ts';
import { authorityOf } from '../kernel/config/address.ts';
import type { Config } from '../kernel/config/config.ts';
import { localOrigins } from '../kernel/http/cors.ts';
import { HttpServer } from '../kernel/http/http-server.ts';
import { type Log, openLog } from '../kernel/log.ts';
import { Metrics } from '../kernel/metrics/metrics.ts';
import { type SelfChecks, setSelfChecks } from '../kernel/verification.ts';
import { backUpBeforeUpgrade } from './backup/before-upgrade.ts';
import type { OpenOptions, Replacements } from './compose/composition.ts';
import type { Memory } from './compose/memory.ts';
import { instanceOf, nativeFolder } from './data/data-folder.ts';
import { demo, demoLogins, prepareDemo } from './demo/demo.ts';
import { EngineSwitch } from './fixture/engine-switch.ts';
import { Fixture, type FixtureHandle } from './fixture/fixture.ts';
import { checkReplacements, FixtureError } from './fixture/fixture-error.ts';
import type { Seed, Seeded } from './fixture/seed.ts';
import { createSeedObjects } from './fixture/seeder.ts';
import { type AdminAccess, openAdmin } from './operation/admin-listener.ts';
import { type HealthDependencies, isTimerAlive } from './operation/health.ts';
import type { HostProcess } from './operation/program.ts';
import { reloadAll, ServedCertificate } from './operation/reload.ts';
import { Fence } from './replication/fence.ts';
import { Follower, type FollowOptions } from './replication/follower.ts';
import { acquireLease, checkLeaseSettings, requireNoLease, type WriteAccess } from './replication/writing.ts';
import { type Engine, startEngine } from './server/engine.ts';
import { Shutdown } from './server/shutdown.ts';
import { type GivenSettings, loadConfig, localDefaults } from './settings.ts';

/** Settings by name, and the parts that an embedding program may replace. */
export interface ServerOptions extends GivenSettings, Replacements {
  /** Keep all data in memory; read and write no files, except a temporary one for the sample data. */
  readonly ephemeral?: boolean;
  /** Whether this is the command-line program, which opens the operator's port by default. */
  readonly isProgram?: boolean;
  /** @internal How the program was invoked, and the sources of its settings. */
  readonly hostProcess?: Pick<HostProcess, 'program' | 'sourceOf'>;
  /** Initial data, in memory only: named objects, or the sample data. */
  readonly seed?: Seed | 'demo';
  /** @internal Whether it serves sample data for a trial: like a server in memory, it allows pages from this machine. */
  readonly isTrial?: boolean;
  /** @internal Self-checks for the tests. */
  readonly selfChecks?: Partial<SelfChecks>;
  /** @internal Serves copies of another server's database, for reading. */
  readonly follow?: FollowOptions | undefined;
}

/** A running Tenantry. */
export interface Server extends FixtureHandle {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** The address of the operator's port, without a trailing slash; undefined if it is off. */
  readonly adminUrl: string | undefined;
  /** @internal The current instance, which a reset replaces. Not part of the published types. */
  readonly app: App;
  /** Path of the file with the first user's password, if this start created that user. */
  readonly initialPassword: string | undefined;
  /**
   * A token of `admin`. It stays the same after every reset, unless it has expired. Throws if the data is in a folder.
   */
  readonly token: string;
  /** Runs pending work. The server does this every second. */
  tick(): void;
  /** Resolves when no pending work is left: provider calls, hook deliveries, mails and housekeeping. */
  settled(): Promise<void>;
  /** Whether the timer that runs pending work every second is alive. */
  isAlive(): boolean;
  /** Reloads the certificate and reopens the log and audit files. Logs unusable files and keeps the previous ones. */
  reload(): void;
  /** Finishes running requests, then saves and closes everything. */
  close(): Promise<void>;
  /**
   * Resolves after `close`. Rejects if pending work cannot be saved. Also rejects within a second of a failed database write or
   * sync: the server stops storing and closes itself, and the next start repairs the write-ahead log.
   */
  readonly closed: Promise<void>;
}

/** Opens the database, mounts the API and listens. Rejects with a readable error if the configuration or data is unusable. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  const shutdown = new Shutdown();
  try {
    return await start(options, shutdown);
  } catch (error) {
    await shutdown.undoStart();
    throw error;
  }
}

async function start(options: ServerOptions, shutdown: Shutdown): Promise<Server> {
  const { ephemeral, isProgram, isTrial, seed, selfChecks } = options;
  const config = checkedConfig(options);
  // Another thread unpacks it while this one opens the data.
  const sampleData = seed === 'demo' ? prepareDemo() : undefined;
  if (selfChecks) setSelfChecks(selfChecks);
  const folder = ephemeral ? undefined : resolve(config.data);
  if (config.password_refuse_weak) await loadCommonPasswords();
  const backup = folder === undefined ? undefined : await backUpBeforeUpgrade(config, folder);
  const { log, close: closeLog, reopen: reopenLog } = openLog(config.log_level, config.log_file);
  shutdown.add(closeLog);
  if (backup !== undefined) log.info({ file: backup }, 'database backed up before its upgrade');

  const certificate = ServedCertificate.of(config, log);
  const surroundings: ServerContext = {
    config,
    folder,
    log,
    metrics: new Metrics(),
    shutdown,
    advance: (milliseconds) => fixture.advance(milliseconds),
  };
  const opened = await openEngines(options, surroundings);
  const { engines, open } = opened;

  let admin: AdminAccess | undefined;
  // Close it after the listener, so that operators can watch the shutdown.
  shutdown.add(() => admin?.close());
  const isLocal = ephemeral === true || isTrial === true;
  const { listener, url } = await listen(opened, surroundings, certificate, isLocal);
  // From now on, never block the event loop on a lock.
  engines.engine.app.db.waitFor(0);

  const vitals = healthDependencies(opened, folder, shutdown);
  admin = await openAdmin(vitals, isProgram === true && !ephemeral, certificate ? [certificate.reading] : []);

  const seeded = await insertSeed(engines.engine, seed, url, sampleData);
  // Issue it before the fixture saves the state for resets.
  const token = ephemeral ? engines.engine.issueToken() : undefined;
  const fixture = new Fixture({ engines, url, seeded, open: folder === undefined ? open : undefined });
  shutdown.add(() => fixture.close());
  shutdown.start();
  return serverOf({
    url,
    admin,
    engines,
    fixture,
    token,
    shutdown,
    isAlive: () => isTimerAlive(vitals),
    reload: () =>
      reloadAll(log, {
        'the log file': reopenLog,
        'the audit file': () => engines.engine.reopenFiles(),
        'the certificate': certificate && (() => certificate.reload(listener)),
      }),
  });
}

/** Inputs for opening the data and listening, besides the options. */
interface ServerContext {
  readonly config: Config;
  /** The data folder; undefined for data in memory. */
  readonly folder: string | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly shutdown: Shutdown;
  /** Advances a settable clock by milliseconds. */
  readonly advance: (milliseconds: number) => Promise<void>;
}

/** The current engine, how to open further ones, and what decides whether this server may write. */
interface OpenedEngines {
  readonly engines: EngineSwitch;
  /** Opens another engine with the data, or with content in memory. */
  readonly open: (memory?: Memory) => Promise<Engine>;
  /** Undefined without the setting lease_url. */
  readonly access: WriteAccess | undefined;
  /** Undefined for data in memory, and for followers. */
  readonly fence: Fence | undefined;
  /** Undefined unless the server follows another one. */
  readonly follower: Follower | undefined;
}

/** Acquires the lease, opens the data and starts background work. Rejects with a readable error. */
async function openEngines(options: ServerOptions, surroundings: ServerContext): Promise<OpenedEngines> {
  const { clock, ephemeral, follow, providers, random } = options;
  const { advance, config, folder, log, metrics, shutdown } = surroundings;
  const { lease_url: leaseUrl } = config;
  const isWriter = folder !== undefined && !follow;
  if (isWriter && leaseUrl === null) requireNoLease(folder);
  const access =
    isWriter && leaseUrl !== null ? await acquireLease(config, leaseUrl, { log, isServer: true }) : undefined;
  // Closers run in reverse order, so the lease is released last.
  if (access?.kind === 'held') shutdown.add(() => access.lease.release());

  // All resets share one clock.
  const engineClock = clock ?? (ephemeral ? runningClock() : undefined);
  const opening: Omit<OpenOptions, 'folder'> = {
    ...(engineClock && { clock: engineClock }),
    ...(providers && { providers }),
    ...(random && { random }),
    ...(options.resolve && { resolve: options.resolve }),
    log,
    metrics,
    access,
    hostProcess: { ...hostProcessOf(options), ...(ephemeral && engineClock && isSettable(engineClock) && { advance }) },
    stop: shutdown.fail,
  };
  const open = (memory?: Memory): Promise<Engine> => startEngine(config, { ...opening, folder, memory });
  const openCopy = (copy: string): Promise<Engine> =>
    startEngine(
      // Load the native module once, not from every copy.
      { ...config, native_cache: config.native_cache ?? join(folder ?? copy, nativeFolder) },
      { ...opening, folder: copy },
      true,
    );

  const follower = follow && folder !== undefined ? new Follower({ ...follow, config, folder, log }) : undefined;
  if (follower) shutdown.add(() => follower.close());
  const engines = new EngineSwitch(await (follower ? follower.openFirst(openCopy) : open()));
  // A server that fails to start has no audit records for a head to confirm.
  shutdown.add((graceMs) => (shutdown.hasBegun ? engines.close(graceMs) : engines.engine.abandon()));
  if (follower) startFollower(follower, engines, openCopy, shutdown);
  const fence = folder === undefined || follower ? undefined : await startFence(engines.engine, shutdown, access);
  return { engines, open, access, fence, follower };
}

/** Returns the settings among the options. */
function settingsIn(options: ServerOptions): GivenSettings {
  const {
    clock,
    ephemeral,
    follow,
    hostProcess,
    isProgram,
    isTrial,
    providers,
    random,
    resolve,
    seed,
    selfChecks,
    ...given
  } = options;
  return given;
}

/** Loads the settings. Servers in memory have defaults for development. */
function configOf(options: ServerOptions): Config {
  const input = settingsIn(options);
  return { ...loadConfig({ input }), ...(options.ephemeral && localDefaults((name) => input[name] !== undefined)) };
}

/** Checks the options and loads the settings. Throws a readable error. */
function checkedConfig(options: ServerOptions): Config {
  if (options.seed !== undefined && !options.ephemeral)
    throw new FixtureError('seed', 'is for servers in memory (ephemeral)');
  checkReplacements(options);
  const config = configOf(options);
  checkLeaseSettings(config);
  return config;
}

/** Returns the program that runs the server, or the embedding one, and the logins of the sample data. */
function hostProcessOf(options: ServerOptions): HostProcess {
  const given = settingsIn(options);
  const { hostProcess, isTrial, seed } = options;
  return {
    ...(hostProcess ?? { sourceOf: (name) => (given[name] === undefined ? undefined : 'createServer') }),
    ...((isTrial || seed === 'demo') && { demo: demoLogins() }),
  };
}

/** Listens with the limits of the settings. A local server allows requests from pages of this machine. Returns its base URL. */
async function listen(
  { access, engines, fence, follower }: OpenedEngines,
  { config, log, metrics, shutdown }: ServerContext,
  certificate: ServedCertificate | undefined,
  isLocal: boolean,
): Promise<{ readonly listener: HttpServer; readonly url: string }> {
  const listener = new HttpServer({
    admit: engines.admit,
    respond: engines.respond,
    unsaved: engines.unsaved,
    forward: follower?.elsewhere ?? fence?.elsewhere,
    afterCommit: engines.afterCommit,
    commitError: access?.kind === 'held' ? access.lease.failure : undefined,
    log,
    certificate: certificate?.current,
    counts: metrics.requests,
    bodyBudget: config.body_budget_bytes,
    connections: { all: config.max_connections, each: config.max_connections_per_address },
    keepAlive: config.keep_alive_timeout,
    baseUrl: config.base_url,
    trustedProxies: config.trusted_proxies,
    allowedOrigins: config.allowed_origins.length === 0 && isLocal ? localOrigins : config.allowed_origins,
  });
  const port = await listener.listen(config.host, config.port);
  shutdown.add(async (graceMs) => {
    // The listener waits for open responses, so end the event streams first.
    engines.engine.app.eventStreams.close();
    await listener.close(graceMs);
  });
  const protocol = certificate ? 'https' : 'http';
  return { listener, url: `${protocol}://${authorityOf({ host: config.host, port })}` };
}

/** Returns the inputs of the readiness check. The engine may be replaced later. */
function healthDependencies(
  { engines, follower }: OpenedEngines,
  folder: string | undefined,
  shutdown: Shutdown,
): HealthDependencies {
  return {
    get app() {
      return engines.engine.app;
    },
    folder,
    instance: folder === undefined ? undefined : instanceOf(folder),
    follower,
    timerAgeMs: () => engines.engine.timerAgeMs(),
    isClosing: () => shutdown.hasBegun,
  };
}

interface ServerParts extends Pick<Server, 'url' | 'isAlive' | 'reload'> {
  readonly admin: AdminAccess | undefined;
  readonly engines: EngineSwitch;
  readonly fixture: Fixture;
  /** The first token of `admin`; undefined if the data is in a folder. */
  readonly token: string | undefined;
  readonly shutdown: Shutdown;
}

/** Returns the public interface of a running server. */
function serverOf({ admin, engines, fixture, isAlive, reload, shutdown, token, url }: ServerParts): Server {
  const { advance, as, asKey, events, failNext, issueToken, mails, reset, restore, seeded, snapshot } = fixture;
  return {
    url,
    adminUrl: admin?.url,
    get app() {
      return engines.engine.app;
    },
    initialPassword: engines.engine.initialPassword,
    get token() {
      if (token === undefined) throw new Error('only a server in memory has a token from the start');
      return fixture.adminToken(token);
    },
    tick: () => engines.engine.tick(),
    settled: () => engines.engine.settled(),
    ...{ advance, as, asKey, events, failNext, issueToken, mails, reset, restore, seeded, snapshot },
    isAlive,
    reload,
    close: shutdown.close,
    closed: shutdown.closed,
  };
}

/** Makes a follower replace its copy with newer ones. */
function startFollower(
  follower: Follower,
  engines: EngineSwitch,
  openCopy: (copy: string) => Promise<Engine>,
  shutdown: Shutdown,
): void {
  follower.start({
    get app() {
      return engines.engine.app;
    },
    replace: async (copy) => {
      const engine = await openCopy(copy);
      await engines.replace(async () => engine);
    },
  });
  shutdown.add(() => follower.stop());
}

async function startFence(engine: Engine, shutdown: Shutdown, access: WriteAccess | undefined): Promise<Fence> {
  const fence = new Fence(engine);
  shutdown.add(() => fence.close());
  if (access?.kind === 'held') access.lease.onSuperseded((epoch) => fence.receive(epoch));
  await fence.start();
  return fence;
}

/** Creates the initial data. Returns the objects of a seed by name. */
async function insertSeed(
  engine: Engine,
  seed: ServerOptions['seed'],
  url: string,
  sampleData: ReturnType<typeof prepareDemo> | undefined,
): Promise<ReadonlyMap<string, Seeded>> {
  if (seed === 'demo') await demo(engine.app, undefined, sampleData);
  return seed === undefined || seed === 'demo' ? new Map() : createSeedObjects(engine, seed, url);
}
