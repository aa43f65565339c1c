/** A second factor as a request presents it (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { optional, type Values } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';
import { caseFold } from '../../../kernel/db/sql.ts';
import { invalidRequest } from '../../../kernel/http/error.ts';
import { countFailure, lockOf } from '../../../kernel/security/lockout.ts';
import { notifySecurity } from '../../users/notices.ts';
import type { UserRow } from '../../users/users.ts';
import { codeLockOf, countFactorFailure } from './code-lock.ts';
import { hasFactor } from './factor-store.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { loadTotp, type TotpMaker, useTotp } from './totp.ts';

/** Longer than any code with blanks between its characters. */
const maxCodeLength = 40;
const presentedCode = (example: string, help: string) =>
  optional(text({ max: maxCodeLength, required: true, example, help }));

/** The members of a body that present a second factor. */
export const factorFields = {
  code: presentedCode('123456', 'The current code of the authenticator app.'),
  recovery_code: presentedCode('abcde-fgh23', 'One of the recovery codes, each of which works once.'),
};

type FactorValues = Values<typeof factorFields>;

/** A second factor that a request presents. */
export interface PresentedFactor {
  readonly member: keyof FactorValues;
  readonly value: string;
}

/** Throws 400 unless exactly one of the members has a value. Returns its name. */
export function exactlyOne<K extends string>(values: Readonly<Partial<Record<K, unknown>>>, members: readonly K[]): K {
  const [given, ...others] = members.filter((name) => values[name] !== undefined);
  if (given !== undefined && others.length === 0) return given;
  const names = `${members.slice(0, -1).join(', ')} and ${members.at(-1)}`;
  throw invalidRequest(`Exactly one of ${names} is required.`);
}

/** Returns the one second factor of a body. Throws 400. */
export function presentedFactor(values: FactorValues): PresentedFactor {
  const member = exactlyOne(values, ['code', 'recovery_code']);
  return { member, value: values[member] ?? '' };
}

/** Loads what the verification of factors needs, outside of the transaction. */
export const loadFactors = (): Promise<TotpMaker> => loadTotp();

/** Returns how long, in microseconds, a user's factor is locked for the client (core.md 2.1, 2.11); undefined if it is not. */
export function factorLockOf(request: Request, user: UserRow): number | undefined {
  const { address, db, now } = request;
  const waits = [lockOf(db, caseFold(user.username), address, now), codeLockOf(request, user.id)].flatMap(
    (wait) => wait ?? [],
  );
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * Verifies a second factor of a user that is not locked, and stores its use or its failure. Returns whether it is correct. Must
 * run inside a write that the caller completes in both cases.
 */
export function useFactor(
  request: Request,
  user: UserRow,
  { member, value }: PresentedFactor,
  maker: TotpMaker,
): boolean {
  const isCorrect =
    member === 'code' ? useTotp(request, user.id, value, maker) : useRecoveryCode(request, user.id, value);
  if (!isCorrect) {
    countFailure(request.db, caseFold(user.username), request.address, request.now);
    if (hasFactor(request.db, user.id)) countFactorFailure(request, user);
  } else if (member === 'recovery_code') notifySecurity(request, user, 'recovery_code_used');
  return isCorrect;
}
