import { hash } from 'node:crypto';
import type { AuditDraft, AuditObject, FieldChange, TrailTail } from '../../kernel/access/audit-draft.ts';
import type { Actor, Caller } from '../../kernel/access/caller.ts';
import type { App } from '../../kernel/app.ts';
import { second } from '../../kernel/clock.ts';
import { loneSurrogate } from '../../kernel/control-characters.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { verify } from '../../kernel/verification.ts';
import { readHeadsLog } from './heads-log.ts';

/** Uuids of a record's customers and projects. */
export interface AuditPlaces {
  readonly customers: readonly string[];
  readonly projects: readonly string[];
}

/** A record before it gets its place in the trail (audit.md 1). */
export interface NewRecord extends AuditPlaces {
  /** Microseconds. */
  readonly at: number;
  readonly operation: string;
  readonly outcome: 'done' | 'refused';
  /** HTTP status or exit code, or null. */
  readonly status: number | null;
  readonly repeated?: number;
  readonly requestId?: string | null;
  readonly actor: { readonly kind: string; readonly uuid: string | null };
  readonly via: { readonly kind: string; readonly uuid: string | null } | null;
  /** UUID of the impersonated user. */
  readonly as?: string | null;
  readonly object: AuditObject | null;
  readonly actorName: string | null;
  readonly objectName: string | null;
  readonly address: string | null;
  readonly changes: readonly FieldChange[];
}

/** Members of records by the service itself instead of a request or command. */
export const ofService = {
  outcome: 'done',
  status: null,
  actor: { kind: 'job', uuid: null },
  via: { kind: 'job', uuid: null },
  object: null,
  customers: [],
  projects: [],
  actorName: null,
  objectName: null,
  address: null,
  changes: [],
} satisfies Partial<NewRecord>;

/** The predecessor of a new record. */
type Tail = Omit<TrailTail, 'generation'>;

/** `previous` of the very first record. */
export const noHash = '0'.repeat(64);

const maxChanges = 100;
const maxCodePoints = 1000;

/** The last formatted second in microseconds, and its text. Most records share it with their predecessor. */
let written = { second: Number.NaN, text: '' };

/** Formats an instant in UTC, always with six digits of microseconds. */
export function auditTime(instant: number): string {
  const micros = ((instant % second) + second) % second;
  const whole = instant - micros;
  if (whole !== written.second)
    written = { second: whole, text: new Date(whole / 1000).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length) };
  return `${written.text}.${String(micros).padStart(6, '0')}Z`;
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');

const newest = sql`SELECT id, chain_id, sequence, hash FROM audit_record ORDER BY id DESC LIMIT 1`;

/** Returns the newest record. */
const tailOf = ({ db }: { readonly db: Database }): Tail | undefined => db.get<Tail>(newest);

/** Appends a record to the current chain, in the transaction of the change. Must run inside a write. */
export function appendRecord(app: App, record: NewRecord): void {
  if (!app.trail.isPaused) app.db.changeLast(() => store(app, record, currentTail(app)));
}

/** Returns the newest record, cached if possible. Throws if no chain has started. */
function currentTail(app: App): Tail {
  const { db, trail } = app;
  // Rollbacks, and records by commands next to the server, start a new generation, which the current transaction has noticed.
  const known = trail.tail?.generation === db.versions.generation ? trail.tail : undefined;
  if (known)
    verify(
      () => 'the newest audit record',
      () => known.hash,
      () => tailOf(app)?.hash,
    );
  const tail = known ?? tailOf(app);
  if (!tail) throw new Error('The audit trail has no chain');
  return tail;
}

/**
 * Starts a new chain. Its first record names the previous chain (audit.md 3), so that two histories of the same database never
 * share a number.
 */
function startChain(app: App, now: number): void {
  const { auditHeads, db, trail } = app;
  const tail = tailOf(app);
  const id = preparedChain(app) ?? insertChain(db, trail.random, tail);
  const old = tail && chainOf(app, tail.chain_id);
  store(
    app,
    {
      ...ofService,
      at: now,
      operation: 'audit.chain_started',
      via: null,
      object: old === undefined ? null : { type: 'audit-chain', uuid: old },
      changes: auditHeads.folder === undefined ? [] : replacementIn(auditHeads.folder, db),
    },
    { id: tail?.id ?? 0, chain_id: id, sequence: 0, hash: tail?.hash ?? noHash },
  );
}

/** Returns the command that replaced the database of a folder, and the chains of which the folder has heads but no records. */
function replacementIn(folder: string, db: Database): readonly FieldChange[] {
  const { replaced, replacedBy } = readHeadsLog(folder);
  if (replacedBy === undefined) return [];
  const stored = new Set(db.values<string>(sql`SELECT uuid FROM audit_chain`));
  const chains = [...new Set(replaced.map(({ chain }) => chain))].filter((chain) => !stored.has(chain));
  const command = { field: 'command', from: null, to: replacedBy };
  return chains.length === 0 ? [command] : [command, { field: 'chains', from: chains, to: null }];
}

/** Starts the first chain of a database, or the one that `prepareChain` has prepared. */
export function ensureChain(app: App, now: number): void {
  const isMissing = (): boolean => !tailOf(app) || preparedChain(app) !== undefined;
  if (isMissing()) app.db.write(() => isMissing() && startChain(app, now));
}

/**
 * Prepares a new chain in a database with a new history: from a backup, an export or another server. The next start stores its
 * first record, when the database has the schema of this version. Must run inside a write.
 */
export function prepareChain(db: Database, random: (bytes: number) => Buffer): void {
  // Databases from before the audit trail lack the table.
  if (db.value(sql`SELECT 1 FROM sqlite_schema WHERE name = 'audit_chain'`) === undefined) return;
  const tail = tailOf({ db });
  if (!tail) return;
  db.run(sql`DELETE FROM audit_chain WHERE first_id > ${tail.id}`);
  insertChain(db, random, tail);
}

function insertChain(db: Database, random: (bytes: number) => Buffer, tail: Tail | undefined): number {
  const uuid = random(16).toString('hex');
  return db.run(sql`INSERT INTO audit_chain (uuid, first_id) VALUES (${uuid}, ${(tail?.id ?? 0) + 1})`).id;
}

/** Returns the prepared chain, which starts with the next record; undefined if there is none. */
const preparedChain = ({ db }: Pick<App, 'db'>): number | undefined =>
  db.value<number>(sql`SELECT id FROM audit_chain WHERE first_id > (SELECT ifnull(max(id), 0) FROM audit_record)`);

/** Returns the uuid of a chain. It never changes, so it is cached. */
function chainOf({ db, trail }: App, id: number): string {
  const known = trail.chains.get(id);
  if (known !== undefined) return known;
  const uuid = db.scalar<string>(sql`SELECT uuid FROM audit_chain WHERE id = ${id}`);
  trail.chains.set(id, uuid);
  return uuid;
}

const insertion = `
  INSERT INTO audit_record (id, chain_id, sequence, at, operation, outcome, actor, acts_as, object, customers, projects, hash,
    record, private)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Stores a record after its predecessor. */
function store(app: App, record: NewRecord, tail: Tail): void {
  const { actor, as = null, at, object, operation, outcome } = record;
  const { db, trail } = app;
  const privateText = privateJson(record, trail.random(16).toString('hex'));
  const text = recordJson(record, chainOf(app, tail.chain_id), tail, sha256(privateText));
  const digest = sha256(text);
  db.run({
    text: insertion,
    values: [
      tail.id + 1,
      tail.chain_id,
      tail.sequence + 1,
      at,
      operation,
      outcome,
      actor.uuid,
      as,
      object?.uuid ?? null,
      record.customers.join(' '),
      record.projects.join(' '),
      digest,
      text,
      privateText,
    ],
  });
  const { generation } = db.versions;
  trail.tail = { id: tail.id + 1, chain_id: tail.chain_id, sequence: tail.sequence + 1, hash: digest, generation };
}

const identified = (named: NewRecord['via']): string =>
  named ? `{"kind":"${named.kind}","uuid":${named.uuid === null ? 'null' : `"${named.uuid}"`}}` : 'null';
const uuidList = (uuids: readonly string[]): string => (uuids.length === 0 ? '[]' : `["${uuids.join('","')}"]`);

/** Returns the hashed text: canonical JSON, built by concatenation because most members need no escaping. */
function recordJson(record: NewRecord, chain: string, { hash: previous, sequence }: Tail, privateHash: string): string {
  const { as = null, object, repeated = null, requestId = null } = record;
  const shown = object && `{"type":"${object.type}","uuid":${jsonOf(object.uuid)}}`;
  return `{"actor":${identified(record.actor)},"as":${as === null ? 'null' : `"${as}"`},"at":"${auditTime(record.at)}","chain":"${chain}","customers":${uuidList(record.customers)},"object":${shown},"operation":${jsonOf(record.operation)},"outcome":"${record.outcome}","previous":"${previous}","private_hash":"${privateHash}","projects":${uuidList(record.projects)},"repeated":${repeated},"request_id":${jsonOf(requestId)},"sequence":${sequence + 1},"status":${record.status},"via":${identified(record.via)}}`;
}

/** Returns the private part as canonical JSON, built in the same way. */
function privateJson({ actorName, address, changes, objectName }: NewRecord, salt: string): string {
  let list = '';
  for (const { field, from, to } of changes.length > maxChanges ? changes.slice(0, maxChanges) : changes)
    list += `${list === '' ? '' : ','}{"field":${jsonOf(field)},"from":${jsonOf(from)},"to":${jsonOf(to)}}`;
  return `{"actor_name":${jsonOf(actorName)},"address":${jsonOf(address)},"changes":[${list}],"object_name":${jsonOf(objectName)},"salt":"${salt}"}`;
}

/** Strings that JSON does not escape. */
const plainText = /^[ !#-[\]-~]*$/;

/** Returns a value as canonical JSON. Truncates strings to 1,000 code points. */
function jsonOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.length <= maxCodePoints && plainText.test(value)) return `"${value}"`;
  return canonicalJson(shortened(value));
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= maxCodePoints ? value : [...value].slice(0, maxCodePoints).join('');
  if (Array.isArray(value)) return value.slice(0, maxChanges).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxChanges)
      .map(([name, member]) => [name, shortened(member)]),
  );
}

type Author = Pick<NewRecord, 'actor' | 'actorName' | 'as' | 'via'>;

/** Returns the members of a record about the caller. Only this function knows the kinds of `actor` and `via` (audit.md 1). */
export function authorOf(caller: Caller | null, login?: AuditDraft['login']): Author {
  if (login) return author('user', login.user, login.method, login.session);
  if (!caller) return { actor: { kind: 'anonymous', uuid: null }, actorName: null, via: null, as: null };
  const { apiKey, credential, impersonator, isServiceAccount } = caller;
  if (impersonator) return author('user', impersonator, 'impersonation', credential, caller.uuid);
  return author(isServiceAccount ? 'service_account' : 'user', caller, apiKey ? 'api_key' : 'session', credential);
}

const author = (
  kind: string,
  { username, uuid }: Actor,
  via: string,
  credential: string,
  as: string | null = null,
): Author => ({ actor: { kind, uuid }, actorName: username, via: { kind: via, uuid: credential }, as });

const loneSurrogates = new RegExp(loneSurrogate, 'gu');

/** Serialises JSON by RFC 8785: members sorted by UTF-16 units, no whitespace. A lone surrogate becomes U+FFFD. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.replace(loneSurrogates, '\ufffd'));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`;
}
