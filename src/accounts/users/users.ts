import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { cancelDeliveries } from '../../activity/hooks/queue.ts';
import { type Context, newUuid } from '../../kernel/access/app.ts';
import { isStaff, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import { revokeTokensOf } from '../../kernel/access/tokens.ts';
import { visibleCustomers, visibleProjects, visibleUsers } from '../../kernel/access/visibility.ts';
import { changesOf, storedValues } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import {
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
  wrap,
  writeOnly,
} from '../../kernel/collection/field.ts';
import { exact, only, partial, presence, truth, uuid } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { booleanValue, textValue, timeValue } from '../../kernel/collection/representation.ts';
import { boolean, choice, email, integer, nullableText, orNull, text } from '../../kernel/collection/values.ts';
import { caseFold, raw, sql, type Value } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { booleanWord } from '../../kernel/http/query.ts';
import { deleteKeysOf } from '../keys/keys.ts';
import { revokeRolesOf } from '../roles/roles.ts';
import { partOfCivilNumber, potential, usersOfCustomers } from './user-filters.ts';

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
  readonly token_lifetime: number | null;
  readonly registration_method: string;
  readonly agreement_date: number | null;
  readonly preferred_language: string;
  readonly competence: string;
  readonly password_hash: string | null;
}

// Conditions of core.md 4.1 "Shown to".
const toSelfAndAll = 'u.id = @caller OR @all';
const toAll = '@all';
const toSelfAndStaff = 'u.id = @caller OR @staff';

// Only a clear yes agrees. Where nobody has to agree the key is ignored, so that no value of it is an error.
const isYes = (value: unknown): boolean => typeof value !== 'object' && booleanWord(String(value).trim()) === true;
const agreement = wrap(boolean({ help: 'User must agree with the policy.' }), () => isYes);

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
      of: caseFold,
      message: (address) => `User with email "${address}" already exists.`,
    },
  }),
  phone_number: text({ max: 255 }),
  organization: text({ max: 80 }),
  organization_approved: readOnly('boolean', { type: 'boolean' }, booleanValue),
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
  description: text({ max: 500, update: isStaff, shownIf: toAll }),
  is_staff: boolean({
    update: isStaff,
    shownIf: toAll,
    help: 'Whether the user is staff and sees and does everything.',
  }),
  is_active: boolean({
    update: isStaff,
    shownIf: toAll,
    help: 'Inactive users cannot log in. Use this instead of deleting.',
  }),
  is_support: boolean({ update: isStaff, help: 'Whether the user is global support and sees everything.' }),
  token: readOnlyText(textValue('@token'), { shownIf: '@token IS NOT NULL AND u.id = @caller' }),
  token_lifetime: orNull(
    integer({ min: 60, max: 2_147_483_647, shownIf: toSelfAndStaff, help: 'Token lifetime in seconds.' }),
  ),
  registration_method: readOnlyText(),
  date_joined: readOnlyTime(),
  agree_with_policy: writeOnly(agreement),
  agreement_date: readOnlyTime(timeValue),
  preferred_language: choice({
    blank: true,
    choices: () => [
      ['en', 'English'],
      ['et', 'Eesti'],
    ],
  }),
  competence: choice({ blank: true, choices: () => [], chosenBy: (config) => config.user_competences }),
};

/** Who may change a user and act for one (core.md 4.3). */
export const selfOrStaff = anyOf(staff, userIn('id', 'the user themselves'));

export const users = collection<UserRow>()({
  path: 'users',
  kind: 'User',
  description: 'People with an account. Staff create them; everybody sees active users who are not staff.',
  table: 'user',
  alias: 'u',
  fields: userFields,
  visible: visibleTo('everybody', visibleUsers),
  described: (request, row) => request.caller.isStaff || row?.id === request.caller.id,
  examples: {
    create: { username: 'carol', full_name: 'Carol Jones', email: 'carol@example.com', job_title: 'Engineer' },
    replace: {
      full_name: 'Carol Jones',
      email: 'carol@example.com',
      job_title: 'Head of engineering',
      phone_number: '+372 600 0002',
      agree_with_policy: true,
    },
    change: { preferred_language: 'et' },
  },
  filters: {
    username: partial('u.username'),
    full_name: partial('u.full_name'),
    native_name: partial('u.native_name'),
    job_title: partial('u.job_title'),
    email: partial('u.email'),
    phone_number: partial('u.phone_number'),
    registration_method: partial('u.registration_method'),
    civil_number: partOfCivilNumber,
    description: only(({ caller }) => seesAll(caller), partial('u.description')),
    organization: exact('u.organization'),
    is_active: truth('u.is_active'),
    organization_approved: truth('u.organization_approved'),
    customer_uuid: uuid(
      'Users with a role in this customer or one of its projects.',
      (key, { caller }) =>
        sql`u.id IN (${usersOfCustomers(sql`SELECT id FROM customer WHERE uuid = ${key} AND ${visibleCustomers(caller, 'id')}`)})`,
    ),
    project_uuid: uuid(
      'Users with a role in this project.',
      (key, { caller }) => sql`
        u.id IN (
          SELECT user_id FROM active_project_role
          WHERE project_id = (SELECT id FROM project WHERE uuid = ${key} AND ${visibleProjects(caller, 'id')})
        )`,
    ),
    current: presence('Only the caller.', ({ caller }) => sql`u.id = ${caller.id}`),
    organization_claimed: presence('Only users with an organization.', () => raw("u.organization <> ''")),
    potential: presence(
      'Users connected with the customers of the caller; narrowed by potential_customer and potential_organization.',
      potential,
    ),
  },
  orderings: {
    username: 'u.username COLLATE NOCASE',
    full_name: 'u.full_name COLLATE NOCASE',
    native_name: 'u.native_name COLLATE NOCASE',
    organization: 'u.organization COLLATE NOCASE',
    organization_approved: 'u.organization_approved',
    email: 'u.email COLLATE NOCASE',
    phone_number: 'u.phone_number',
    job_title: 'u.job_title COLLATE NOCASE',
    is_active: 'u.is_active',
    registration_method: 'u.registration_method',
    date_joined: 'u.date_joined',
  },
  privilegedOrderings: { description: 'u.description COLLATE NOCASE' },
  order: 'u.username COLLATE NOCASE',
  isSecret: (request, id) => (id === undefined ? showsToken(request) : id === request.caller.id),
  parameters: (request) => ({ token: showsToken(request) ? request.caller.token : null }),
  create: {
    right: staff,
    run: (request, values) => {
      const user = insertUser(request, values);
      record(request, 'user_creation_succeeded', affectedUser(user));
      return user.id;
    },
  },
  update: {
    right: selfOrStaff,
    check: (request, values, row) => {
      if (row.id === request.caller.id && row.agreement_date === null && values.agree_with_policy !== true) {
        throw invalid({ agree_with_policy: ['User must agree with the policy.'] });
      }
    },
    run: (request, row, values) => updateUser(request, row, values, request.caller.isStaff),
  },
  delete: {
    right: staff,
    run: (request, row) => {
      deleteKeysOf(request, row);
      revokeRolesOf(request, row);
      request.db.run(sql`DELETE FROM user WHERE id = ${row.id}`);
      record(request, 'user_deletion_succeeded', affectedUser(row));
    },
  },
});

/** The `token` key is in the caller's own object when it is read or changed, and in lists asked with `current` (core.md 4.1). */
function showsToken(request: Request): boolean {
  return request.params.key !== undefined ? true : request.query.flag('current');
}

/** Values of a user's fields, as their rules accept them. */
export type UserValues = Values<typeof userFields>;

/** Adds a user without a password, whose email is taken as verified; the event is the caller's. */
export function insertUser({ app, now }: Context, values: UserValues, registration = 'default'): UserRow {
  const { agree_with_policy: _, ...columns } = columnsOf(values);
  const { db } = app;
  return userOf(
    { db },
    db.insert('user', { uuid: newUuid(app), date_joined: now, registration_method: registration, ...columns }),
  );
}

/**
 * Stores the values that differ, with the events of the change. `vouches` tells whether the values come from somebody whose
 * word verifies an email (core.md 4.1 "email").
 */
export function updateUser(context: Context, row: UserRow, values: UserValues, vouches: boolean): void {
  const { db } = context.app;
  const { agree_with_policy: agrees, ...columns } = columnsOf(values);
  const changes = changesOf(row, columns);
  if (changes.organization !== undefined && row.organization_approved) changes.organization_approved = 0;
  if (changes.email !== undefined) changes.email_verified = Number(vouches);
  if (agrees && row.agreement_date === null) changes.agreement_date = context.now;
  if (Object.keys(changes).length === 0) return;
  db.update('user', row.id, changes);
  const affected = affectedUser(userOf({ db }, row.id));
  if (changes.token_lifetime !== undefined) {
    record(context, 'user_token_lifetime_updated', {
      ...affected,
      affected_user_token_lifetime: values.token_lifetime ?? 'unlimited',
    });
  }
  if (changes.is_active !== undefined) {
    if (!changes.is_active) {
      revokeTokensOf(context, row.id);
      cancelDeliveries(context, sql`user_id = ${row.id}`, 'The author of the hook was deactivated.');
    }
    record(context, changes.is_active ? 'user_activated' : 'user_deactivated', affected);
  }
  if (Object.keys(changes).some((name) => name !== 'is_active')) record(context, 'user_update_succeeded', affected);
}

/** Values of a body as columns, with the folded forms that uniqueness is judged by. */
function columnsOf(values: UserValues): Record<string, Value> {
  const columns = storedValues(values);
  if (values.username !== undefined) columns.username_folded = caseFold(values.username);
  if (values.email !== undefined) columns.email_folded = caseFold(values.email);
  return columns;
}

/** A user's row by id, as it is now. */
export const userOf = (request: Pick<Request, 'db'>, id: number): UserRow =>
  request.db.one<UserRow>(sql`SELECT * FROM user WHERE id = ${id}`);
