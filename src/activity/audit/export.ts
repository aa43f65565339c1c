/** Exports the trail as NDJSON for `tenantry audit verify` (audit.md 6). */
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import { auditTime } from './append.ts';
import { newestStored, signHead } from './heads.ts';
import { newestCheckpoint, recordsAfter, type SentRecord } from './stored-trail.ts';

/** Selects the records to export. */
export interface ExportRange {
  /** Only records of this chain. */
  readonly chain?: string | undefined;
  /** Sequences in the chain. */
  readonly first?: number | undefined;
  readonly last?: number | undefined;
}

/** Number of records per chunk. No transaction is open between two chunks. */
const chunkSize = 200;

/** Returns the first and last record id of a range, inclusive. */
function idsOf(
  { db }: App,
  { chain, first = 1, last = Number.MAX_SAFE_INTEGER }: ExportRange,
): [from: number, to: number] {
  const newest = db.value<number | null>(sql`SELECT max(id) FROM audit_record`) ?? 0;
  if (chain === undefined) return [1, newest];
  const start = db.scalar<number>(sql`SELECT first_id FROM audit_chain WHERE uuid = ${chain}`);
  const next = db.value<number | null>(sql`SELECT min(first_id) FROM audit_chain WHERE first_id > ${start}`);
  return [start + first - 1, Math.min(start + last - 1, (next ?? newest + 1) - 1, newest)];
}

/**
 * Yields an export in chunks: a checkpoint if older records were removed, the records on disk, and a head that signs the last
 * record. Throws if records are removed meanwhile.
 */
export async function* exportLines(app: App, range: ExportRange): AsyncGenerator<string> {
  const { clock, db } = app;
  const newest = newestStored(app);
  const at = auditTime(clock.now());
  const [from, to] = idsOf(app, range);
  const checkpoint = newestCheckpoint(db);
  const oldest = db.value<number | null>(sql`SELECT min(id) FROM audit_record`) ?? 0;
  if (checkpoint && from <= oldest) yield `${JSON.stringify({ checkpoint })}\n`;
  let records = 0;
  let last: SentRecord | undefined;
  for (let next = Math.max(from, oldest); next <= to; ) {
    const rows = recordsAfter(db, next - 1, Math.min(chunkSize, to - next + 1));
    if (rows[0]?.id !== next) throw new Error('Records of the audit trail were removed during an export');
    records += rows.length;
    last = rows.at(-1);
    next += rows.length;
    yield rows.map(({ line }) => `${line}\n`).join('');
    await nextTurn();
  }
  const signed = last ?? newest;
  if (!signed) return;
  const { chain, hash, sequence } = signed;
  const newestOfChain = newestSequence(app, chain, newest);
  const head = signHead(app, {
    ...{ chain, sequence, hash, at, records },
    ...(newestOfChain > sequence && { newest: newestOfChain }),
  });
  yield `${JSON.stringify({ head })}\n`;
}

/** Returns the newest sequence of a chain at the start of the export. */
function newestSequence({ db }: App, chain: string, newest: ReturnType<typeof newestStored>): number {
  if (newest?.chain === chain) return newest.sequence;
  return db.scalar<number>(sql`
    SELECT (SELECT ifnull(min(n.first_id), c.first_id) FROM audit_chain n WHERE n.first_id > c.first_id) - c.first_id
    FROM audit_chain c WHERE c.uuid = ${chain}`);
}
