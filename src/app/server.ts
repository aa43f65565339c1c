import { resolve } from 'node:path';
import { InvitationOutbox } from '../accounts/invitations/outbox.ts';
import { createFirstUser, firstUser, forgetInitialPassword } from '../accounts/session/initial-password.ts';
import { MetadataRefresher } from '../accounts/session/saml/refresh.ts';
import { indexAll, indexSome } from '../activity/events/search.ts';
import { HookOutbox } from '../activity/hooks/outbox.ts';
import { ensureGlobalQuotas } from '../activity/quotas/usage.ts';
import { ProviderWorker } from '../cloud/worker/worker.ts';
import { type Deployment, type OutboxName, ownContext, type RequestContext } from '../kernel/access/deployment.ts';
import { PasswordHasher } from '../kernel/access/passwords.ts';
import { RateLimit } from '../kernel/access/rate-limit.ts';
import { Request } from '../kernel/access/request.ts';
import { openSecrets } from '../kernel/access/secrets.ts';
import { openServiceKeys } from '../kernel/access/service-keys.ts';
import { TokenUse } from '../kernel/access/token-use.ts';
import { authenticate, issueToken } from '../kernel/access/tokens.ts';
import { type Clock, hour, minute, systemClock } from '../kernel/clock.ts';
import { allowed, type Endpoint, type Method, metadata, type Operation } from '../kernel/collection/endpoint.ts';
import { type Config, loadConfig } from '../kernel/config/config.ts';
import type { Database } from '../kernel/db/database.ts';
import { Memo } from '../kernel/db/memo.ts';
import { fold, sql } from '../kernel/db/sql.ts';
import { HttpError, notFound } from '../kernel/http/error.ts';
import { type Incoming, pathOf } from '../kernel/http/incoming.ts';
import { type Answer, Listener } from '../kernel/http/listener.ts';
import { encoded, json, type Reply } from '../kernel/http/reply.ts';
import { Router } from '../kernel/http/router.ts';
import { Timer } from '../kernel/jobs/timer.ts';
import { openLog } from '../kernel/log.ts';
import { type Resolver, systemResolver } from '../kernel/net/resolver.ts';
import { Deliverer } from '../kernel/outbox/deliverer.ts';
import { systemRandom } from '../kernel/random.ts';
import { endpoints } from './api.ts';
import { openData } from './data-folder.ts';
import { guards, reactions } from './reactions.ts';
import { dueExpiries } from './schedule/expiries.ts';
import { housekeeping } from './schedule/housekeeping.ts';

/** How many presented tokens, and how many bytes of documents that callers were told, are kept in memory. */
const knownTokens = 10_000;
const documentBytes = 32 * 1024 * 1024;

/** How often a minute an address may call the open check of invitations. */
const checksPerMinute = 60;

/** How often a minute an address may start to log in by single sign-on; a whole organisation may share one. */
const samlLoginsPerMinute = 120;

/** Settings by their names, and what an embedding program may replace. */
export interface ServerOptions extends Partial<Config> {
  /** Keep everything in memory; nothing is read from or written to disk. */
  readonly ephemeral?: boolean;
  readonly clock?: Clock;
  /** Source of random bytes for ids, tokens and secrets. */
  readonly random?: (bytes: number) => Buffer;
  /** Finds the addresses of the hosts that hooks name. */
  readonly resolve?: Resolver;
}

/** A running Tenantry. */
export interface Server {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  readonly deployment: Deployment;
  /** Path of the file with the first user's password, when this start created him. */
  readonly initialPassword: string | undefined;
  /** A fresh token of a user. Throws when there is no such active user. */
  issueToken(username?: string): string;
  /** Does the work that has come due by the clock; by itself it happens every second. */
  tick(): void;
  /** Resolves when nothing is left of what was due: no call of a provider, nothing to send to hooks or by mail, no housekeeping. */
  settled(): Promise<void>;
  /** Finishes running requests, saves and closes everything. */
  close(): Promise<void>;
}

/** Opens the database, mounts the API and listens. Rejects with a sentence when the configuration or the data is unusable. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  const config = loadConfig({ given: options });
  const folder = options.ephemeral ? undefined : resolve(config.data);
  const { deployment, router, issueToken, close } = openDeployment(config, {
    ...options,
    folder,
    serves: true,
    wakeOutbox: (outbox, queues) => outboxes[outbox].wake(queues),
  });
  const { db, log } = deployment;
  const outboxes = {
    hooks: new Deliverer(deployment, new HookOutbox(deployment)),
    invitations: new Deliverer(deployment, new InvitationOutbox(deployment)),
  } satisfies Record<OutboxName, unknown>;
  const deliverers = Object.values(outboxes);
  const worker = new ProviderWorker(deployment);
  worker.recover();
  if (indexSome(db)) {
    log.info('entering the words of events into the index');
    indexAll(db);
  }
  const initialPassword = await createFirstUser(deployment, folder);
  const closeData = async (): Promise<void> => {
    await db.stopCheckpoints();
    close();
  };
  const refresher = await startRefresher(deployment).catch(async (error: unknown) => {
    await closeData();
    throw error;
  });
  const pollDeliverers = (): void => {
    for (const deliverer of deliverers) deliverer.poll();
  };
  const timer = new Timer(deployment, [
    ...housekeeping,
    { name: 'take due deliveries', every: 0, run: pollDeliverers },
    { name: 'take due jobs', every: config.job_tick, run: () => worker.tick() },
    { name: 'refresh identity providers', every: hour, run: () => refresher.poll() },
  ]);
  const listener = new Listener({
    answer: pipeline(deployment, router),
    settled: (callback) => db.settled(callback),
    bodyLimit: (target) => router.find(pathOf(target))?.endpoint.bodyLimit ?? config.max_body_bytes,
    baseUrl: config.base_url,
    trustedProxies: config.trusted_proxies,
    allowedOrigins: config.allowed_origins,
    log,
  });
  const port = await listener.listen(config.host, config.port).catch(async (error: unknown) => {
    await closeData();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    await listener.close();
    timer.stop();
    refresher.close();
    await worker.stop();
    await Promise.all(deliverers.map((deliverer) => deliverer.close()));
    await closeData();
  };
  timer.start();
  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    deployment,
    initialPassword,
    issueToken: (username = firstUser) => issueToken(username),
    tick: () => timer.tick(),
    settled: async () => {
      await worker.idle();
      await timer.idle();
      await refresher.idle();
      await Promise.all(deliverers.map((deliverer) => deliverer.idle()));
    },
    close: () => (closing ??= closeAll()),
  };
}

/** The identity providers of the settings, those of files read. Rejects with ConfigError. */
async function startRefresher(deployment: Deployment): Promise<MetadataRefresher> {
  const refresher = new MetadataRefresher(deployment);
  await refresher.start();
  return refresher;
}

interface Opening extends Pick<ServerOptions, 'clock' | 'random' | 'resolve'> {
  /** The data folder; undefined keeps everything in memory. */
  readonly folder: string | undefined;
  /** Whether this process serves the folder; one at a time does, while commands of the operator may come and go. */
  readonly serves?: boolean;
  readonly wakeOutbox?: Deployment['wakeOutbox'];
}

/** A deployment without a listener: what the server and the commands of the operator have in common. */
export interface Opened {
  readonly deployment: Deployment;
  readonly router: Router<Endpoint>;
  readonly issueToken: (username: string) => string;
  readonly close: () => void;
}

/** Opens the database and everything that works on it. Throws with a sentence when the data is unusable. */
export function openDeployment(config: Config, opening: Opening): Opened {
  const { clock = systemClock, folder, random = systemRandom(), wakeOutbox = () => undefined } = opening;
  const samlKeys = openServiceKeys(config);
  const { log, close } = openLog(config.log_level);
  const { db, release } = openData(config, folder, opening.serves ?? false, log);
  const router = new Router<Endpoint>();
  for (const endpoint of endpoints) router.add(endpoint);
  const deployment: Deployment = {
    db,
    config,
    clock,
    random,
    log,
    resolve: opening.resolve ?? systemResolver,
    passwords: new PasswordHasher(),
    secrets: openSecrets(config.encryption_keys, folder, random),
    tokenUse: new TokenUse(),
    knownTokens: new Memo(db, knownTokens),
    isPath: (path) => router.find(path) !== undefined,
    isObject: (request, path) => showsObject(router, request, path),
    wakeOutbox,
    reactions,
    guards,
    invitationChecks: new RateLimit(checksPerMinute, minute),
    samlKeys,
    samlLogins: new RateLimit(samlLoginsPerMinute, minute),
    passwordChanged: (username) =>
      db.settled((error) => error === undefined && forgetInitialPassword(folder, username)),
  };
  ensureGlobalQuotas(deployment);
  return {
    deployment,
    router,
    issueToken: (username) => issueTokenTo(deployment, username),
    close: () => {
      try {
        db.write(() => deployment.tokenUse.save(db));
      } finally {
        release();
        close();
      }
    },
  };
}

/** Whether the detail path of a collection leads this caller to an object: OPTIONS would tell him. */
function showsObject(router: Router<Endpoint>, request: RequestContext, path: string): boolean {
  const match = router.find(path);
  if (!match?.endpoint.path.endsWith('/:key/') || !match.endpoint.actions) return false;
  try {
    match.endpoint.actions(new Request(request.deployment, request.incoming, match.params, request.actor, request.now));
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

function issueTokenTo(deployment: Deployment, username: string): string {
  const { db } = deployment;
  const user = db.value<number>(sql`SELECT id FROM user WHERE username_folded = ${fold(username)} AND is_active`);
  if (user === undefined) throw new Error(`There is no active user "${username}"`);
  const token = db.write(() => issueToken(ownContext(deployment), user));
  db.commit();
  return token;
}

/** The way of a request: due changes, route, caller, handler; errors become replies (core.md 1.2). */
function pipeline(deployment: Deployment, router: Router<Endpoint>): (incoming: Incoming) => Answer | Promise<Answer> {
  const { clock, db, log } = deployment;
  const allow = new Map(router.endpoints.map((endpoint) => [endpoint, allowed(endpoint)]));
  const expireDue = dueExpiries(deployment);
  const perform = performer(db);

  return (incoming) => {
    const match = router.find(incoming.path);
    const route = { allow: match ? (allow.get(match.endpoint) as string) : '', route: match?.endpoint.path ?? '' };
    let caller: string | undefined;
    const answer = (reply: Reply): Answer => ({ ...route, reply, caller });
    const refuse = (error: unknown): Answer => {
      if (error instanceof HttpError) return answer(json(error.body, error.status, error.headers));
      log.error({ request: incoming.id, route: route.route, err: error }, 'internal error');
      return answer(json({ detail: 'Internal server error.', request_id: incoming.id }, 500));
    };
    const isProtected = match ? !match.endpoint.open : /^\/(api|api-auth|docs)\//.test(incoming.path);
    const presentRequest = (): Request => {
      const now = clock.now();
      db.catchUp();
      expireDue(now);
      const actor = isProtected ? authenticate(deployment, incoming, now) : null;
      caller = actor?.uuid;
      if (!match) throw notFound();
      return new Request(deployment, incoming, match.params, actor, now);
    };
    try {
      const request = presentRequest();
      const { endpoint } = match as NonNullable<typeof match>;
      if (incoming.method === 'OPTIONS') return answer(metadata(endpoint, request));
      const method = incoming.method === 'HEAD' ? 'GET' : incoming.method;
      const operation = endpoint.operations[method as Method];
      if (!operation) throw new HttpError(405, { detail: `Method "${incoming.method}" not allowed.` });
      if (!operation.prepare && !incoming.isMultipart) return answer(perform(operation, request, undefined));
      // What had to wait is looked at anew: meanwhile its token may have been revoked, or a role may have ended.
      return prepare(operation, request)
        .then((prepared) => answer(perform(operation, presentRequest(), prepared)))
        .catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  };
}

/** What must happen before the transaction: reading a multipart body, hashing a password. */
async function prepare(operation: Operation, request: Request): Promise<unknown> {
  if (request.incoming.isMultipart) await request.incoming.prepareBody();
  return operation.prepare?.(request);
}

/**
 * Runs a handler: what writes in a transaction; what reads only if anything was written, or the document has run out, since
 * the same caller was told it.
 */
function performer(db: Database): (operation: Operation, request: Request, prepared: unknown) => Reply {
  const documents = new Memo<Reply>(db, documentBytes);
  return (operation, request, prepared) => {
    const { actor, incoming } = request;
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return db.write(() => operation.handle(request, prepared as never));
    const key = `${actor?.token} ${incoming.base}${incoming.path}?${incoming.query.text}`;
    const known = documents.get(key);
    if (known && (known.until === undefined || request.now < known.until)) return known;
    const reply = operation.handle(request, prepared as never);
    // What varies with a header of the request is another document each time.
    if (!reply.conditional || reply.headers.Vary !== undefined) return reply;
    const kept = encoded(reply);
    return documents.set(key, kept, key.length + kept.body.length);
  };
}
