/** Service accounts: users for programs, with one role in a customer or project, and only API keys (core.md 4.7). */
import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { rightVia } from '../../kernel/access/right.ts';
import { newUuid } from '../../kernel/app.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { collection } from '../../kernel/collection/collection.ts';
import {
  messages,
  type NewValues,
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
} from '../../kernel/collection/field.ts';
import {
  booleanColumn,
  exact,
  exactUuid,
  type Filter,
  ofName,
  partial,
  uuidOf,
  within,
} from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { booleanValue, linkValue, optionalLink, textValue } from '../../kernel/collection/representation.ts';
import { boolean, choice, text, withJson } from '../../kernel/collection/values.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { integer } from '../../kernel/config/setting.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { conflict, invalid, invalidRequest } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';
import { customers } from '../customers/customers.ts';
import { projectsOf } from '../permissions/permissions.ts';
import { projects } from '../projects/projects.ts';
import { grantRole, type RoleScope, revokeRole, roleNames } from '../roles/roles.ts';
import { deleteUser, insertUser, isUsernameTaken, updateUser, userOf } from '../users/users.ts';
import {
  accountManagers,
  managesSome,
  type ServiceAccountRow,
  type Target,
  targetOf,
  visibleAccounts,
} from './rights.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof serviceAccountSettings> {}
}

/** The service account settings. */
export const serviceAccountSettings = {
  service_accounts_per_scope: integer(20, 'Maximum number of service accounts of a customer, and of a project.'),
} satisfies Settings;

const ofUser = (column: string): string => `(SELECT ${column} FROM user WHERE id = a.user_id)`;
const uuidOfRow = (table: string): string => `(SELECT uuid FROM ${table} WHERE id = a.${table}_id)`;

const roles = { ...roleNames.customer, ...roleNames.project };

const fields = {
  url: selfLink('service-accounts', 'a.uuid'),
  uuid: uuidField(),
  created: readOnlyTime(),
  created_by: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', '(SELECT uuid FROM user WHERE id = a.created_by)'),
  ),
  user: readOnly('field', { type: 'string', format: 'uri' }, linkValue('users', ofUser('uuid'))),
  username: readOnlyText(textValue(ofUser('username'), { type: 'string' })),
  name: text({ max: 150, required: true, example: 'Nightly deployment' }),
  description: text({ max: 500, lines: 'many' }),
  customer: link({
    to: () => customers,
    key: uuidOfRow('customer'),
    nullable: true,
    help: 'Exactly one of customer and project is required.',
  }),
  project: link({ to: () => projects, key: uuidOfRow('project'), nullable: true }),
  role: choice({
    required: true,
    choices: () => Object.entries(roles),
    help: 'In a customer owner or support; in a project admin, manager or support.',
  }),
  is_active: withJson(
    boolean({
      fallback: true,
      storedIn: false,
      help: 'Whether it can be used. Disabling it revokes its API keys permanently.',
    }),
    () => booleanValue(ofUser('is_active')),
  ),
};

type NewAccount = NewValues<typeof fields>;

/** Returns the customer or project of a valid body, and the role. */
function targetOfBody({ customer, project, role }: NewAccount): Target {
  if (project) return { structure: 'project', scope: project, role };
  return { structure: 'customer', scope: present(customer), role };
}

/** Accounts of the customers that a filter on alias `c` selects, and of their projects. */
const ofCustomers = (filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => {
    const condition = filter.condition(request, name);
    if (!condition) return undefined;
    const selected = sql`SELECT c.id FROM customer c WHERE ${condition}`;
    return sql`a.customer_id IN (${selected}) OR a.project_id IN (${projectsOf(selected)})`;
  },
});

const example = { name: 'Nightly deployment', project: exampleLink('projects'), role: 'admin' };

export const serviceAccounts = collection<ServiceAccountRow>()({
  path: 'service-accounts',
  kind: 'Service Account',
  description:
    'Service accounts are users for programs. They have one role in a customer or project, and only API keys.',
  table: 'service_account',
  alias: 'a',
  fields,
  visible: visibleAccounts,
  described: managesSome,
  examples: { create: example, replace: example, change: { role: 'support' } },
  filters: {
    ...ofName('a.name'),
    username: {
      ...partial('u.username'),
      condition: (request, name) => {
        const condition = partial('u.username').condition(request, name);
        return condition && sql`a.user_id IN (SELECT u.id FROM user u WHERE u.is_service_account AND ${condition})`;
      },
    },
    customer: ofCustomers(exactUuid('c.uuid', 'Uuid of the customer. Includes the accounts of its projects.')),
    project: uuidOf('a.project_id', 'project', 'Uuid of the project.'),
    role: within(Object.keys(roles), exact('a.role')),
    is_active: booleanColumn(ofUser('is_active')),
  },
  orderings: {
    name: 'a.name COLLATE NOCASE',
    username: `${ofUser('username')} COLLATE NOCASE`,
    created: 'a.created',
    role: 'a.role',
  },
  order: 'a.name COLLATE NOCASE',
  create: {
    isPossible: managesSome,
    check: (_, values) => rejectInvalid(values),
    rightWith: rightVia(targetOfBody, accountManagers),
    run: create,
    rejections: { 409: true },
  },
  update: {
    right: rightVia(targetOf, accountManagers),
    check: (_, values, row) => rejectInvalidChange(values, row),
    rightWith: rightVia(({ row, values: { role } }: { row: ServiceAccountRow; values: Values<typeof fields> }) => {
      const target = targetOf(row);
      return target && { ...target, role: role ?? target.role };
    }, accountManagers),
    denialReason: (_, row) =>
      targetOf(row) ? undefined : 'The customer or project of this service account has been deleted.',
    run: update,
    rejections: { 409: true },
  },
  delete: {
    right: rightVia(targetOf, accountManagers),
    run: (request, row) => deleteUser(request, userOf(request, row.user_id)),
  },
});

/** Throws 400 unless the body names either a customer or a project, and one of its roles. */
function rejectInvalid({ customer, project, role }: NewAccount): void {
  if (!customer === !project) throw invalidRequest('Exactly one of customer and project is required.');
  rejectRole(customer ? 'customer' : 'project', role);
}

function rejectRole(structure: RoleScope, role: string): void {
  if (!(role in roleNames[structure])) throw invalid({ role: [messages.choice(role)] });
}

/** Throws 400 for a different customer or project, or a role that does not exist there. */
function rejectInvalidChange(values: Values<typeof fields>, row: ServiceAccountRow): void {
  const changed = (['customer', 'project'] as const).filter(
    (name) => values[name] !== undefined && values[name] !== row[`${name}_id`],
  );
  if (changed.length > 0)
    throw invalid(Object.fromEntries(changed.map((name) => [name, ['This field cannot be changed.']])));
  if (values.role !== undefined) rejectRole(row.customer_id === null ? 'project' : 'customer', values.role);
}

/** Maximum length of a user's full name. */
const maxFullNameLength = 100;

/** Returns the full name of the account's user, for lists of people. */
const fullNameOf = (name: string): string => [...name].slice(0, maxFullNameLength).join('').trim();

function create(request: Request, values: NewAccount, columns: Columns): number {
  const { app, caller, config, db, now } = request;
  const target = targetOfBody(values);
  const max = config.service_accounts_per_scope;
  const count = db.count(
    sql`SELECT count(*) FROM service_account WHERE ${raw(`${target.structure}_id`)} = ${target.scope}`,
  );
  if (count >= max) throw conflict(`There are already ${max} service accounts here.`);
  const username = freeUsername(request, values.name);
  const { id: user } = insertUser(request, { username, full_name: fullNameOf(values.name) }, 'service_account');
  const isActive = Number(values.is_active ?? true);
  db.update('user', user, { is_service_account: 1, is_active: isActive });
  const id = db.insert('service_account', {
    ...columns,
    uuid: newUuid(app),
    user_id: user,
    created: now,
    created_by: caller.id,
  });
  record(request, 'user_creation_succeeded', affectedUser(userOf(request, user)));
  grant(request, user, target);
  return id;
}

/** Grants a service account its role, without expiry. */
function grant(request: Request, user: number, { role, scope, structure }: Target): void {
  grantRole(request, { structure, scope, user, role, expires: null, author: request.caller.id });
}

function update(request: Request, row: ServiceAccountRow, values: Values<typeof fields>, columns: Columns): void {
  const { db } = request;
  const changes = changesOf(row, columns);
  db.update('service_account', row.id, changes);
  const user = userOf(request, row.user_id);
  updateUser(
    request,
    user,
    {
      ...(values.name !== undefined && { full_name: fullNameOf(values.name) }),
      ...(values.is_active !== undefined && { is_active: values.is_active }),
    },
    false,
  );
  if (changes.role !== undefined) replaceRole(request, row, { ...present(targetOf(row)), role: String(changes.role) });
}

/** Replaces the role of a service account. */
function replaceRole(request: Request, { user_id: user }: ServiceAccountRow, target: Target): void {
  const { scope, structure } = target;
  const currentRole = request.db.get<{ id: number; role: string }>(sql`
    SELECT id, role FROM ${raw(`active_${structure}_role`)}
    WHERE ${raw(`${structure}_id`)} = ${scope} AND user_id = ${user}`);
  if (currentRole) revokeRole(request, structure, { ...currentRole, scope, user_id: user });
  grant(request, user, target);
}

/** Deactivates the service accounts of a customer or project before its deletion, which revokes their keys. */
export function deactivateServiceAccountsIn(context: Context, structure: RoleScope, scope: number): void {
  const { db } = context.app;
  const accounts = db.values<number>(sql`
    SELECT user_id FROM service_account WHERE ${raw(`${structure}_id`)} = ${scope} ORDER BY id`);
  for (const user of accounts) updateUser(context, userOf({ db }, user), { is_active: false }, false);
}

/** Maximum length of a username (core.md 4.1). */
const maxLength = 30;
/** Maximum number of random usernames to try. */
const maxAttempts = 100;

/** Converts a name to characters valid in usernames: lower-case Latin letters and digits, separated by dashes. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');

/** Returns an unused username for a new service account: `sa-<8 random hexadecimal digits>-<slug>`, truncated to 30 characters. */
function freeUsername({ app, db }: Request, name: string): string {
  const slug = slugOf(name) || 'account';
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const username = `sa-${app.random(4).toString('hex')}-${slug}`.slice(0, maxLength).replace(/-$/, '');
    if (!isUsernameTaken(db, username)) return username;
  }
  throw new Error(`no unused username in ${maxAttempts} attempts`);
}
