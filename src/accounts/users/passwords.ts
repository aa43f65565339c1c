import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { FieldError, inputOf, messages, type WritableField, wrap } from '../../kernel/collection/field.ts';
import { describeSchema, numberAsText } from '../../kernel/collection/values.ts';
import type { Config } from '../../kernel/config/config.ts';
import { caseFold } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { countFailure, lockOf } from '../../kernel/security/lockout.ts';

/** User columns for password rules. */
interface Holder {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly password_hash: string | null;
}

/** The message about a username that is locked for an address (core.md 2.1). */
export const lockedText = 'Username is locked out. Try in 10 minutes.';

/** Creates a password rule. Ignores an empty password, which has a separate message. */
const rule = (isMet: (password: string) => boolean, message: string) =>
  v.check((password: string) => password === '' || isMet(password), message);

/** Returns the rules for a new password. Reports every broken rule, in this order (core.md 4.4). */
const schemaOf = (minLength: number) =>
  v.pipe(
    v.string(messages.string),
    v.check((password) => password !== '', messages.blank),
    rule((password) => /\d/.test(password), 'Ensure this field has at least one digit.'),
    rule((password) => /[a-z]/i.test(password), 'Ensure this field has at least one latin letter.'),
    describeSchema(
      'min_length',
      minLength,
      rule((password) => [...password].length >= minLength, `Ensure this field has at least ${minLength} characters.`),
    ),
  );

/** Minimum of password_min_length. */
const minMinLength = 7;

/** Checks a new password by the rules that do not depend on the user. Returns messages. */
export const passwordMessages = (config: Config, password: unknown): readonly string[] => {
  const result = v.safeParse(schemaOf(config.password_min_length), password);
  return result.success ? [] : result.issues.map(({ message }) => message);
};

/** A new password, untrimmed. `weaknessMessages` checks the rules that depend on the user. */
export const passwordField: WritableField<string, true> = {
  type: 'string',
  help: 'At least 7 characters or as many as the service requires, with a digit and a latin letter.',
  constraints: { min_length: minMinLength },
  constraintsBy: ({ password_min_length: minLength }) => ({ min_length: minLength }),
  shape: { type: 'string', examples: ['correct-horse-1'] },
  input: inputOf(
    { required: true },
    {
      schema: v.string(messages.string),
      shape: { type: 'string', minLength: minMinLength },
      coerce: numberAsText,
      resolve: (password, { config }) => {
        const violations = passwordMessages(config, password);
        if (violations.length > 0) throw new FieldError(violations);
        return password;
      },
    },
  ),
};

/** An existing password. No rules apply. */
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
      // Documented but not enforced: a longer password is compared like any other.
      shape: { type: 'string', maxLength: 4096 },
      coerce: numberAsText,
    },
  ),
};

let common: ReadonlySet<string> | undefined;

/** Loads the list of common passwords for `weaknessMessages`, which takes a few milliseconds and megabytes. */
export async function loadCommonPasswords(): Promise<void> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  common ??= new Set(dictionary['passwords-common']);
}

/** Minimum length of a username or email for the similarity rule. */
const minSimilarLength = 4;

/** Returns messages about an easily guessed password, if password_refuse_weak is on (core.md 4.4). */
export function weaknessMessages(
  { password_refuse_weak: isOn }: Config,
  password: string,
  { email, username }: Pick<Holder, 'email' | 'username'>,
): readonly string[] {
  if (!isOn) return [];
  if (!common) throw new Error('The list of common passwords has not been loaded');
  const folded = caseFold(password);
  const names = [username, email.split('@')[0] ?? ''].map(caseFold);
  const isSimilar = names.some((text) => [...text].length >= minSimilarLength && folded.includes(text));
  return [
    ...(isSimilar ? ['The password is too similar to the username.'] : []),
    ...(common.has(folded) ? ['This password is too common.'] : []),
  ];
}

/** Throws 400 for an easily guessed password. */
export function rejectWeak(config: Config, password: string, holder: Pick<Holder, 'email' | 'username'>): void {
  const messages = weaknessMessages(config, password, holder);
  if (messages.length > 0) throw invalid({ password: messages });
}

/** `current_password`. Ignored, whatever its value, unless password_requires_current is on. */
export const currentPasswordField: WritableField<string | undefined, false> = {
  ...presentedPassword,
  help: 'The current password, if the service requires it for a change of your own password or email.',
  input: {
    ...wrap(
      presentedPassword,
      (parse) => (value, request, form) =>
        request.config.password_requires_current ? parse(value, request, form) : '',
    ).input,
    required: false,
  },
};

/** Whether a change of password or email requires the current password: for callers who change their own (core.md 4.4). */
export const needsCurrentPassword = ({ caller, config }: Request, user: Holder): boolean =>
  config.password_requires_current && caller.userId === user.id && user.password_hash !== null;

/** Returns the message about a required but missing current password. */
export const missingCurrent = (request: Request, user: Holder, current: string | undefined): readonly string[] =>
  needsCurrentPassword(request, user) && current === undefined ? [messages.required] : [];

/** Verifies the current password in `member` of the body. A wrong one counts as a failed login. Rejects with 400 or 503. */
export async function verifyCurrent(
  { address, app, db, now }: Request,
  user: Holder,
  current: string,
  member = 'current_password',
): Promise<void> {
  const username = caseFold(user.username);
  const rejectLocked = (): void => {
    if (lockOf(db, username, address, now) !== undefined) throw invalid({ [member]: [lockedText] });
  };
  rejectLocked();
  const isCorrect = await app.passwords.matches(current, user.password_hash, address);
  // Check again: other attempts may have failed during the comparison.
  rejectLocked();
  if (isCorrect) return;
  db.write(() => countFailure(db, username, address, now));
  throw invalid({ [member]: ['Wrong password.'] });
}
