/** API keys: format, owners and last use (core.md 2.9). */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  type Caller,
  type CallerRow,
  callerColumns,
  callerOf,
  restricted,
  staffRightsApply,
} from '../access/caller.ts';
import type { Context } from '../access/context.ts';
import type { App } from '../app.ts';
import type { VersionedCache } from '../cache/versioned-cache.ts';
import { day, minute } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { removeStep } from '../db/writer.ts';
import { forbidden, unauthenticated } from '../http/error.ts';
import type { StoredInstants } from '../jobs/clock-watch.ts';
import { clientNetworkOf, inNetworks, type Network, parseNetworks } from '../net/networks.ts';

declare module '../app.ts' {
  interface App {
    /** Recently used API keys with their owners. */
    readonly knownApiKeys: VersionedCache<KnownApiKey>;
    readonly apiKeyUse: ApiKeyUse;
  }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomBytes = 32;
const secretDigits = 43;
const checkDigits = 6;
const apiKeyPattern = /^tnt_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;
const shownCharacters = 8;
/** Approximate bytes of a cached key with its owner. */
const keyWeight = 1500;
const useSavedEvery = 10 * minute;
/** Maximum number of networks stored per key. The newest ones stay. */
const maxNetworks = 100;
/** Maximum number of cached addresses per key. Computing the network of one takes as long as the rest of the authentication. */
const maxAddresses = 20;
const storedAfterEnd = 90 * day;
/** Offset of the ids of bound keys without their owners' staff rights, as in the role views. */
const restrictedIds = 2 ** 30;

/** Formats a number in base 62, padded with zeros. */
function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text.padStart(digits, '0');
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), checkDigits);

/** Returns the text of a new key. */
function newApiKey(random: (bytes: number) => Buffer): string {
  const text = `tnt_${base62(BigInt(`0x${random(randomBytes).toString('hex')}`), secretDigits)}`;
  return `${text}_${checksum(text)}`;
}

/** Whether a text has the form of an API key. Its checksum may be wrong. */
export const isApiKey = (text: string): boolean => text.startsWith('tnt_') && apiKeyPattern.test(text);

/** Shortens each API key in a text to its public prefix, because users paste keys where they do not belong. */
export const withoutApiKeys = (text: string): string =>
  text.replace(/(tnt_[0-9A-Za-z]{4})[0-9A-Za-z]{39}_[0-9A-Za-z]{6}/g, '$1…');

const hasChecksum = (text: string): boolean => checksum(text.slice(0, -checkDigits - 1)) === text.slice(-checkDigits);

const digestOf = (key: string): Buffer => hash('sha256', key, 'buffer');

/** Returns a new key, and the columns that store it. */
export function issueApiKey({ app, now }: Context): {
  readonly key: string;
  readonly columns: { readonly digest: Buffer; readonly prefix: string; readonly issued: number };
} {
  const key = newApiKey(app.random);
  return { key, columns: { digest: digestOf(key), prefix: key.slice(0, shownCharacters), issued: now } };
}

/** The parts of a key and its owner that a request needs. */
interface KnownApiKey {
  readonly caller: Caller;
  /** Whether the owner is staff or global support. */
  readonly hasStaffRights: boolean;
  readonly networks: readonly Network[];
  readonly expires: number | null;
  readonly hasEnded: boolean;
  readonly isRevoked: boolean;
  readonly isOwnerActive: boolean;
  readonly lastUsed: number;
  /** The networks that the key has been used from. */
  readonly usedFrom: ReadonlySet<string>;
  /** Addresses whose networks are stored or recorded. */
  readonly addresses: Set<string>;
}

interface ApiKeyRow extends CallerRow {
  readonly key_id: number;
  readonly scopes: string;
  readonly networks: string;
  readonly is_bound: number;
  /** Whether every object that the key was bound to has been deleted. */
  readonly is_lost: number;
  readonly is_previous: number;
  readonly expires: number | null;
  readonly ended: number | null;
  readonly revoked: number | null;
  readonly last_used: number | null;
  readonly credential: string;
  readonly is_active: number;
  /** The networks that the key has been used from, as a JSON list. */
  readonly used_from: string;
}

/** Returns the owner of a key as the caller of a request. Throws 401 and 403 in the order of core.md 2.9. */
export function ownerOfApiKey(app: App, text: string, now: number, address: string): Caller {
  return callerAt(app, usableApiKey(app, text, now, address), address);
}

/** Returns the caller of a key at an address, where the staff rights of its owner may not apply. */
function callerAt(
  app: App,
  { caller, hasStaffRights }: Pick<KnownApiKey, 'caller' | 'hasStaffRights'>,
  address: string,
): Caller {
  if (!caller.apiKey?.isBound) return restricted(app, caller, address);
  if (!hasStaffRights || staffRightsApply(app, address)) return caller;
  // Under this id, it has only its owner's granted roles.
  return { ...caller, id: caller.id - restrictedIds, isRestricted: true };
}

/** Does the same and records the use. `ignoresNetworks` permits every address. */
export function authenticateApiKey(
  app: App,
  text: string,
  now: number,
  address: string,
  ignoresNetworks: boolean,
): Caller {
  const known = usableApiKey(app, text, now, ignoresNetworks ? undefined : address);
  const caller = callerAt(app, known, address);
  if (!caller.apiKey) return caller;
  app.apiKeyUse.note(caller.apiKey.id, known.lastUsed, now, address);
  if (known.addresses.has(address)) return caller;
  const network = clientNetworkOf(address);
  if (!known.usedFrom.has(network)) app.apiKeyUse.noteNetwork({ caller, network, at: now, address });
  if (known.addresses.size >= maxAddresses) known.addresses.clear();
  known.addresses.add(address);
  return caller;
}

/** Returns a valid key. Without an address, it may be used from everywhere. */
function usableApiKey(app: App, text: string, now: number, address: string | undefined): KnownApiKey {
  const known = app.knownApiKeys.get(text) ?? findApiKey(app, text);
  if (known.isRevoked && known.isOwnerActive) throw denial('Invalid token.');
  if (known.hasEnded || (known.expires !== null && known.expires <= now)) throw denial('API key has expired.');
  if (!known.isOwnerActive) throw denial('User inactive or deleted.');
  if (!app.config.api_keys_enabled) throw denial('API keys are switched off.');
  if (address !== undefined && known.networks.length > 0 && !inNetworks(address, known.networks))
    throw forbidden('This API key cannot be used from this address.');
  return known;
}

function findApiKey({ db, knownApiKeys }: App, text: string): KnownApiKey {
  if (!hasChecksum(text)) throw denial('Invalid token.');
  const digest = digestOf(text);
  const { result: row, reads } = db.versions.observe(() =>
    db.get<ApiKeyRow>(sql`
      SELECT (SELECT json_group_array(network) FROM api_key_network WHERE key_id = k.id) AS used_from,
        k.id AS key_id, k.uuid AS credential, k.scopes, k.networks, k.ended, k.revoked, k.last_used, k.is_bound,
        k.is_bound AND NOT EXISTS (SELECT 1 FROM api_key_bound WHERE key_id = k.id) AS is_lost,
        k.digest <> ${digest} AS is_previous, iif(k.digest = ${digest}, k.expires, k.previous_expires) AS expires,
        u.is_active, ${callerColumns}
      FROM api_key k JOIN user u ON u.id = k.user_id WHERE k.digest = ${digest} OR k.previous_digest = ${digest}`),
  );
  if (!row) throw denial('Invalid token.');
  return knownApiKeys.set(text, knownOf(row, text), reads, keyWeight + row.used_from.length);
}

const knownOf = (row: ApiKeyRow, token: string): KnownApiKey => ({
  caller: {
    ...callerOf(row, {
      tokenId: null,
      token,
      credential: row.credential,
      impersonator: null,
      apiKey: {
        id: row.key_id,
        scopes: new Set(JSON.parse(row.scopes)),
        isBound: row.is_bound === 1,
        isOfStaff: row.is_bound === 1 && row.is_staff === 1,
        isPrevious: row.is_previous === 1,
      },
    }),
    ...(row.is_bound === 1 && { id: -row.key_id, isStaff: false, isSupport: false }),
  },
  hasStaffRights: row.is_staff === 1 || row.is_support === 1,
  networks: parseNetworks(JSON.parse(row.networks)),
  expires: row.expires,
  hasEnded: row.ended !== null,
  isRevoked: row.revoked !== null || row.is_lost === 1,
  isOwnerActive: row.is_active === 1,
  lastUsed: row.last_used ?? Number.NEGATIVE_INFINITY,
  usedFrom: new Set(JSON.parse(row.used_from)),
  addresses: new Set(),
});

const denial = (detail: string): Error => unauthenticated({ detail });

/** The first use of a key from a network. */
export interface ApiKeyNetwork {
  readonly caller: Caller;
  readonly network: string;
  readonly at: number;
  readonly address: string;
}

/** The uses of keys that are not stored yet. A use is stored at most once per key and ten minutes. */
export class ApiKeyUse {
  readonly #uses = new Map<number, { readonly at: number; readonly address: string }>();
  readonly #networks = new Map<string, ApiKeyNetwork>();

  /** Records a use, unless one was stored recently. */
  note(key: number, stored: number, now: number, address: string): void {
    if (now - stored < useSavedEvery || this.#uses.has(key)) return;
    this.#uses.set(key, { at: now, address });
  }

  /** Records a use from a network that is new for the key. */
  noteNetwork(use: ApiKeyNetwork): void {
    const key = `${use.caller.credential} ${use.network}`;
    if (!this.#networks.has(key)) this.#networks.set(key, use);
  }

  /** Whether `save` has anything to write. */
  get isDue(): boolean {
    return this.#uses.size + this.#networks.size > 0;
  }

  /** Stores all uses, and passes the first one from each network to `recordNetwork`. Must run inside a write. */
  save(db: Database, recordNetwork: (use: ApiKeyNetwork) => void): void {
    for (const [key, { address, at }] of this.#uses)
      db.run(sql`UPDATE api_key SET last_used = ${at}, last_used_address = ${address} WHERE id = ${key}`);
    const networks = [...this.#networks.values()];
    for (const use of networks) if (storeNetwork(db, use)) recordNetwork(use);
    // A failed commit loses nothing: the uses are noted until the next one.
    db.onceStored(() => {
      for (const { caller, network } of networks) this.#networks.delete(`${caller.credential} ${network}`);
    });
    this.#uses.clear();
  }
}

/** Stores a network of a key, and removes those beyond the maximum. Returns whether it is new. */
function storeNetwork(db: Database, { at, caller, network }: ApiKeyNetwork): boolean {
  const key = caller.apiKey?.id ?? 0;
  const { changes } = db.run(sql`
    INSERT INTO api_key_network (key_id, network, first_used)
    SELECT id, ${network}, ${at} FROM api_key WHERE id = ${key}
    ON CONFLICT DO NOTHING`);
  if (changes === 0) return false;
  db.run(sql`
    DELETE FROM api_key_network
    WHERE key_id = ${key} AND id NOT IN (
      SELECT id FROM api_key_network WHERE key_id = ${key} ORDER BY id DESC LIMIT ${maxNetworks})`);
  return true;
}

/** Counts the valid keys of a user. */
export const countApiKeys = (db: Database, user: number): number =>
  db.count(sql`SELECT count(*) FROM api_key WHERE user_id = ${user} AND ended IS NULL AND revoked IS NULL`);

/** Permanently revokes all keys of a user. */
export function revokeApiKeysOf({ app: { db }, now }: Context, user: number): void {
  db.run(sql`UPDATE api_key SET revoked = ${now} WHERE user_id = ${user} AND revoked IS NULL`);
}

/** Returns the next instant at which a key, or the overlap of a rotation, ends. */
export const nextApiKeyExpiry = (db: Database): number | undefined =>
  db.value<number | null>(sql`
    SELECT min(at) FROM (
      SELECT min(expires) AS at FROM api_key WHERE ended IS NULL AND expires IS NOT NULL
      UNION ALL SELECT min(previous_expires) FROM api_key WHERE previous_expires IS NOT NULL)`) ?? undefined;

/**
 * Permanently ends expired keys and rotation overlaps, so that setting the clock back does not make them valid again. Revokes
 * keys without any of their bound objects left, which no longer work anyway.
 */
export function expireApiKeys({ app: { db }, now }: Context): void {
  db.run(sql`UPDATE api_key SET ended = expires WHERE ended IS NULL AND expires <= ${now}`);
  db.run(sql`
    UPDATE api_key SET previous_digest = NULL, previous_expires = NULL
    WHERE previous_expires IS NOT NULL AND (previous_expires <= ${now} OR ended IS NOT NULL)`);
  db.run(sql`
    UPDATE api_key SET revoked = ${now}
    WHERE is_bound AND revoked IS NULL AND id NOT IN (SELECT key_id FROM api_key_bound)`);
}

/** Removes a batch of the keys that ended 90 days ago. Returns whether the batch was full. */
export function removeEndedApiKeys({ app: { db }, now }: Context): boolean {
  const horizon = now - storedAfterEnd;
  return removeStep(
    (limit) =>
      db.run(sql`
        DELETE FROM api_key WHERE id IN (
          SELECT id FROM api_key WHERE ended < ${horizon} OR revoked < ${horizon} ORDER BY id LIMIT ${limit})`).changes,
  );
}

export const apiKeyInstants: readonly StoredInstants[] = [
  { table: 'api_key', column: 'ended', ahead: 0 },
  { table: 'api_key', column: 'revoked', ahead: 0 },
  { table: 'api_key', column: 'last_used', ahead: 0 },
  { table: 'api_key_network', column: 'first_used', ahead: 0 },
];
