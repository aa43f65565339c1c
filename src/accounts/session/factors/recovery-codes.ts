/** Recovery codes. Each replaces a second factor once (core.md 2.11). */
import type { Context } from '../../../kernel/access/context.ts';
import type { App } from '../../../kernel/app.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { digestOf, knownDigestOf } from '../../../kernel/security/digests.ts';

const codeCount = 10;
/** A code has 10 characters of 5 bits. */
const codeLength = 10;
/** Base32 (RFC 4648) in lower case. It lacks 0 and 1, which look like letters. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** The purpose of the keyed digests. An unkeyed digest of only 50 bits could be reversed. */
const purposeOf = (user: number): string => `recovery code of user ${user}`;

/** Returns a random code without the dash. Uses 5 bits of each byte. */
const newCode = ({ random }: App): string =>
  [...random(codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('');

/** Normalises a code for comparison, ignoring case, dashes and spaces. */
const bare = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '');

/** Replaces the codes of a user by ten new ones, and returns them as `xxxxx-xxxxx`. Must run inside a write. */
export function replaceRecoveryCodes({ app }: Context, user: number): string[] {
  app.db.run(sql`DELETE FROM recovery_code WHERE user_id = ${user}`);
  return Array.from({ length: codeCount }, () => {
    const code = newCode(app);
    app.db.insert('recovery_code', { user_id: user, digest: digestOf(app, purposeOf(user), code) });
    return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
  });
}

/** Whether a user has unused codes. */
export const hasRecoveryCodes = (db: Database, user: number): boolean =>
  db.value(sql`SELECT 1 FROM recovery_code WHERE user_id = ${user}`) !== undefined;

/** Consumes a code of a user. Returns whether it was valid. Must run inside a write. */
export function useRecoveryCode({ app }: Context, user: number, code: string): boolean {
  const digest = knownDigestOf(app, purposeOf(user), bare(code));
  if (digest === undefined) return false;
  return app.db.run(sql`DELETE FROM recovery_code WHERE user_id = ${user} AND digest = ${digest}`).changes > 0;
}
