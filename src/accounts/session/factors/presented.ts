/** Second factors in requests (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { optional, secretField, type Values } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';
import { caseFold } from '../../../kernel/db/sql.ts';
import { invalidRequest } from '../../../kernel/http/error.ts';
import { countFailure, lockOf } from '../../../kernel/security/lockout.ts';
import { notifySecurity } from '../../users/notices.ts';
import type { UserRow } from '../../users/users.ts';
import { codeLockOf, countFactorFailure } from './code-lock.ts';
import { hasFactor } from './factor-store.ts';
import type { ExpectedChallenges } from './passkey-challenges.ts';
import { type PresentedPasskey, usePasskey, verifyPasskey } from './passkeys.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { loadTotp, type TotpMaker, useTotp } from './totp.ts';
import { type Credential, usedCredentialField } from './webauthn.ts';

/** Exceeds any code with spaces between its characters. */
const maxCodeLength = 40;
const presentedCode = (example: string, help: string) =>
  optional(secretField(text({ max: maxCodeLength, required: true, example, help })));

/** Body members that present a second factor. */
export const factorFields = {
  code: presentedCode('123456', 'The current code of the authenticator app.'),
  recovery_code: presentedCode('abcde-fgh23', 'One of the recovery codes, each of which works once.'),
  passkey: optional(usedCredentialField),
};

type FactorValues = Values<typeof factorFields>;

/** A second factor in a request. */
type PresentedFactor =
  | { readonly member: 'code' | 'recovery_code'; readonly value: string }
  | { readonly member: 'passkey'; readonly value: Credential };

/** A second factor that is ready for verification inside a transaction. */
export type PreparedFactor =
  | { readonly member: 'code'; readonly value: string; readonly maker: TotpMaker }
  | { readonly member: 'recovery_code'; readonly value: string }
  | { readonly member: 'passkey'; readonly passkey: PresentedPasskey };

/** Returns the name of the only member with a value. Throws 400 unless there is exactly one. */
export function exactlyOne<K extends string>(values: Readonly<Partial<Record<K, unknown>>>, members: readonly K[]): K {
  const [given, ...others] = members.filter((name) => values[name] !== undefined);
  if (given !== undefined && others.length === 0) return given;
  const names = `${members.slice(0, -1).join(', ')} and ${members.at(-1)}`;
  throw invalidRequest(`Exactly one of ${names} is required.`);
}

/** Returns the second factor in a body. Throws 400. */
export function presentedFactor(values: FactorValues): PresentedFactor {
  const member = exactlyOne(values, ['code', 'recovery_code', 'passkey']);
  if (member === 'passkey') return { member, value: values.passkey ?? {} };
  return { member, value: values[member] ?? '' };
}

/**
 * Prepares the verification of a user's factor outside the transaction: loads libraries and verifies the signature of a passkey.
 * Throws 400 for a passkey if the service has no domain.
 */
export async function prepareFactor(
  request: Request,
  user: number,
  presented: PresentedFactor,
  challenges: ExpectedChallenges,
): Promise<PreparedFactor> {
  const { member, value } = presented;
  if (member === 'passkey') return { member, passkey: await verifyPasskey(request, value, challenges, user) };
  return member === 'code' ? { member, value, maker: await loadTotp() } : { member, value };
}

/**
 * Returns how long a user's factor remains locked for the client, in microseconds (core.md 2.1, 2.11); undefined if it is not
 * locked. The code lock does not apply to passkeys, which no client can guess.
 */
export function factorLockOf(
  request: Request,
  user: UserRow,
  { member }: Pick<PresentedFactor, 'member'>,
): number | undefined {
  const { address, db, now } = request;
  const codeLock = member === 'passkey' ? undefined : codeLockOf(request, user.id);
  const waits = [lockOf(db, caseFold(user.username), address, now), codeLock].flatMap((wait) => wait ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * Verifies an unlocked second factor, and stores its use or failure. Returns whether it is correct. Must run inside a write that
 * commits in both cases.
 */
export function useFactor(
  request: Request,
  user: UserRow,
  factor: PreparedFactor,
  challenges: ExpectedChallenges,
): boolean {
  const isCorrect = isAccepted(request, user, factor, challenges);
  if (!isCorrect) {
    countFailure(request.db, caseFold(user.username), request.address, request.now);
    if (hasFactor(request.db, user.id)) countFactorFailure(request, user);
  } else if (factor.member === 'recovery_code') notifySecurity(request, user, 'recovery_code_used');
  return isCorrect;
}

function isAccepted(
  request: Request,
  { id }: UserRow,
  factor: PreparedFactor,
  challenges: ExpectedChallenges,
): boolean {
  if (factor.member === 'passkey') return usePasskey(request, factor.passkey, challenges);
  return factor.member === 'code'
    ? useTotp(request, id, factor.value, factor.maker)
    : useRecoveryCode(request, id, factor.value);
}
