import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';

/** The failure of a provider. */
export interface ProviderFailure {
  /** Time of the first failure since the last success, in microseconds. */
  readonly since: number;
  /** The last reason. */
  readonly message: string;
}

/** Stores the failures of providers by issuer. */
export interface FailureStore {
  load(issuer: string): ProviderFailure | undefined;
  /** Stores a failure, or removes it. Never throws: a login does not depend on it. */
  save(issuer: string, failure: ProviderFailure | undefined): void;
}

/** Returns the failures in a database. */
export const failuresIn = (db: Database): FailureStore => ({
  load: (issuer) => db.get<ProviderFailure>(sql`SELECT since, message FROM oidc_failure WHERE issuer = ${issuer}`),
  save: (issuer, failure) => {
    try {
      db.write(() => {
        if (failure === undefined) db.run(sql`DELETE FROM oidc_failure WHERE issuer = ${issuer}`);
        else
          db.run(sql`
            INSERT INTO oidc_failure (issuer, since, message) VALUES (${issuer}, ${failure.since}, ${failure.message})
            ON CONFLICT DO UPDATE SET since = excluded.since, message = excluded.message`);
      });
    } catch {
      // A full disk or an expired lease: the server still knows the failure.
    }
  },
});

/** Returns the stored failures, with the issuers. */
export const storedFailures = (db: Database): readonly (ProviderFailure & { readonly issuer: string })[] =>
  db.all(sql`SELECT issuer, since, message FROM oidc_failure ORDER BY issuer`);

/** Removes the failures of all issuers except these. Begins a write only if there are any. */
export function removeOtherFailures(db: Database, issuers: readonly string[]): void {
  const others = storedFailures(db).filter(({ issuer }) => !issuers.includes(issuer));
  if (others.length === 0) return;
  db.write(() => {
    for (const { issuer } of others) db.run(sql`DELETE FROM oidc_failure WHERE issuer = ${issuer}`);
  });
}
