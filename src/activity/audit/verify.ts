/** Verifies the audit trail in a database or an export (audit.md 6). */
import { hash as digest } from 'node:crypto';
import type { FieldChange } from '../../kernel/access/audit-draft.ts';
import { auditTime, noHash } from './append.ts';
import { isSignedBy, keyIdOf } from './heads.ts';
import type { Head } from './heads-log.ts';

/** A stored record, with its hashed texts. */
export interface StoredRecord {
  /** The canonical JSON without `private` and `hash`. */
  readonly text: string;
  readonly hash: string;
  /** The canonical JSON of the private part; null once redacted. */
  readonly private: string | null;
  /** In a database: the columns for filtering and ordering. */
  readonly columns?: RecordColumns;
  /** In an export: the sequence of a head or checkpoint instead of a record. */
  readonly misplaced?: number;
}

/** Columns of a record that duplicate values in its text. */
export interface RecordColumns {
  readonly chain: string | null;
  readonly sequence: number;
  /** The sequence derived from its id. */
  readonly position: number | null;
  readonly at: number;
  readonly operation: string;
  readonly outcome: string;
  readonly actor: string | null;
  readonly acts_as: string | null;
  readonly object: string | null;
  readonly customers: string;
  readonly projects: string;
}

/** A trail to verify. */
export interface TrailSource {
  /** Reads all records in trail order. Called again to distinguish missing from misplaced records. */
  readonly records: () => Iterable<StoredRecord>;
  /** The checkpoint before the first record. */
  readonly checkpoint?: Head | undefined;
  /** Heads of this trail. */
  readonly heads: readonly Head[];
  /** Logged heads from before a command replaced the database. Their records may be missing. */
  readonly replacedHeads?: readonly Head[];
  /** Logged heads since then. A restore cannot explain missing records for them. */
  readonly currentHeads?: readonly Head[];
  /** In an export: the head in the last line; null if it is missing. */
  readonly end?: Head | null;
  /** Public keys by id. Undefined if signatures cannot be verified. */
  readonly keys: ReadonlyMap<string, string> | undefined;
  /** Whether it may start after the first record of its trail, like an export. */
  readonly isExcerpt: boolean;
  /** Whether it is a sink's copy, which may repeat records. */
  readonly isCopy?: boolean;
}

/** The result of a verification. */
export interface Verified {
  readonly records: number;
  readonly chains: number;
  readonly redacted: number;
  /** The fault as a sentence; undefined if there is none. */
  readonly finding: string | undefined;
  /** Sentences about signed records that a restore replaced. */
  readonly replaced: readonly string[];
}

/** Verified members of a record. */
interface Members {
  readonly chain: string;
  readonly sequence: number;
  readonly previous: string;
  readonly at: string;
  readonly operation: string;
  readonly outcome: string;
  readonly actor: { readonly uuid: string | null } | null;
  readonly as: string | null;
  readonly object: { readonly uuid: string } | null;
  readonly customers: readonly string[];
  readonly projects: readonly string[];
  readonly private_hash: string;
}

const chainStarted = 'audit.chain_started';

/** Thrown to end the verification at the first problem. */
class Finding extends Error {}

const fail = (sentence: string): never => {
  throw new Finding(sentence);
};

const endsEarly = (last: number, { sequence }: Head): string =>
  `The trail ends at record ${last}, but record ${sequence} was signed.`;

/** A new chain that a command started after a record of the previous chain. */
interface Continuation {
  readonly command: string;
  /** The last record of both histories. */
  readonly behind: number;
  /** Whether a signed head follows it. */
  isSigned: boolean;
}

const sha256 = (text: string): string => digest('sha256', text, 'hex');

/** Verifies a trail up to its first problem. */
export function verifyTrail(source: TrailSource): Verified {
  const verification = new Verification(source);
  let finding: string | undefined;
  try {
    for (const record of source.records()) verification.add(record);
    verification.finish();
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    finding = error.message;
  }
  return { ...verification.counts, finding, replaced: finding === undefined ? verification.replaced : [] };
}

class Verification {
  #records = 0;
  #redacted = 0;
  #last: { readonly chain: string; readonly sequence: number; readonly hash: string } | undefined;
  /** The first and the last sequence of each chain. */
  readonly #chains = new Map<string, { readonly first: number; last: number }>();
  readonly #heads = new Map<string, Head[]>();
  readonly #keys: ReadonlyMap<string, string> | undefined;
  readonly #mayBeMissing: ReadonlySet<Head>;
  readonly #mustExist: ReadonlySet<Head>;
  /** By the previous chain. */
  readonly #continuations = new Map<string, Continuation>();
  /** Chains of a copy that end before their last record. */
  readonly #forked: { readonly chain: string; readonly finding: string }[] = [];
  /** In a copy: the hashes of the records by chain and sequence. */
  readonly #hashes = new Map<string, Map<number, string>>();
  /** The last replaced signed record of each chain. */
  readonly #replaced = new Map<string, { readonly behind: number; readonly last: number; readonly command: string }>();

  constructor(private readonly source: TrailSource) {
    const { checkpoint, currentHeads = [], heads, keys, replacedHeads = [] } = source;
    this.#keys = keys;
    this.#mayBeMissing = new Set(replacedHeads);
    this.#mustExist = new Set(currentHeads);
    for (const head of [...replacedHeads, ...currentHeads, ...heads]) {
      const place = `${head.chain}:${head.sequence}`;
      const others = this.#heads.get(place);
      if (others) others.push(head);
      else this.#heads.set(place, [head]);
    }
    if (checkpoint) this.#last = { ...checkpoint };
  }

  get counts(): Pick<Verified, 'records' | 'chains' | 'redacted'> {
    return { records: this.#records, chains: this.#chains.size, redacted: this.#redacted };
  }

  get replaced(): string[] {
    return [...this.#replaced].map(
      ([chain, { behind, command, last }]) =>
        `Records ${behind + 1} to ${last} of chain ${chain} were signed, and then replaced by ${command}.`,
    );
  }

  add(record: StoredRecord): void {
    const { checkpoint, isCopy = false } = this.source;
    if (record.misplaced !== undefined) fail(`Record ${record.misplaced} is out of order.`);
    if (this.#records === 0 && checkpoint) this.#requireSignature(checkpoint);
    const members = this.#requireIntact(record);
    if (isCopy && this.#isRepeated(members, record.hash)) return;
    this.#requirePlace(members);
    const { chain, sequence } = members;
    if (record.columns && record.columns.position !== sequence) fail(`Record ${sequence} was changed.`);
    this.#last = { chain, sequence, hash: record.hash };
    const known = this.#chains.get(chain);
    if (known) known.last = sequence;
    else this.#chains.set(chain, { first: sequence, last: sequence });
    this.#records++;
    if (record.private === null) this.#redacted++;
    if (members.operation === chainStarted) this.#addContinuations(members, record);
    const place = `${chain}:${sequence}`;
    for (const head of this.#heads.get(place) ?? []) {
      this.#requireSignature(head);
      if (head.hash !== record.hash) fail(`Record ${sequence} is not the one that was signed.`);
      this.#confirmContinuations();
    }
    this.#heads.delete(place);
  }

  /** Checks the final head of an export, and the heads whose records were not added. */
  finish(): void {
    const { checkpoint, end, isExcerpt } = this.source;
    if (this.#records === 0 && checkpoint) this.#requireSignature(checkpoint);
    if (end !== undefined) {
      this.#requireEnd(end);
      this.#confirmContinuations();
    }
    for (const { chain, finding } of this.#forked)
      if (!this.#isReplaced(chain, this.#chains.get(chain)?.last ?? 0)) fail(finding);
    for (const head of [...this.#heads.values()].flat()) {
      this.#requireSignature(head);
      // An export has no later records and may end before the newest one.
      if (end && (head.at > end.at || (head.chain === end.chain && head.sequence <= (end.newest ?? 0)))) continue;
      const chain = this.#chains.get(head.chain);
      const last = chain?.last ?? (checkpoint?.chain === head.chain ? checkpoint.sequence : 0);
      // Heads of removed records cannot be compared, and an excerpt need not contain every chain.
      const isElsewhere = chain === undefined && (isExcerpt || checkpoint !== undefined);
      if (head.sequence <= last || (last === 0 && isElsewhere)) continue;
      const isExplained = !this.#mustExist.has(head) && this.#isReplaced(head.chain, head.sequence);
      if (!isExplained && !this.#mayBeMissing.has(head)) fail(endsEarly(last, head));
    }
  }

  /** Collects the chains that a new one continues, if a command started it. */
  #addContinuations({ object, previous }: Members, { private: hidden }: StoredRecord): void {
    const { changes = [] }: { readonly changes?: readonly FieldChange[] } = hidden === null ? {} : JSON.parse(hidden);
    const command = changes.find(({ field }) => field === 'command')?.to;
    if (typeof command !== 'string') return;
    const others = changes.find(({ field }) => field === 'chains')?.from;
    for (const chain of Array.isArray(others) ? others.map(String) : [])
      this.#continuations.set(chain, { command, behind: 0, isSigned: false });
    if (!object) return;
    const inCopy = [...(this.#hashes.get(object.uuid) ?? [])].find(([, hash]) => hash === previous)?.[0];
    const behind = inCopy ?? this.#chains.get(object.uuid)?.last ?? 0;
    this.#continuations.set(object.uuid, { command, behind, isSigned: false });
  }

  #confirmContinuations(): void {
    for (const continuation of this.#continuations.values()) continuation.isSigned = true;
  }

  /** Whether a command replaced a record after the end of its chain. */
  #isReplaced(chain: string, sequence: number): boolean {
    const continuation = this.#continuations.get(chain);
    if (!continuation?.isSigned) return false;
    const { behind, command } = continuation;
    const last = Math.max(sequence, this.#replaced.get(chain)?.last ?? 0);
    this.#replaced.set(chain, { behind, command, last });
    return true;
  }

  /** Whether a sink has already received a record. */
  #isRepeated({ chain, sequence }: Members, hash: string): boolean {
    const hashes = this.#hashes.get(chain) ?? new Map<number, string>();
    this.#hashes.set(chain, hashes);
    const known = hashes.get(sequence);
    if (known !== undefined && known !== hash) fail(`Record ${sequence} occurs twice.`);
    hashes.set(sequence, hash);
    return known !== undefined;
  }

  /** Throws unless an export starts with its first record and ends with the head of its last one. */
  #requireEnd(end: Head | null): void {
    const last = this.#last;
    if (!end) throw new Finding(`The signature of head ${last?.sequence ?? 0} is invalid.`);
    this.#requireSignature(end);
    if (!last || this.#records === 0) {
      if (end.records !== 0) fail(endsEarly(0, end));
      return;
    }
    if (end.chain !== last.chain || end.sequence > last.sequence) fail(endsEarly(last.sequence, end));
    if (end.sequence < last.sequence || end.hash !== last.hash)
      fail(`Record ${last.sequence} is not the one that was signed.`);
    const missing = (end.records ?? 0) - this.#records;
    const [{ first } = { first: 1 }] = this.#chains.values();
    if (missing > 0) fail(`Record ${first > 1 ? first - 1 : missing} is missing.`);
    if (missing < 0) fail(`Record ${first} is not the one that was signed.`);
  }

  #requireSignature(head: Head): void {
    if (!this.#keys) return;
    const key = this.#keys.get(head.key);
    if (key === undefined || !isSignedBy(head, key)) fail(`The signature of head ${head.sequence} is invalid.`);
  }

  /** Throws unless the texts match their hashes and the columns match the text. */
  #requireIntact(record: StoredRecord): Members {
    const { columns, hash, private: hidden, text } = record;
    const members = membersOf(text);
    if (!members || sha256(text) !== hash) return fail(`Record ${this.#expectedOf(members, columns)} was changed.`);
    const isPrivateIntact = hidden === null || sha256(hidden) === members.private_hash;
    if (!isPrivateIntact || (columns && !fits(columns, members))) fail(`Record ${members.sequence} was changed.`);
    return members;
  }

  /** Returns the sequence that a damaged record should have in its place. */
  #expectedOf(members: Members | undefined, columns: RecordColumns | undefined): number {
    const last = this.#last;
    if (columns) return columns.sequence;
    if (last && (members === undefined || members.chain === last.chain)) return last.sequence + 1;
    return members?.sequence ?? 1;
  }

  /** Throws unless a record follows its predecessor. */
  #requirePlace({ chain, object, operation, previous, sequence }: Members): void {
    const last = this.#last;
    if (!last) {
      if (this.source.isExcerpt) return;
      if (sequence !== 1) this.#failAt(chain, 1, sequence);
      if (previous !== noHash) fail('Record 1 does not follow record 0.');
      return;
    }
    const isNew = chain !== last.chain;
    if (isNew && this.#chains.has(chain)) this.#failAt(chain, sequence, sequence);
    const expected = isNew ? 1 : last.sequence + 1;
    if (sequence !== expected) this.#failAt(chain, expected, sequence);
    const isStart = isNew && operation === chainStarted;
    if (previous === last.hash && (!isNew || (isStart && object?.uuid === last.chain))) return;
    const finding = `Record ${sequence} does not follow record ${last.sequence}.`;
    const others = object && this.#hashes.get(object.uuid);
    // The sink has received records that a restore replaced.
    if (!isStart || !others || ![...others.values()].includes(previous)) fail(finding);
    else this.#forked.push({ chain: object.uuid, finding });
  }

  /** Throws with the reason for an unexpected sequence. */
  #failAt(chain: string, expected: number, found: number): never {
    let [hasExpected, count] = [false, 0];
    for (const { columns, text } of this.source.records()) {
      const { chain: other, sequence } = membersOf(text) ?? columns ?? {};
      if (other !== chain) continue;
      if (sequence === expected) hasExpected = true;
      if (sequence === found) count++;
    }
    if (count > 1 && !this.source.isCopy) return fail(`Record ${found} occurs twice.`);
    return fail(
      hasExpected || found < expected ? `Record ${found} is out of order.` : `Record ${expected} is missing.`,
    );
  }
}

/** Parses a hashed text; undefined if it is invalid. */
function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { chain, customers, projects, sequence }: Readonly<Record<string, unknown>> = { ...value };
    const isRecord =
      typeof chain === 'string' && Number.isInteger(sequence) && Array.isArray(customers) && Array.isArray(projects);
    return isRecord ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the columns of a record match its text. */
const fits = (columns: RecordColumns, members: Members): boolean =>
  columns.chain === members.chain &&
  columns.sequence === members.sequence &&
  timeOf(columns.at) === members.at &&
  columns.operation === members.operation &&
  columns.outcome === members.outcome &&
  columns.actor === (members.actor?.uuid ?? null) &&
  columns.acts_as === members.as &&
  columns.object === (members.object?.uuid ?? null) &&
  columns.customers === members.customers.join(' ') &&
  columns.projects === members.projects.join(' ');

/** Formats an instant. A changed column may contain any integer. */
function timeOf(instant: number): string | undefined {
  try {
    return auditTime(instant);
  } catch {
    return undefined;
  }
}

/**
 * Returns the public keys for verifying heads: the pinned keys and their successors, which their heads name. Without pinned keys,
 * returns all keys.
 */
export function trustedKeys(
  known: ReadonlyMap<string, string>,
  pinned: ReadonlyMap<string, string> | undefined,
  heads: readonly Head[],
): ReadonlyMap<string, string> {
  if (!pinned) return known;
  const trusted = new Map(pinned);
  for (const head of heads) {
    const { key, next_key: next } = head;
    const [signer, successor] = [trusted.get(key), next === undefined ? undefined : known.get(next)];
    if (next === undefined || signer === undefined || successor === undefined) continue;
    if (keyIdOf(successor) === next && isSignedBy(head, signer)) trusted.set(next, successor);
  }
  return trusted;
}
