import { affectedUser, type UserNames } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { cancelDeliveries } from '../../activity/hooks/queue.ts';
import { type Actor, closedReason, seesAll } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, Right, rightUnlessDenied, rightVia, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import { visibleCustomers, visibleProjects } from '../../kernel/access/visibility.ts';
import { type App, newUuid } from '../../kernel/app.ts';
import { changesOf, storedColumns } from '../../kernel/collection/changes.ts';
import { collection } from '../../kernel/collection/collection.ts';
import { messages } from '../../kernel/collection/field.ts';
import {
  booleanColumn,
  exact,
  flagFilter,
  ofName,
  onlyFor,
  partial,
  partialEmail,
  uuid,
} from '../../kernel/collection/filter.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import type { Database } from '../../kernel/db/database.ts';
import { foldedEmail } from '../../kernel/db/email-address.ts';
import { caseFold, raw, sql, type Value } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';
import { revokeApiKeysOf } from '../../kernel/security/api-keys.ts';
import { revokeTokensOf } from '../../kernel/security/tokens.ts';
import { deleteKeysOf } from '../keys/keys.ts';
import { revokeRolesOf } from '../roles/roles.ts';
import { filtersByName, isRestrictedDirectory, listedUsers, visibleUsers } from './directory.ts';
import { changesIdentities, ofIdentity, replaceIdentities } from './identities.ts';
import { notifyNewEmail } from './notices.ts';
import { missingCurrent, needsCurrentPassword, verifyCurrent } from './passwords.ts';
import { hasSecondFactor, type UserRow, type UserValues, userFields } from './user-fields.ts';
import { partOfCivilNumber, potential, usersOfCustomers } from './user-filters.ts';

export type { UserRow, UserValues } from './user-fields.ts';

/** The registration_method of users created by SAML and OpenID Connect logins. */
export const samlRegistration = 'saml2';
export const oidcRegistration = 'oidc';

/** Default token lifetime in seconds (core.md 2.3). */
const defaultTokenLifetime = 3600;

/** The right to change a user and act on their behalf (core.md 4.3). */
export const selfOrStaff = anyOf(staff, userIn('id', 'the user themselves'));

export const users = collection<UserRow>()({
  path: 'users',
  kind: 'User',
  description: 'People with an account. Staff create them. Any user can see active users who are not staff.',
  table: 'user',
  alias: 'u',
  fields: userFields,
  visible: visibleTo('any user', visibleUsers),
  page: { run: (request, listing) => listing.page(request, [listedUsers(request)]) },
  described: (request, row) => request.caller.isStaff || row?.id === request.caller.userId,
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
    ...filtersByName,
    ...ofName('u.full_name'),
    username: partial('u.username'),
    full_name: partial('u.full_name'),
    native_name: partial('u.native_name'),
    job_title: partial('u.job_title'),
    email: partialEmail('u.email'),
    phone_number: partial('u.phone_number'),
    registration_method: partial('u.registration_method'),
    civil_number: partOfCivilNumber,
    description: onlyFor(({ caller }) => seesAll(caller), partial('u.description')),
    organization: exact('u.organization'),
    is_active: booleanColumn('u.is_active'),
    organization_approved: booleanColumn('u.organization_approved'),
    has_second_factor: onlyFor(({ caller }) => caller.isStaff, booleanColumn(hasSecondFactor)),
    is_service_account: booleanColumn('u.is_service_account'),
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
    current: flagFilter('Only the caller.', ({ caller }) => sql`u.id = ${caller.userId}`),
    identity: onlyFor(({ caller }) => caller.isStaff, ofIdentity),
    organization_claimed: flagFilter('Only users with an organization.', () => raw("u.organization <> ''")),
    potential: flagFilter(
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
  isSecret: (request, id) => (id === undefined ? showsToken(request) : id === request.caller.userId),
  parameters: (request) => ({
    token: showsToken(request) && !request.caller.apiKey ? request.caller.token : null,
    narrow: Number(isRestrictedDirectory(request.caller, request.config)),
  }),
  create: {
    right: staff,
    rightWith: new Right(staff.words, ({ caller }, { is_staff: isStaff, is_support: isSupport }: UserValues) =>
      isStaff || isSupport ? closedReason(caller) : undefined,
    ),
    run: (request, values) => {
      const user = insertUser(request, values);
      if (values.identities) replaceIdentities(request, user.id, values.identities);
      record(request, 'user_creation_succeeded', affectedUser(user));
      return user.id;
    },
  },
  update: {
    right: selfOrStaff,
    rightWith: rightUnlessDenied(
      rightVia(({ row }: { readonly row: UserRow }) => row, selfOrStaff),
      (request, { row, values }: { readonly row: UserRow; readonly values: UserValues }) => {
        const reason = closedReason(request.caller);
        if (reason === undefined) return undefined;
        const isClosed = changesClosedField(row, values) || changesIdentities(request, row.id, values.identities);
        return isClosed ? reason : undefined;
      },
    ),
    denialReason: serviceAccountReason,
    check: rejectInvalid,
    prepare: async (request, row, { current_password: current, email }) => {
      const isNew = email !== undefined && email !== row.email;
      if (isNew && needsCurrentPassword(request, row)) await verifyCurrent(request, row, present(current));
    },
    rejections: { 503: true },
    run: (request, row, values) => {
      const hasNewIdentities = values.identities !== undefined && replaceIdentities(request, row.id, values.identities);
      updateUser(request, row, values, request.caller.isStaff, hasNewIdentities);
    },
  },
  delete: { right: staff, denialReason: serviceAccountReason, run: deleteUser },
});

/** Whether a change affects a field that gives access and is closed to API keys and impersonations (core.md 2.9, 2.13). */
const changesClosedField = (row: UserRow, values: UserValues): boolean =>
  (['email', 'token_lifetime', 'is_staff', 'is_support'] as const).some((name) => {
    const value = values[name];
    return value !== undefined && (typeof value === 'boolean' ? Number(value) : value) !== row[name];
  });

/** Returns the 409 message for changes of a service account's user; undefined for a person (core.md 4.7). */
export function serviceAccountReason(_: Request, user: UserRow): string | undefined {
  return user.is_service_account ? 'This user is a service account.' : undefined;
}

/** Deletes a user with their SSH keys and roles, and records the events. */
export function deleteUser(context: Context, row: UserRow): void {
  deleteKeysOf(context, row);
  revokeRolesOf(context, row);
  context.app.db.run(sql`DELETE FROM user WHERE id = ${row.id}`);
  record(context, 'user_deletion_succeeded', affectedUser(row));
}

/** Checks the rules across the fields of a change (core.md 4.1, 4.2, 4.4). Throws 400. */
function rejectInvalid(request: Request, values: UserValues, row: UserRow): void {
  const { caller, config } = request;
  const { agree_with_policy: agrees, current_password: current, email, token_lifetime: lifetime } = values;
  const { token_lifetime_max: maxLifetime } = config;
  const errors: Record<string, readonly string[]> = {};
  if (lifetime !== undefined && lifetime !== row.token_lifetime && !caller.isStaff && maxLifetime !== null)
    if (lifetime === null || lifetime > maxLifetime) errors.token_lifetime = [messages.atMost(maxLifetime)];
  if (row.id === caller.userId && row.agreement_date === null && agrees !== true)
    errors.agree_with_policy = ['User must agree with the policy.'];
  const missing = email === undefined || email === row.email ? [] : missingCurrent(request, row, current);
  if (missing.length > 0) errors.current_password = missing;
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

/** Whether the caller's own object includes `token`: when read or changed, and in lists filtered by `current` (core.md 4.1). */
const showsToken = ({ params, query }: Request): boolean => params.key !== undefined || query.flag('current');

/** Inserts a user with a verified email. Without a hash, they have no password. The caller records the event. */
export function insertUser(
  { app, now }: Context,
  values: UserValues & Pick<UserRow, 'username'>,
  registration = 'default',
  passwordHash: string | null = null,
): UserNames & { readonly id: number } {
  const uuid = newUuid(app);
  const id = app.db.insert('user', {
    uuid,
    date_joined: now,
    registration_method: registration,
    token_lifetime: newTokenLifetime(app),
    password_hash: passwordHash,
    ...columnsOf(values),
  });
  const { full_name = '', native_name = '', username } = values;
  return { id, uuid, username, full_name, native_name };
}

/** Returns the token lifetime of a new user in seconds. */
export const newTokenLifetime = ({ config }: Pick<App, 'config'>): number =>
  Math.min(defaultTokenLifetime, config.token_lifetime_max ?? defaultTokenLifetime);

/**
 * Stores the values that differ and records the events. `verifiesEmail` means that a new email is from a trusted source and
 * counts as verified (core.md 4.1 "email"). `hasOtherChanges` means that something besides these values has changed.
 */
export function updateUser(
  context: Context,
  row: UserRow,
  values: UserValues,
  verifiesEmail: boolean,
  hasOtherChanges = false,
): void {
  const { db } = context.app;
  const changes = changesOf(row, columnsOf(values));
  if (changes.organization !== undefined && row.organization_approved) changes.organization_approved = 0;
  if (changes.email !== undefined) changes.email_verified = Number(verifiesEmail);
  if (changes.is_staff !== undefined) changes.staff_source = null;
  if (changes.is_support !== undefined) changes.support_source = null;
  if (values.agree_with_policy && row.agreement_date === null) changes.agreement_date = context.now;
  if (Object.keys(changes).length === 0 && !hasOtherChanges) return;
  db.update('user', row.id, changes);
  if (values.email !== undefined) notifyNewEmail(context, row, values.email);
  const affected = affectedUser(userOf({ db }, row.id));
  if (changes.token_lifetime !== undefined) {
    const details = { ...affected, affected_user_token_lifetime: values.token_lifetime };
    record(context, 'user_token_lifetime_updated', details, {
      ...(values.token_lifetime === null && { inMessage: { affected_user_token_lifetime: 'unlimited' } }),
    });
  }
  if (changes.is_active !== undefined) {
    if (!changes.is_active) {
      revokeTokensOf(context, row.id);
      revokeApiKeysOf(context, row.id);
      cancelDeliveries(context, sql`user_id = ${row.id}`, 'The author of the hook was deactivated.');
    }
    record(context, changes.is_active ? 'user_activated' : 'user_deactivated', affected);
  }
  if (hasOtherChanges || Object.keys(changes).some((name) => name !== 'is_active'))
    record(context, 'user_update_succeeded', affected);
}

/** Returns the values of a body as columns, with the folded columns that enforce uniqueness. */
function columnsOf(values: UserValues): Record<string, Value> {
  const columns = storedColumns(userFields, values);
  if (values.username !== undefined) columns.username_folded = caseFold(values.username);
  if (values.email !== undefined) columns.email_folded = foldedEmail(values.email);
  return columns;
}

/** Returns the current row of a user. */
export const userOf = (request: Pick<Request, 'db'>, id: number): UserRow =>
  request.db.one<UserRow>(sql`SELECT * FROM user WHERE id = ${id}`);

/** Returns a user as the actor of an event. */
export const actorOf = (user: UserNames): Actor => ({
  uuid: user.uuid,
  username: user.username,
  fullName: user.full_name,
  nativeName: user.native_name,
});

/** Returns the context for a user without a token yet, such as at login (events.md 4.1). */
export const actedBy = ({ address, app, now }: Context, user: UserNames): Context => ({
  app,
  address,
  now,
  actor: actorOf(user),
});

/** A response with a new token. */
export const tokenShape: JsonSchema = {
  type: 'object',
  properties: { token: { type: 'string', pattern: '^[0-9a-f]{40}$' } },
  required: ['token'],
};

/** Whether a user has this username, in any case. */
export const isUsernameTaken = (db: Database, username: string): boolean =>
  db.value(sql`SELECT 1 FROM user WHERE username_folded = ${caseFold(username)}`) !== undefined;
