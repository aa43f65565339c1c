import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { FieldError, inputOf, messages, type WritableField, wrap } from '../../kernel/collection/field.ts';
import { describedAs, numberAsText } from '../../kernel/collection/values.ts';
import type { Config } from '../../kernel/config/config.ts';
import { caseFold } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { countFailure, lockOf } from '../../kernel/security/lockout.ts';

/** What of a user matters to passwords. */
interface Holder {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly password_hash: string | null;
}

/** The text about a username that is locked for an address (core.md 2.1). */
export const lockedText = 'Username is locked out. Try in 10 minutes.';

/** A rule of passwords, which says nothing about an empty one. */
const rule = (isIncluded: (password: string) => boolean, message: string) =>
  v.check((password: string) => password === '' || isIncluded(password), message);

/** What a new password keeps to; all broken rules are told, in this order (core.md 4.4). */
const schemaOf = (least: number) =>
  v.pipe(
    v.string(messages.string),
    v.check((password) => password !== '', messages.blank),
    rule((password) => /\d/.test(password), 'Ensure this field has at least one digit.'),
    rule((password) => /[a-z]/i.test(password), 'Ensure this field has at least one latin letter.'),
    describedAs(
      'min_length',
      least,
      rule((password) => [...password].length >= least, `Ensure this field has at least ${least} characters.`),
    ),
  );

/** The least that the setting password_min_length may be. */
const leastLength = 7;

/** Messages about a new password by the rules that need no user. */
export const passwordMessages = (config: Config, password: unknown): readonly string[] => {
  const result = v.safeParse(schemaOf(config.password_min_length), password);
  return result.success ? [] : result.issues.map(({ message }) => message);
};

/** A new password: not trimmed. Whether it is too weak for its user is `weakness`. */
export const passwordField: WritableField<string, true> = {
  type: 'string',
  help: 'At least 7 characters or as many as the service asks for, with a digit and a latin letter.',
  constraints: { min_length: leastLength },
  constraintsBy: ({ password_min_length: least }) => ({ min_length: least }),
  shape: { type: 'string', examples: ['correct-horse-1'] },
  input: inputOf(
    { required: true },
    {
      schema: v.string(messages.string),
      shape: { type: 'string', minLength: leastLength },
      coerce: numberAsText,
      resolve: (password, { config }) => {
        const reports = passwordMessages(config, password);
        if (reports.length > 0) throw new FieldError(reports);
        return password;
      },
    },
  ),
};

/** A password that the user has already: taken as it is. */
export const presentedPassword: WritableField<string, true> = {
  type: 'string',
  constraints: {},
  shape: { type: 'string', examples: ['correct-horse-1'] },
  input: inputOf(
    { required: true },
    {
      schema: v.pipe(
        v.string(messages.string),
        v.check((password) => password !== '', messages.blank),
      ),
      // Clients are told a bound that is not judged here: a password above it is as wrong or right as any other.
      shape: { type: 'string', maxLength: 4096 },
      coerce: numberAsText,
    },
  ),
};

let common: ReadonlySet<string> | undefined;

/** Reads the list of common passwords, which `weakness` looks into; it takes some milliseconds and megabytes. */
export async function loadCommonPasswords(): Promise<void> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  common ??= new Set(dictionary['passwords-common']);
}

/** From how many characters on a part of a password counts as one that others know. */
const shortestKnown = 4;

/** Messages about a password that is too easily guessed of this user, with the setting password_refuse_weak (core.md 4.4). */
export function weakness(
  { password_refuse_weak: isEvaluated }: Config,
  password: string,
  { email, username }: Pick<Holder, 'email' | 'username'>,
): readonly string[] {
  if (!isEvaluated) return [];
  if (!common) throw new Error('The list of common passwords has not been loaded');
  const folded = caseFold(password);
  const known = [username, email.split('@')[0] ?? ''].map(caseFold);
  const isSimilar = known.some((text) => [...text].length >= shortestKnown && folded.includes(text));
  return [
    ...(isSimilar ? ['The password is too similar to the username.'] : []),
    ...(common.has(folded) ? ['This password is too common.'] : []),
  ];
}

/** Throws 400 about a password that is too easily guessed of this user. */
export function rejectWeak(config: Config, password: string, holder: Pick<Holder, 'email' | 'username'>): void {
  const reports = weakness(config, password, holder);
  if (reports.length > 0) throw invalid({ password: reports });
}

/** `current_password`: read with the setting password_requires_current only, otherwise ignored whatever it holds. */
export const currentPasswordField: WritableField<string | undefined, false> = {
  ...presentedPassword,
  help: 'The present password, for a change of the own password or email where the service asks for it.',
  input: {
    ...wrap(
      presentedPassword,
      (parse) => (value, request, form) =>
        request.config.password_requires_current ? parse(value, request, form) : '',
    ).input,
    required: false,
  },
};

/** Whether a change of password or email needs the present password: one's own, of somebody who has one (core.md 4.4). */
export const needsCurrentPassword = ({ caller, config }: Request, user: Holder): boolean =>
  config.password_requires_current && caller.id === user.id && user.password_hash !== null;

/** Messages about a present password that is needed and not there. */
export const missingCurrent = (request: Request, user: Holder, values: string | undefined): readonly string[] =>
  needsCurrentPassword(request, user) && values === undefined ? [messages.required] : [];

/**
 * Compares the present password, at the cost of a login and with its locks: a wrong one counts as a failed login. Rejects 400,
 * 503.
 */
export async function verifyCurrent({ address, app, db, now }: Request, user: Holder, values: string): Promise<void> {
  const username = caseFold(user.username);
  const rejectLocked = (): void => {
    if (lockOf(db, username, address, now) !== undefined) throw invalid({ current_password: [lockedText] });
  };
  rejectLocked();
  const isRight = await app.passwords.matches(values, user.password_hash, address);
  // Looked at again: other attempts may have failed while this one was being compared.
  rejectLocked();
  if (isRight) return;
  db.write(() => countFailure(db, username, address, now));
  throw invalid({ current_password: ['Wrong password.'] });
}
