import { join, resolve } from 'node:path';
import { eventAudience } from '../../accounts/projects/event-audience.ts';
import { hasFactor } from '../../accounts/session/factors/factor-store.ts';
import { ensureChain, prepareChain } from '../../activity/audit/append.ts';
import { recordCommand } from '../../activity/audit/commands.ts';
import { AuditHeads } from '../../activity/audit/heads.ts';
import { EventStreams } from '../../activity/events/streams.ts';
import { ensureGlobalQuotas } from '../../activity/quotas/usage.ts';
import { Catalogue, definePaths } from '../../cloud/catalogue/catalogue.ts';
import { NextFailures } from '../../cloud/catalogue/next-failures.ts';
import type { ProviderType } from '../../cloud/catalogue/type.ts';
import { entityHandler } from '../../cloud/entities/entities.ts';
import type { JobHandler } from '../../cloud/operations/job-handler.ts';
import type { Job } from '../../cloud/operations/jobs.ts';
import { membersHandler } from '../../cloud/people/follow.ts';
import { deleteKeyHandler } from '../../cloud/people/uploaded-keys.ts';
import { newListings } from '../../cloud/providers/simulator/backend.ts';
import { measureHandler } from '../../cloud/resources/measuring.ts';
import { resourceHandler } from '../../cloud/resources/operations.ts';
import { syncHandler } from '../../cloud/sync/sync-handler.ts';
import { UnchangedSyncs } from '../../cloud/sync/unchanged-syncs.ts';
import { Trail } from '../../kernel/access/audit-draft.ts';
import { type RequestContext, systemContext } from '../../kernel/access/context.ts';
import { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { ObjectCaches } from '../../kernel/cache/object-cache.ts';
import { VersionedCache } from '../../kernel/cache/versioned-cache.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { cachedObjectsOf } from '../../kernel/collection/cached-objects.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { Config } from '../../kernel/config/config.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import type { StorageError } from '../../kernel/durability/storage-error.ts';
import { HttpError } from '../../kernel/http/error.ts';
import { IncomingRequest } from '../../kernel/http/incoming-request.ts';
import { etagOf } from '../../kernel/http/reply.ts';
import type { Router } from '../../kernel/http/router.ts';
import { ClockWatch } from '../../kernel/jobs/clock-watch.ts';
import { type Log, openLog } from '../../kernel/log.ts';
import { MailStore, mailFolder } from '../../kernel/mail/mail-store.ts';
import { Metrics } from '../../kernel/metrics/metrics.ts';
import { sqliteAddon } from '../../kernel/native/native.ts';
import { type Resolver, systemResolver } from '../../kernel/net/resolver.ts';
import { present } from '../../kernel/present.ts';
import { systemRandom } from '../../kernel/random.ts';
import { ApiKeyUse } from '../../kernel/security/api-keys.ts';
import { PasswordHasher } from '../../kernel/security/passwords.ts';
import { keyFile, openSecrets, removeDrafts, type Secrets } from '../../kernel/security/secrets.ts';
import { TokenUse } from '../../kernel/security/token-use.ts';
import { issueToken } from '../../kernel/security/tokens.ts';
import { ReaderThread } from '../../kernel/threads/long-reads.ts';
import { backUpBeforeUpgrade } from '../backup/before-upgrade.ts';
import { databaseFile, openData, type Purpose } from '../data/data-folder.ts';
import { hasNoSecrets, requireKeys } from '../data/encryption.ts';
import { BackupFolder } from '../operation/backup-folder.ts';
import { Examination } from '../operation/examination.ts';
import type { HostProcess } from '../operation/program.ts';
import { fenceProblems } from '../replication/fence.ts';
import { applyAccess, type WriteAccess, withWriteAccess } from '../replication/writing.ts';
import { scopeNames } from '../scopes/described-scopes.ts';
import { routesOf } from './api.ts';
import { placesOf } from './audit-places.ts';
import { clockRules } from './clock-rules.ts';
import { dueExpiries } from './expiries.ts';
import { loginServices, readLogins } from './logins.ts';
import { copyOf, type Memory, rateLimits, saveTokenUse } from './memory.ts';
import { builtIn } from './providers.ts';
import { guards, reactions } from './reactions.ts';
import { scopesOf } from './scopes.ts';

/** Size of the token cache in bytes. */
const tokenBytes = 8 * 1024 * 1024;

/** Parts that an embedding program may replace. */
export interface Replacements {
  readonly clock?: Clock;
  /** Generates random bytes for ids, tokens and secrets. */
  readonly random?: (bytes: number) => Buffer;
  /** Resolves host names of hooks. */
  readonly resolve?: Resolver;
  /** The provider types; default: `providerTypes` of providers.ts. */
  readonly providers?: readonly ProviderType[];
}

/** How to open a deployment. */
export interface OpenOptions extends Replacements {
  /** The data folder; undefined for data in memory. */
  readonly folder: string | undefined;
  /** Initial content of data in memory; default: empty. */
  readonly memory?: Memory | undefined;
  /** A log that outlives the deployment; default: a separate one. */
  readonly log?: Log;
  /** Metrics that outlive the deployment; default: separate ones. */
  readonly metrics?: Metrics;
  /** One process at a time can serve a folder; commands can run next to it. Default: a command. */
  readonly purpose?: Purpose;
  /** Whether another program wrote the files. If so, their schema is checked first. */
  readonly isCopy?: boolean;
  /** Stops the server after a failed write or sync of the database; default: only the writes fail. */
  readonly stop?: (error: StorageError) => void;
  /** Undefined without the setting lease_url. */
  readonly access?: WriteAccess | undefined;
  readonly wakeOutbox?: App['wakeOutbox'];
  /** Services of the process that runs the server; default: none. */
  readonly hostProcess?: HostProcess;
  /** The command to record as the origin of changes; default: none. */
  readonly command?: string | undefined;
}

/** Options with the defaults that several functions use. */
type CompleteOptions = OpenOptions & Required<Pick<OpenOptions, 'purpose' | 'random'>>;

/** An open deployment without a listener, for the server and for commands. */
export interface OpenDeployment {
  readonly app: App;
  /** The watch of the machine's clock; a server starts it. */
  readonly watch: ClockWatch;
  readonly router: Router<Endpoint>;
  readonly log: Log;
  readonly issueToken: (username: string) => string;
  /** Stops the server if the file of the database was replaced or truncated. */
  readonly watchData: () => void;
  readonly close: () => void;
}

/** Opens the database and all parts that use it. Throws a readable error if the data is unusable. */
export function openDeployment(config: Config, given: OpenOptions): OpenDeployment {
  const opening: CompleteOptions = { purpose: 'command', random: systemRandom(), ...given };
  const { clock = systemClock, command, folder, memory, purpose, random } = opening;
  const { resolve = systemResolver, wakeOutbox = () => undefined } = opening;
  const catalogue = opening.providers ? new Catalogue(opening.providers) : builtIn;
  const router = routesOf(catalogue, config);
  const logins = readLogins(config);
  const { close, db, log, orClose, secrets, watchData } = openStores(config, opening, catalogue);
  const app: App = {
    db,
    catalogue,
    scopes: scopesOf(catalogue),
    config,
    clock,
    isClockDoubtful: () => watch.isSuspect(),
    random,
    log,
    metrics: opening.metrics ?? new Metrics(),
    resolve,
    passwords: new PasswordHasher(),
    secrets,
    mailStore: new MailStore(folder === undefined ? undefined : mailFolder(folder)),
    trail: new Trail(systemRandom()),
    auditHeads: new AuditHeads(folder, secrets, systemRandom()),
    ...credentialState(db),
    ...objectCaches(db, config),
    ...pathLookups(router),
    wakeOutbox,
    eventStreams: new EventStreams(
      () => app,
      (now) => expireDue(now),
    ),
    deployment: deploymentOf(opening, clock),
    ...upwardDependencies,
    nextFailures: new NextFailures(catalogue, memory?.nextFailures),
    lease: opening.access?.kind === 'held' ? opening.access.lease : undefined,
    readerThread: readerThreadOf(opening, db, log),
    limits: memory ? copyOf(memory.limits) : rateLimits(),
    ...loginServices(logins, db, folder, resolve),
  };
  const expireDue = dueExpiries(app);
  const watch = new ClockWatch(app, clockRules(config));
  if (purpose !== 'examine') orClose(() => prepareData(app, opening));
  if (command !== undefined) recordCommand(app, command, (draft) => placesOf(app, draft));
  return {
    app,
    log,
    watch,
    router,
    issueToken: (username) => issueTokenTo(app, username),
    watchData,
    close: () => {
      try {
        if (purpose !== 'examine') saveTokenUse(app);
      } finally {
        close();
      }
    },
  };
}

/** The log, the database and the keys of its secrets. */
interface Stores {
  readonly log: Log;
  readonly db: SqliteDatabase;
  readonly secrets: Secrets;
  readonly watchData: () => void;
  /** Runs a step of opening. Closes the stores if it throws. */
  readonly orClose: <T>(step: () => T) => T;
  readonly close: () => void;
}

function openStores(config: Config, opening: CompleteOptions, catalogue: Catalogue): Stores {
  const { access, memory, purpose } = opening;
  // Commands log to standard error: they may run as a different user, who cannot write the server's log file.
  const { log, close: closeLog } = opening.log
    ? { log: opening.log, close: () => undefined }
    : openLog(config.log_level, null);
  const { db, release, watch: watchData } = openData(config, opening, purpose, log);
  const close = (): void => {
    release();
    closeLog();
  };
  const orClose = <T>(step: () => T): T => {
    try {
      return step();
    } catch (error) {
      close();
      throw error;
    }
  };
  const secrets = orClose(() => {
    if (access) applyAccess(db, access);
    rejectUnknownTypes(db, catalogue);
    return memory?.secrets ?? openKeys(config, opening, db);
  });
  definePaths(db, catalogue);
  db.defineOpening('unsealed', (sealed, uuid) => secrets.open(sealed, uuid));
  return { log, db, secrets, watchData, orClose, close };
}

/** Functions and tables of higher modules that lower modules call. */
const upwardDependencies = { apiKeyScopes: scopeNames, eventAudience, guards, jobHandlerOf, reactions };

/** Cached tokens and API keys, and their last uses. */
const credentialState = (db: SqliteDatabase): Pick<App, 'apiKeyUse' | 'knownApiKeys' | 'knownTokens' | 'tokenUse'> => ({
  tokenUse: new TokenUse(),
  knownTokens: new VersionedCache(db.versions, tokenBytes),
  apiKeyUse: new ApiKeyUse(),
  knownApiKeys: new VersionedCache(db.versions, tokenBytes),
});

const objectCaches = (
  db: SqliteDatabase,
  config: Config,
): Pick<App, 'cachedObjectsOf' | 'objectCaches' | 'simulatedListings' | 'unchangedSyncs'> => ({
  objectCaches: new ObjectCaches(db, config.memory_budget_bytes / 2),
  cachedObjectsOf,
  unchangedSyncs: new UnchangedSyncs(db.versions),
  simulatedListings: newListings(db.versions),
});

const pathLookups = (router: Router<Endpoint>): Pick<App, 'etagOf' | 'isObject' | 'isPath'> => ({
  isPath: (path) => router.find(path) !== undefined,
  etagOf: (request, path) => currentEtag(router, request, path),
  isObject: (request, path) => showsObject(router, request, path),
});

const deploymentOf = ({ folder, hostProcess }: OpenOptions, clock: Clock): App['deployment'] => ({
  sourceOf: () => undefined,
  ...hostProcess,
  backups: folder === undefined ? undefined : new BackupFolder(folder),
  examination: new Examination(clock),
});

/** Starts the thread for slow reads of a server with a folder. */
const readerThreadOf = ({ folder, purpose }: CompleteOptions, db: SqliteDatabase, log: Log): App['readerThread'] =>
  folder !== undefined && purpose === 'serve'
    ? new ReaderThread(db, log, join(folder, databaseFile), sqliteAddon())
    : undefined;

/** Creates the rows that every deployment has. Throws for a command if another server was promoted. */
function prepareData(app: App, { memory, purpose }: CompleteOptions): void {
  const { clock, db, trail } = app;
  const [fence] = fenceProblems(db);
  if (purpose === 'command' && fence !== undefined) throw new Error(fence);
  ensureGlobalQuotas(app);
  // A reset starts a new audit chain.
  if (memory) db.write(() => prepareChain(db, trail.random));
  ensureChain(app, clock.now());
  db.store();
}

/**
 * Opens the data for a command. The purpose `serve` keeps servers from using it meanwhile. An examination that repairs needs
 * `isWriting`.
 */
export async function withDeployment(
  { config, name }: { readonly config: Config; readonly name?: string },
  use: (opened: OpenDeployment) => void | Promise<void>,
  purpose: Purpose = 'command',
  folder = resolve(config.data),
  isWriting = purpose !== 'examine',
): Promise<void> {
  if (purpose !== 'examine') await backUpBeforeUpgrade(config, folder);
  const run = async (access?: WriteAccess): Promise<void> => {
    const opened = openDeployment(config, { folder, purpose, access, command: name });
    try {
      await use(opened);
    } finally {
      opened.close();
    }
  };
  await (isWriting ? withWriteAccess(config, run) : run());
}

/** Rejects data with service settings whose type is missing in the catalogue: the API could not represent them. */
function rejectUnknownTypes(db: SqliteDatabase, { types }: Catalogue): void {
  const unknown = db
    .values<string>(sql`SELECT DISTINCT type FROM service_settings ORDER BY type`)
    .find((name) => !types.some((type) => type.name === name));
  if (unknown !== undefined)
    throw new Error(`The data has service settings of type "${unknown}", which is not among the served provider types`);
}

/** Opens the encryption keys. Throws a readable error if they do not match the database. */
function openKeys(
  { encryption_keys }: Config,
  { folder, purpose, random }: CompleteOptions,
  db: SqliteDatabase,
): Secrets {
  const secrets = openSecrets(encryption_keys, folder, random, () => purpose !== 'examine' && hasNoSecrets(db));
  if (folder !== undefined && purpose === 'serve') removeDrafts(folder);
  // An examination reports every value that the keys cannot decrypt.
  if (folder !== undefined && purpose !== 'examine')
    requireKeys(db, secrets, encryption_keys.length > 0 ? 'The setting encryption_keys' : keyFile(folder));
  return secrets;
}

/** Whether a path leads to an object that the caller can see. */
function showsObject(router: Router<Endpoint>, request: RequestContext, path: string): boolean {
  const match = router.find(path);
  if (!match?.endpoint.isVisible) return false;
  return match.endpoint.isVisible(new Request(request.app, request.incoming, match.params, request.actor, request.now));
}

/** Returns the ETag that GET of a path would return to the caller; undefined if it has none. */
function currentEtag(
  router: Router<Endpoint>,
  { app, actor, incoming, now }: RequestContext,
  path: string,
): string | undefined {
  const match = router.find(path);
  const read = match?.endpoint.operations.GET;
  if (!read) return undefined;
  const { address, base, headers, id } = incoming;
  const getRequest = new Request(
    app,
    new IncomingRequest(id, 'GET', path, headers, address, base),
    match.params,
    actor,
    now,
  );
  try {
    const reply = read.handle(getRequest, undefined);
    return reply.conditional && reply.status === 200 ? etagOf(reply) : undefined;
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

/** Thrown if no active user has the name. */
export class UnknownUser extends Error {}

function issueTokenTo(app: App, username: string): string {
  const { db } = app;
  const user = db.get<{ id: number; is_service_account: number }>(
    sql`SELECT id, is_service_account FROM user WHERE username_folded = ${caseFold(username)} AND is_active`,
  );
  if (!user) throw new UnknownUser(`There is no active user "${username}"`);
  if (user.is_service_account) throw new UnknownUser(`"${username}" is a service account, which has only API keys`);
  const token = db.write(() =>
    issueToken(systemContext(app), user.id, { method: 'operator', confirms: !hasFactor(db, user.id) }),
  );
  db.store();
  return token;
}

/** The handlers of operations on whole provider settings. */
const settingsHandlers: Readonly<Record<string, JobHandler>> = {
  sync: syncHandler,
  follow_members: membersHandler,
  measure: measureHandler,
  forget_key: deleteKeyHandler,
};

/** Returns the handler that runs a job. */
function jobHandlerOf({ entity_kind: entity, operation, resource_id: resource }: Job): JobHandler {
  if (entity !== null) return entityHandler;
  return resource === null ? present(settingsHandlers[operation]) : resourceHandler;
}
