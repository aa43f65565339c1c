import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { App } from '../../../kernel/app.ts';
import type { Config } from '../../../kernel/config/config.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { namesOf, present } from '../../../kernel/present.ts';
import { type Head, readHeadsLog } from '../heads-log.ts';
import type { Batch, SinkName, SinkRecord } from './sink.ts';

/** Limits of a batch. A larger record is sent alone. */
const maxRecords = 500;
const maxBytes = 1024 * 1024;

/** Returns a record as one line of JSON: the hashed text, extended by the private part and the hash. */
const lineOf = (record: string, hidden: string | null, digest: string): string =>
  `${record.slice(0, -1)},"private":${hidden},"hash":"${digest}"}`;
/** Bytes of a line, including its end, in addition to the two texts. */
const addedBytes = lineOf('}', '', '0'.repeat(64)).length;

/** The destination of a sink. Its URL may contain a secret. */
export interface Destination {
  readonly name: SinkName;
  readonly address: string;
  readonly digest: string;
}

/** The position of a destination in the trail. */
interface Position {
  readonly id: number;
  readonly received: number;
  readonly received_head: number;
  readonly batch_end: number | null;
  readonly error_message: string;
  readonly is_behind: number;
}

/** Returns the configured destinations. */
export function destinationsOf({
  audit_file: file,
  audit_sink_url: url,
  audit_syslog: syslog,
}: Config): readonly Destination[] {
  const addresses = { url, file: file === null ? null : resolve(file), syslog };
  return namesOf(addresses).flatMap((name) => {
    const address = addresses[name];
    return address === null ? [] : [{ name, address, digest: hash('sha256', address, 'hex') }];
  });
}

/** Returns the position of a destination; undefined before its first batch. */
export const positionOf = ({ db }: Pick<App, 'db'>, { digest, name }: Destination): Position | undefined =>
  db.get<Position>(sql`
    SELECT id, received, received_head, batch_end, error_message, is_behind FROM audit_sink
    WHERE name = ${name} AND destination = ${digest}`);

/** The last record or head that a destination has received. */
export type Mark = Pick<Position, 'received'> | Pick<Position, 'received_head'>;

/**
 * Stores the mark that a destination has reached, and the end of its next batch of records. Without a mark, the same batch is
 * next. A new destination starts with the oldest record. Must run inside a write. Returns the position.
 */
export function movePosition(app: App, destination: Destination, mark?: Mark): Position {
  const { db } = app;
  const { digest, name } = destination;
  if (!positionOf(app, destination))
    db.insert('audit_sink', { name, destination: digest, received: oldestId(app) - 1 });
  const position = present(positionOf(app, destination));
  if (!mark && position.batch_end !== null) return position;
  const moved = { ...position, ...mark };
  // Its missing records may have been removed meanwhile.
  const received = Math.max(moved.received, position.received);
  const head = nextHead(app, moved.received_head);
  const end = head && head.record_id <= received ? null : nextEnd(app, received, head?.record_id);
  const change = { received, received_head: moved.received_head, batch_end: end };
  db.update('audit_sink', position.id, { ...change, ...(mark && { error_message: '' }) });
  return { ...position, ...change };
}

/** Whether a destination is missing records or heads. */
export function hasMore(app: App, destination: Destination): boolean {
  const { received, received_head: head } = positionOf(app, destination) ?? { received: 0, received_head: 0 };
  return received < newestId(app) || nextHead(app, head) !== undefined;
}

/** A head queued for sinks. */
interface QueuedHead {
  readonly id: number;
  readonly record_id: number;
  readonly head: string;
}

const nextHead = ({ db }: Pick<App, 'db'>, received: number): QueuedHead | undefined =>
  db.get<QueuedHead>(sql`SELECT id, record_id, head FROM audit_head WHERE id > ${received} ORDER BY id LIMIT 1`);

/** Returns the id of the oldest record, or 1 without records. */
export const oldestId = ({ db }: Pick<App, 'db'>): number =>
  db.value<number | null>(sql`SELECT min(id) FROM audit_record`) ?? 1;

/** Returns the id of the newest record, or 0 without records. */
export const newestId = ({ db }: Pick<App, 'db'>): number =>
  db.value<number | null>(sql`SELECT max(id) FROM audit_record`) ?? 0;

/** Returns the id of the last record in the batch after a record, up to a maximum; null if there is none. */
function nextEnd({ db }: Pick<App, 'db'>, received: number, maxId: number = Number.MAX_SAFE_INTEGER): number | null {
  const rows = db.all<{ id: number; chain_id: number; bytes: number }>(sql`
    SELECT id, chain_id, octet_length(record) + octet_length(ifnull(private, 'null')) AS bytes
    FROM audit_record WHERE id > ${received} AND id <= ${maxId} ORDER BY id LIMIT ${maxRecords}`);
  let end: number | null = null;
  let size = 0;
  for (const { bytes, chain_id: chain, id } of rows) {
    size += bytes + addedBytes;
    if (end !== null && (size > maxBytes || chain !== rows[0]?.chain_id)) break;
    end = id;
  }
  return end;
}

interface RecordRow extends Omit<SinkRecord, 'line'> {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
  readonly record: string;
  readonly private: string | null;
}

/** Returns the next batch: a head whose record was received, or records. Undefined if there is neither. */
export function readBatch(app: Pick<App, 'db'>, position: Position): (Batch & { readonly mark: Mark }) | undefined {
  const { batch_end: end, received, received_head: receivedHead } = position;
  if (end !== null) return readRecords(app, received, end);
  const head = nextHead(app, receivedHead);
  if (!head || head.record_id > received) return undefined;
  const { at, chain }: Head = JSON.parse(head.head);
  const record = { at, operation: 'head', outcome: 'done', line: `{"head":${head.head}}` } as const;
  return { key: `${chain}:head-${head.id}`, records: [record], mark: { received_head: head.id } };
}

function readRecords({ db }: Pick<App, 'db'>, received: number, end: number): ReturnType<typeof readBatch> {
  const rows = db.all<RecordRow>(sql`
    SELECT c.uuid AS chain, r.sequence, r.record ->> '$.at' AS at, r.operation, r.outcome, r.hash, r.record, r.private
    FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
    WHERE r.id > ${received} AND r.id <= ${end} ORDER BY r.id`);
  const [first, last] = [rows[0], rows.at(-1)];
  if (!first || !last) return undefined;
  const records = rows.map(({ at, hash: digest, operation, outcome, private: hidden, record }) => ({
    ...{ at, operation, outcome },
    line: lineOf(record, hidden, digest),
  }));
  return { key: `${first.chain}:${first.sequence}-${last.sequence}`, records, mark: { received: end } };
}

/** Queues a head for the sinks, unless its record was removed or belongs to another history. Must run inside a write. */
export const queueHead = ({ db }: Pick<App, 'db'>, head: Head): void =>
  void db.run(sql`
    INSERT INTO audit_head (record_id, head)
    SELECT r.id, ${JSON.stringify(head)} FROM audit_chain c JOIN audit_record r ON r.id = c.first_id + ${head.sequence} - 1
    WHERE c.uuid = ${head.chain} AND r.hash = ${head.hash}`);

/** Queues logged heads that are not queued yet, after `rotate-key` or a kill between logging and queueing. */
export function queueLoggedHeads({ auditHeads: { folder }, db }: App): void {
  if (folder === undefined) return;
  const queued = new Set(db.values<string>(sql`SELECT head FROM audit_head`));
  const log = readHeadsLog(folder);
  const missing = [...log.replaced, ...log.heads].filter((head) => !queued.has(JSON.stringify(head)));
  if (missing.length > 0)
    db.write(() => {
      for (const head of missing) queueHead({ db }, head);
    });
}

/** Stores the error of the last attempt. Must run inside a write. */
export const storeFailure = ({ db }: Pick<App, 'db'>, { digest, name }: Destination, message: string): void =>
  void db.run(sql`
    UPDATE audit_sink SET error_message = ${message}
    WHERE name = ${name} AND destination = ${digest} AND error_message <> ${message}`);
