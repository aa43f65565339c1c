/** Stores the second factors of users (core.md 2.11). */
import type { Context } from '../../../kernel/access/context.ts';
import type { Request } from '../../../kernel/access/request.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { notifySecurity } from '../../users/notices.ts';
import type { UserRow } from '../../users/users.ts';
import { hasRecoveryCodes } from './recovery-codes.ts';
import { relyingPartyOf } from './relying-party.ts';

/** Kinds of second factors. */
export const factorKinds = ['totp', 'passkey'] as const;
type FactorKind = (typeof factorKinds)[number];

/** Ways to present a second factor, in response order. */
export const factorMethods = [...factorKinds, 'recovery_code'] as const;
type FactorMethod = (typeof factorMethods)[number];

/** The maximum number of second factors of a user. */
const maxFactors = 10;

/** Returns why the user cannot add a second factor; undefined if they can. */
export const tooManyFactors = (db: Database, user: number): string | undefined =>
  db.scalar<number>(sql`SELECT count(*) FROM second_factor WHERE user_id = ${user}`) >= maxFactors
    ? `You already have ${maxFactors} second factors.`
    : undefined;

/** Whether logins of a user require a second factor. */
export const hasFactor = (db: Database, user: number): boolean =>
  db.value(sql`SELECT 1 FROM second_factor WHERE user_id = ${user}`) !== undefined;

/** Returns the ways in which a user can present a second factor here; none without a factor. */
export function methodsOf(request: Request, user: number): readonly FactorMethod[] {
  const { db } = request;
  const kinds = new Set(
    db.values<FactorKind>(sql`SELECT DISTINCT kind FROM second_factor WHERE user_id = ${user} ORDER BY kind`),
  );
  // Without a domain, the service has no passkeys.
  if (!relyingPartyOf(request)) kinds.delete('passkey');
  return factorMethods.filter((method) =>
    method === 'recovery_code' ? hasRecoveryCodes(db, user) : kinds.has(method),
  );
}

/** Removes a second factor. Removing the last one also ends the recovery codes and pending logins. */
export function removeFactor(context: Context, user: UserRow, factor: number): void {
  const { db } = context.app;
  db.run(sql`DELETE FROM second_factor WHERE id = ${factor}`);
  notifySecurity(context, user, 'second_factor_removed');
  if (hasFactor(db, user.id)) return;
  db.run(sql`DELETE FROM recovery_code WHERE user_id = ${user.id}`);
  db.run(sql`DELETE FROM pending_login WHERE user_id = ${user.id}`);
}
