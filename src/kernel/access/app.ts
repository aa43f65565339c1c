import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Remembered } from '../db/remembered.ts';
import type { IncomingRequest } from '../http/incoming-request.ts';
import type { Log } from '../log.ts';
import type { KeptMails } from '../mail/kept-mails.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Resolver } from '../net/resolver.ts';
import { present } from '../present.ts';
import type { Actor, Caller } from './caller.ts';
import type { InitialLink } from './initial-link.ts';
import type { ReadingThread } from './long-reads.ts';
import type { PasswordHasher } from './passwords.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Guards, Reactions } from './reactions.ts';
import type { Secrets } from './secrets.ts';
import type { ServiceKeys } from './service-keys.ts';
import type { TaskThread } from './task-thread.ts';
import type { TextMemory } from './texts.ts';
import type { TokenRow, TokenUse } from './token-use.ts';

/** What is sent from here: events to hooks, mails of invitations and about changes, and links that set passwords. */
export type OutboxName = 'hooks' | 'invitations' | 'notices' | 'passwords';

/** What one running Tenantry consists of; everything that would otherwise be a global. */
export interface App {
  readonly db: Database;
  readonly clock: Clock;
  /** Whether the machine's clock has jumped lately, so that nothing is removed for its age (core.md 13). */
  readonly isClockDoubtful: () => boolean;
  readonly config: Config;
  readonly log: Log;
  /** What is counted for the operator. */
  readonly metrics: Metrics;
  /** Cryptographic random bytes; replaced by a seeded source in reproducible fixtures. */
  readonly random: (bytes: number) => Buffer;
  /** Finds the addresses of hosts that are not the operator's own choice. */
  readonly resolve: Resolver;
  readonly passwords: PasswordHasher;
  readonly secrets: Secrets;
  readonly tokenUse: TokenUse;
  /** The tokens presented lately, with their owners. */
  readonly knownTokens: Remembered<TokenRow>;
  /** Texts of objects as viewers were told of them lately. */
  readonly texts: TextMemory;
  /** What follows from changes, and what forbids them. */
  readonly reactions: Reactions;
  readonly guards: Guards;
  /** Whether a path is one of the API's. */
  readonly isPath: (path: string) => boolean;
  /** Whether a path is that of an object, of whatever collection, that the caller of a request sees. */
  readonly isObject: (request: RequestContext, path: string) => boolean;
  /** Mails that were not sent for want of a mail server. */
  readonly keptMails: KeptMails;
  /** The ETag that GET of a path without query would have for the caller of a request now; undefined where it has none. */
  readonly etagOf: (request: RequestContext, path: string) => string | undefined;
  /** Told when something that these queues of an outbox are to send has been committed. */
  readonly wakeOutbox: (outbox: OutboxName, queues: readonly number[]) => void;
  /** How often the open check of invitations is called from an address. */
  readonly invitationChecks: RateLimit;
  /** Wrong secrets that came with webhooks of providers, by the prefix of the sender's address. */
  readonly webhookFailures: RateLimit;
  /** How often a link that sets a password is asked for from a network. */
  readonly passwordResets: RateLimit;
  /** What reads for long without keeping others waiting; undefined where the data is in memory. */
  readonly readingThread: ReadingThread | undefined;
  /** What the service signs and decrypts with in single sign-on; undefined where that is not set up. */
  readonly samlKeys: ServiceKeys | undefined;
  /** What checks the messages of single sign-on. */
  readonly samlThread: TaskThread;
  /** Refused messages of single sign-on, by the prefix of the sender's address. */
  readonly samlRefusals: RateLimit;
  /** How often logins by single sign-on are started from an address. */
  readonly samlLogins: RateLimit;
  /** The link that sets the first password. */
  readonly initialLink: InitialLink;
  /** Told when a user's password has been changed. */
  readonly passwordChanged: (username: string) => void;
}

/** On whose behalf something is changed: a caller's request, or, with nobody, a timer or the command line. */
export interface Context {
  readonly app: App;
  readonly actor: Actor | null;
  /** The client's address; null outside of a request. */
  readonly address: string | null;
  /** The instant at which all of it happens, in microseconds. */
  readonly now: number;
}

/** The context of what a request asks for. */
export interface RequestContext extends Context {
  readonly incoming: IncomingRequest;
  /** Null on open endpoints. */
  readonly actor: Caller | null;
}

/** The context of work that no request asked for. */
export const systemContext = (app: App): Context => ({ app, actor: null, address: null, now: app.clock.now() });

/** A new object's uuid: 32 lower-case hex digits. */
export const newUuid = (app: App): string => present(newUuids(app, 1)[0]);

/** A uuid of 122 random bits (version 4): of what somebody who knows it may use, such as an invitation. */
export function randomUuid(app: App): string {
  const bytes = app.random(16);
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x40;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  return bytes.toString('hex');
}

/**
 * Uuids of this many new objects that start with the time (version 7), so that an index takes them side by side.
 * See src/decisions/ordered-uuids.md.
 */
export function newUuids(app: App, count: number): string[] {
  const random = app.random(10 * count);
  const time = Math.floor(app.clock.now() / 1000)
    .toString(16)
    .padStart(12, '0');
  // The four bits of the version, and the two of the variant.
  for (let i = 0; i < random.length; i += 10) {
    random[i] = (random.readUInt8(i) & 0x0f) | 0x70;
    random[i + 2] = (random.readUInt8(i + 2) & 0x3f) | 0x80;
  }
  const digits = random.toString('hex');
  const uuids: string[] = [];
  for (let at = 0; at < digits.length; at += 20) uuids.push(time + digits.slice(at, at + 20));
  return uuids;
}
