import { isStaff } from '../../kernel/access/caller.ts';
import type { Row } from '../../kernel/collection/collection.ts';
import {
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
  wrap,
  writeOnly,
} from '../../kernel/collection/field.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { booleanValue, textValue, timeValue } from '../../kernel/collection/representation.ts';
import { boolean, choice, email, integer, nullableText, orNull, text } from '../../kernel/collection/values.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { caseFold } from '../../kernel/db/sql.ts';
import { booleanWord } from '../../kernel/http/query.ts';
import { visibleIfConnected } from './directory.ts';
import { identitiesField } from './identities.ts';
import { currentPasswordField } from './passwords.ts';

export interface UserRow extends Row {
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
  readonly job_title: string;
  readonly email: string;
  readonly email_verified: number;
  readonly phone_number: string;
  readonly organization: string;
  readonly organization_approved: number;
  readonly civil_number: string | null;
  readonly description: string;
  readonly is_staff: number;
  readonly is_active: number;
  readonly is_support: number;
  /** The identity provider that granted `is_staff` and `is_support`, like the `source` of roles; null if none did. */
  readonly staff_source: string | null;
  readonly support_source: string | null;
  readonly is_service_account: number;
  readonly token_lifetime: number | null;
  readonly registration_method: string;
  readonly agreement_date: number | null;
  readonly preferred_language: string;
  readonly competence: string;
  readonly password_hash: string | null;
}

// Conditions of core.md 4.1 "Shown to".
const toSelfAndAll = 'u.id = @self OR @all';
const toAll = '@all';
const toSelfAndStaff = 'u.id = @self OR @staff';

/** SQL: whether logins of a user require a second factor (core.md 2.11). */
export const hasSecondFactor = 'EXISTS (SELECT 1 FROM second_factor WHERE user_id = u.id)';

// Only a true value agrees. No value is invalid, because the key is ignored if no agreement is needed.
const isTrueWord = (value: unknown): boolean => typeof value !== 'object' && booleanWord(String(value).trim()) === true;
const agreement = wrap(boolean({ help: 'User must agree with the policy.', storedIn: false }), () => isTrueWord);

/** All members of users, in order (core.md 4.1). */
export const userFields = {
  url: selfLink('users', 'u.uuid'),
  uuid: uuidField(),
  username: text({
    max: 30,
    required: true,
    example: 'carol',
    update: false,
    type: 'regex',
    normalize: (name) => name.normalize('NFKC'),
    pattern: [/^[\p{L}\p{M}\p{N}@.+_-]+$/u, 'Enter a valid username.'],
    help: 'Required. 30 characters or fewer. Letters, digits and @/./+/-/_ only.',
    unique: { column: 'username_folded', of: caseFold, message: () => 'user with this username already exists.' },
  }),
  full_name: text({ max: 100, example: 'Carol Jones' }),
  native_name: text({ max: 100 }),
  job_title: text({ max: 40 }),
  email: email({
    unique: {
      column: 'email_folded',
      of: foldedEmail,
      message: (address) => `User with email "${address}" already exists.`,
    },
  }),
  phone_number: text({ max: 255, shownIf: visibleIfConnected }),
  organization: text({ max: 80, shownIf: visibleIfConnected }),
  organization_approved: readOnly('boolean', { type: 'boolean' }, booleanValue, { shownIf: visibleIfConnected }),
  civil_number: nullableText({
    max: 50,
    update: false,
    shownIf: toSelfAndAll,
    unique: {
      column: 'civil_number',
      of: (value) => value,
      message: () => 'user with this civil number already exists.',
    },
  }),
  description: text({ max: 500, lines: 'many', update: isStaff, shownIf: toAll }),
  is_staff: boolean({
    update: isStaff,
    shownIf: toAll,
    help: 'Whether the user is staff, who can see and do everything.',
  }),
  is_active: boolean({
    fallback: true,
    update: isStaff,
    shownIf: toAll,
    help: 'Inactive users cannot log in. Use this instead of deleting.',
  }),
  is_support: boolean({ update: isStaff, help: 'Whether the user is global support, who can see everything.' }),
  token: readOnlyText(textValue('@token'), { shownIf: '@token IS NOT NULL AND u.id = @self' }),
  token_lifetime: orNull(
    integer({ min: 60, max: 2_147_483_647, shownIf: toSelfAndStaff, help: 'Token lifetime in seconds.' }),
  ),
  registration_method: readOnlyText(),
  date_joined: readOnlyTime(),
  agree_with_policy: writeOnly(agreement),
  current_password: writeOnly({
    ...currentPasswordField,
    input: { ...currentPasswordField.input, create: false, column: false },
  }),
  agreement_date: readOnlyTime(timeValue),
  preferred_language: choice({
    blank: true,
    choices: () => [
      ['en', 'English'],
      ['et', 'Eesti'],
    ],
  }),
  competence: choice({ blank: true, choices: () => [], chosenBy: (config) => config.user_competences }),
  has_second_factor: readOnly('boolean', { type: 'boolean' }, booleanValue(hasSecondFactor), {
    shownIf: toSelfAndStaff,
  }),
  is_service_account: readOnly('boolean', { type: 'boolean' }, booleanValue, { shownIf: 'u.is_service_account' }),
  identities: identitiesField({ update: isStaff, shownIf: toSelfAndStaff }),
};

/** Valid values of a user's fields. */
export type UserValues = Values<typeof userFields>;
