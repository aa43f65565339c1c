import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { App } from '../../../kernel/app.ts';
import type { Config } from '../../../kernel/config/config.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { namesOf, present } from '../../../kernel/present.ts';
import type { Batch, SinkName, SinkRecord } from './sink.ts';

/** Limits of a batch. A record that is larger than a batch is sent alone. */
const maxRecords = 500;
const maxBytes = 1024 * 1024;

/** A record as one line of JSON: the hashed text, with the private part and the hash behind its members. */
const lineOf = (record: string, hidden: string | null, digest: string): string =>
  `${record.slice(0, -1)},"private":${hidden},"hash":"${digest}"}`;
/** Bytes that a line, with its end, has besides the two texts. */
const addedBytes = lineOf('}', '', '0'.repeat(64)).length;

/** The destination of a sink. Its address may contain a secret. */
export interface Destination {
  readonly name: SinkName;
  readonly address: string;
  readonly digest: string;
}

/** The position of a destination in the trail. */
interface Position {
  readonly id: number;
  readonly received: number;
  readonly batch_end: number | null;
  readonly error_message: string;
  readonly is_behind: number;
}

/** Returns the destinations that the settings name. */
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
    SELECT id, received, batch_end, error_message, is_behind FROM audit_sink
    WHERE name = ${name} AND destination = ${digest}`);

/**
 * Stores that a destination has received the records up to an id, and where its next batch ends; undefined: nothing new, the same
 * batch is next. A new destination begins with the oldest record. Must run inside a write. Returns the position.
 */
export function movePosition(app: App, destination: Destination, received?: number): Position {
  const { db } = app;
  const { digest, name } = destination;
  if (!positionOf(app, destination))
    db.insert('audit_sink', { name, destination: digest, received: oldestId(app) - 1 });
  const position = present(positionOf(app, destination));
  if (received === undefined && position.batch_end !== null) return position;
  const last = received ?? position.received;
  const change = { received: last, batch_end: nextEnd(app, last) };
  db.update('audit_sink', position.id, { ...change, ...(received !== undefined && { error_message: '' }) });
  return { ...position, ...change };
}

/** Returns the id of the oldest record, or 1 without records. */
export const oldestId = ({ db }: Pick<App, 'db'>): number =>
  db.value<number | null>(sql`SELECT min(id) FROM audit_record`) ?? 1;

/** Returns the id of the newest record, or 0 without records. */
export const newestId = ({ db }: Pick<App, 'db'>): number =>
  db.value<number | null>(sql`SELECT max(id) FROM audit_record`) ?? 0;

/** Returns the id of the last record of the batch that follows a record; null if there is none. */
function nextEnd({ db }: Pick<App, 'db'>, received: number): number | null {
  const rows = db.all<{ id: number; chain_id: number; bytes: number }>(sql`
    SELECT id, chain_id, octet_length(record) + octet_length(ifnull(private, 'null')) AS bytes
    FROM audit_record WHERE id > ${received} ORDER BY id LIMIT ${maxRecords}`);
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
  readonly record: string;
  readonly private: string | null;
}

/** Returns the records behind one that a sink has received, up to the end of a batch; undefined if they were removed. */
export function readBatch({ db }: Pick<App, 'db'>, received: number, end: number): Batch | undefined {
  const [first, ...rest] = db
    .all<RecordRow>(sql`
      SELECT c.uuid AS chain, r.sequence, r.record ->> '$.at' AS at, r.operation, r.outcome, r.hash, r.record, r.private
      FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
      WHERE r.id > ${received} AND r.id <= ${end} ORDER BY r.id`)
    .map(({ private: hidden, record, ...row }) => ({ ...row, line: lineOf(record, hidden, row.hash) }));
  return first && { chain: first.chain, end, records: [first, ...rest] };
}

/** Stores why the last attempt failed. Must run inside a write. */
export const storeFailure = ({ db }: Pick<App, 'db'>, { digest, name }: Destination, message: string): void =>
  void db.run(sql`
    UPDATE audit_sink SET error_message = ${message}
    WHERE name = ${name} AND destination = ${digest} AND error_message <> ${message}`);
