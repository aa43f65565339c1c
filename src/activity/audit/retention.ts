/** Removal of old audit records (audit.md 10). */
import type { Context } from '../../kernel/access/context.ts';
import { day, hour } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import { auditTime } from './append.ts';
import { auditHousekeeping } from './events.ts';
import { signHead } from './heads.ts';
import { destinationsOf, positionOf } from './sinks/positions.ts';

/** Number of records to remove at once, with one checkpoint. */
const blockSize = 500;

/** How much longer to store a record for sinks that have not received it. */
const maxWait = 30 * day;

interface OldRecord {
  readonly id: number;
  readonly at: number;
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
}

/** The task that removes records older than audit_retention. */
export const removingOldRecords: Task = {
  name: 'remove old audit records',
  every: hour,
  removes: true,
  run: (context) => removeBlock(context) === blockSize,
};

/**
 * Removes at most a block of the oldest records, adds a signed checkpoint before the next record, and records the number of
 * removed records, in one transaction. Always keeps the newest record. Returns the number.
 */
function removeBlock(context: Context): number {
  const { app, now } = context;
  const { config, db } = app;
  const { audit_retention: retention } = config;
  if (retention === null) return 0;
  const missed = firstMissed(app);
  const candidates = db.all<OldRecord>(sql`
    SELECT r.id, r.at, c.uuid AS chain, r.sequence, r.hash
    FROM audit_record r JOIN audit_chain c ON c.id = r.chain_id
    WHERE r.id < (SELECT max(id) FROM audit_record) ORDER BY r.id LIMIT ${blockSize}`);
  // The clock may have been set back: a younger record also protects the records after it.
  const end = candidates.findIndex(({ at, id }) => at >= now - retention - (id < missed ? 0 : maxWait));
  const old = end < 0 ? candidates : candidates.slice(0, end);
  const last = old.at(-1);
  if (!last) return 0;
  const { chain, hash, id, sequence } = last;
  const checkpoint = signHead(app, { chain, sequence, hash, at: auditTime(now), removed: old.length });
  db.write(() => {
    db.run(sql`DELETE FROM audit_record WHERE id <= ${id}`);
    // Keep the newest head, so that its id is never reused.
    db.run(sql`DELETE FROM audit_head WHERE record_id <= ${id} AND id < (SELECT max(id) FROM audit_head)`);
    // Sinks that are too far behind continue after the checkpoint.
    db.run(sql`UPDATE audit_sink SET received = ${id}, batch_end = NULL WHERE received < ${id}`);
    db.insert('audit_checkpoint', { id, head: JSON.stringify(checkpoint) });
    auditHousekeeping(context, removingOldRecords.name, old.length);
  });
  if (id >= missed) app.log.warn({ records: id - missed + 1 }, 'removed audit records that a sink has not received');
  return old.length;
}

/** Returns the id of the first record that a configured sink has not received; Infinity without sinks. */
const firstMissed = (app: Context['app']): number =>
  Math.min(
    ...destinationsOf(app.config).map((destination) => (positionOf(app, destination)?.received ?? 0) + 1),
    Number.POSITIVE_INFINITY,
  );
