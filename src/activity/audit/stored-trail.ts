/** Reads the trail in a database for verification, exports and sinks. */
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { asHead, type Head, readHeadsLog } from './heads-log.ts';
import { type RecordColumns, type StoredRecord, type TrailSource, trustedKeys } from './verify.ts';

/** Number of records to read at a time. */
const batchSize = 500;

type RecordRow = Required<RecordColumns> & {
  readonly id: number;
  readonly record: string;
  readonly hash: string;
  readonly private: string | null;
};

function* storedRecords(db: Database): Generator<StoredRecord> {
  let after = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = db.all<RecordRow>(sql`
      SELECT r.*, c.uuid AS chain, r.id - c.first_id + 1 AS position
      FROM audit_record r LEFT JOIN audit_chain c ON c.id = r.chain_id
      WHERE r.id > ${after} ORDER BY r.id LIMIT ${batchSize}`);
    for (const row of rows) yield { text: row.record, hash: row.hash, private: row.private, columns: row };
    const last = rows.at(-1);
    if (!last || rows.length < batchSize) return;
    after = last.id;
  }
}

/** Returns the public keys in a database by id. */
export const storedKeys = (db: Database): Map<string, string> =>
  new Map(
    db
      .all<{ key: string; public_key: string }>(sql`SELECT key, public_key FROM audit_key`)
      .map(({ key, public_key }) => [key, public_key]),
  );

/** Returns the newest checkpoint, which precedes the oldest record; undefined if no record has been removed. */
export function newestCheckpoint(db: Database): Head | undefined {
  const text = db.value<string>(sql`SELECT head FROM audit_checkpoint ORDER BY id DESC LIMIT 1`);
  return text === undefined ? undefined : asHead(JSON.parse(text));
}

/** Evidence from outside the database. */
interface Evidence {
  /** Heads stored elsewhere. */
  readonly heads?: readonly Head[] | undefined;
  /** Public keys by id. Default: those in the database. */
  readonly keys?: ReadonlyMap<string, string> | undefined;
}

/** Returns the current trail of a database, with the heads in its folder's log (undefined for data in memory). */
export function storedTrail(db: Database, folder: string | undefined, evidence: Evidence = {}): TrailSource {
  // Read the heads before the records: a head signed meanwhile may belong to a record that is not read.
  const log = folder === undefined ? { heads: [], replaced: [] } : readHeadsLog(folder);
  const heads = evidence.heads ?? [];
  return {
    records: () => storedRecords(db),
    checkpoint: newestCheckpoint(db),
    heads,
    replacedHeads: log.replaced,
    currentHeads: log.heads,
    keys: trustedKeys(storedKeys(db), evidence.keys, [...log.replaced, ...log.heads, ...heads]),
    isExcerpt: false,
  };
}

/** A record in the form that exports and sinks send. */
export interface SentRecord {
  readonly id: number;
  readonly chain: string;
  readonly sequence: number;
  readonly at: number;
  readonly hash: string;
  /** JSON without a line break: the hashed texts, verbatim, with `private` and `hash`. */
  readonly line: string;
}

/** Returns at most `limit` records after the id `after`, in trail order. */
export const recordsAfter = (db: Database, after: number, limit: number): SentRecord[] =>
  db
    .all<RecordRow & { readonly chain: string }>(sql`
      SELECT r.id, c.uuid AS chain, r.sequence, r.at, r.hash, r.record, r.private
      FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
      WHERE r.id > ${after} ORDER BY r.id LIMIT ${limit}`)
    .map(({ at, chain, hash, id, private: hidden, record, sequence }) => ({
      id,
      chain,
      sequence,
      at,
      hash,
      line: `${record.slice(0, -1)},"private":${hidden ?? 'null'},"hash":"${hash}"}`,
    }));
