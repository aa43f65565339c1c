import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

/** The version of a database. Two versions of the same epoch share their history up to the smaller number. */
export interface Version {
  /** Incremented by each promotion. */
  readonly epoch: number;
  /** Incremented by every request that writes. */
  readonly number: number;
}

/** The header with the version of a write, or the version that a client requires for a read. */
export const versionHeader = 'X-Tenantry-Version';

export const versionOf = (db: Database): Version =>
  db.get<Version>(sql`SELECT epoch, version AS number FROM deployment`) ?? { epoch: 0, number: 0 };

/** Increments and returns the version for a request that writes. Must run in its transaction. */
export function nextVersion(db: Database): Version {
  db.run(sql`UPDATE deployment SET version = version + 1`);
  return versionOf(db);
}

export const textOf = ({ epoch, number }: Version): string => `${epoch}-${number}`;

/** Parses a header; undefined if it is not a version. */
export function readVersion(header: string | readonly string[] | undefined): Version | undefined {
  const [, epoch, number] = /^(\d{1,15})-(\d{1,15})$/.exec(String(header ?? '')) ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), number: Number(number) };
}

/** Whether a database includes a version. Writes of an older epoch that the promoted copy lacked are lost. */
export const hasReached = (present: Version, required: Version): boolean =>
  present.epoch > required.epoch || (present.epoch === required.epoch && present.number >= required.number);
