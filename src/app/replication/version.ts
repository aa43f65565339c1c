import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

/** How far a database has come: two of the same epoch have the same history up to the smaller number. */
export interface Version {
  /** Grows when a copy is promoted. */
  readonly epoch: number;
  /** Grows with every request that writes. */
  readonly number: number;
}

/** The header in which a server tells the version of what it has written, and a client that of what it wants to read. */
export const versionHeader = 'X-Tenantry-Version';

export const versionOf = (db: Database): Version =>
  db.get<Version>(sql`SELECT epoch, version AS number FROM deployment`) ?? { epoch: 0, number: 0 };

/** Counts a request that writes; answers the version that it makes. Only inside a write. */
export function nextVersion(db: Database): Version {
  db.run(sql`UPDATE deployment SET version = version + 1`);
  return versionOf(db);
}

export const textOf = ({ epoch, number }: Version): string => `${epoch}-${number}`;

/** What a header says; undefined for what is no version. */
export function readVersion(header: string | readonly string[] | undefined): Version | undefined {
  const [, epoch, number] = /^(\d{1,15})-(\d{1,15})$/.exec(String(header ?? '')) ?? [];
  return epoch === undefined ? undefined : { epoch: Number(epoch), number: Number(number) };
}

/** Whether a database has everything that is wanted. What was written in an older epoch and not taken over will never come. */
export const hasReached = (present: Version, wanted: Version): boolean =>
  present.epoch > wanted.epoch || (present.epoch === wanted.epoch && present.number >= wanted.number);
