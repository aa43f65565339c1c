import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { ownsCustomerUntil } from '../../kernel/access/rights.ts';
import { connectedCustomers, visibleCustomers, visibleProjects } from '../../kernel/access/visibility.ts';
import { type Collection, collection, type Row } from '../../kernel/collection/collection.ts';
import {
  type Field,
  FieldError,
  type Input,
  shown,
  shownText,
  shownTime,
  type Values,
} from '../../kernel/collection/field.ts';
import { exact, type Filters, linked, partial, uuidOf } from '../../kernel/collection/filter.ts';
import { datetime } from '../../kernel/collection/instants.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  type Json,
  numberValue,
  optionalLink,
  plainValue,
  textValue,
  timeValue,
} from '../../kernel/collection/representation.ts';
import { choice } from '../../kernel/collection/values.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { customers } from '../customers/customers.ts';
import { projects } from '../projects/projects.ts';
import { grantRole, revokeRole, roleNames, type Structure } from '../roles/roles.ts';
import { users } from '../users/users.ts';

interface RoleRow extends Row {
  readonly customer_id?: number;
  readonly project_id?: number;
  readonly user_id: number;
  readonly role: string;
  readonly expires: number | null;
}

/** A value of a related object: `of('customer', 'name')` is the name of the customer of the role. */
const of = (table: string, column: string, id = `r.${table}_id`): string =>
  `(SELECT ${column} FROM ${table} WHERE id = ${id})`;
const customerOfProject = (column: string): string =>
  `(SELECT c.${column} FROM project p JOIN customer c ON c.id = p.customer_id WHERE p.id = r.project_id)`;
const related = (json: Json): Field<never> => shownText(json);

/** Members that say which customer or project a role is held in, and how it is written (core.md 8.1). */
const structureFields = {
  customer: {
    customer: link({ required: true, update: false, to: () => customers, key: of('customer', 'uuid') }),
    customer_uuid: related(plainValue(of('customer', 'uuid'))),
    customer_name: related(textValue(of('customer', 'name'))),
    customer_native_name: related(textValue(of('customer', 'native_name'))),
    customer_abbreviation: related(textValue(of('customer', 'abbreviation'))),
  },
  project: {
    project: link({ required: true, update: false, to: () => projects, key: of('project', 'uuid') }),
    project_uuid: related(plainValue(of('project', 'uuid'))),
    project_name: related(textValue(of('project', 'name'))),
    customer_name: related(textValue(customerOfProject('name'))),
  },
} as const;

const end = datetime({ help: 'When the role ends by itself; null: never.', example: '2030-12-31T23:59:59Z' });

/** An instant that is still to come, or null. */
const future: Field<number | null> = {
  ...end,
  input: {
    ...(end.input as Input<number | null>),
    parse: (value, request, form) => {
      const instant = (end.input as Input<number | null>).parse(value, request, form);
      if (instant !== null && instant <= request.now)
        throw new FieldError(['Expiration time should be greater than current time.']);
      return instant;
    },
  },
};

function fieldsOf(structure: Structure, path: string, expiration: string) {
  return {
    url: selfLink(path, 'r.id'),
    pk: shown('integer', { type: 'integer' }, numberValue('r.id'), { label: 'pk' }),
    role: choice({ required: true, update: false, choices: () => Object.entries(roleNames[structure]) }),
    created: shownTime(),
    expiration_time: { ...future, json: () => timeValue(expiration) },
    created_by: shown(
      'field',
      { type: ['string', 'null'], format: 'uri' },
      optionalLink('users', of('user', 'uuid', 'r.created_by')),
    ),
    ...(structureFields[structure] as { [key: string]: Field<number> }),
    user: link({ required: true, update: false, to: () => users, key: of('user', 'uuid') }),
    user_full_name: related(textValue(of('user', 'full_name'))),
    user_native_name: related(textValue(of('user', 'native_name'))),
    user_username: related(textValue(of('user', 'username'))),
    user_uuid: related(plainValue(of('user', 'uuid'))),
    user_email: related(textValue(of('user', 'email'))),
  };
}

type RoleFields = ReturnType<typeof fieldsOf>;

/** Filters on the user of a role, which permissions and logs of both kinds share (core.md 8.5). */
const ofUser = (filter: ReturnType<typeof partial>): ReturnType<typeof partial> => ({
  ...filter,
  condition: (request, name) => {
    const condition = filter.condition(request, name);
    return condition && sql`r.user_id IN (SELECT u.id FROM user u WHERE ${condition})`;
  },
});

const filtersOf = (structure: Structure): Filters => ({
  user: uuidOf('r.user_id', 'user', 'Uuid of the user.'),
  user_url: linked('r.user_id', 'user', () => users),
  username: ofUser(partial('u.username')),
  full_name: ofUser(partial('u.full_name')),
  native_name: ofUser(partial('u.native_name')),
  role: exact('r.role'),
  ...(structure === 'customer'
    ? {
        customer: uuidOf('r.customer_id', 'customer'),
        customer_url: linked('r.customer_id', 'customer', () => customers),
      }
    : {
        project: uuidOf('r.project_id', 'project'),
        project_url: linked('r.project_id', 'project', () => projects),
        customer: uuidOf(
          '(SELECT customer_id FROM project WHERE id = r.project_id)',
          'customer',
          "Uuid of the project's customer.",
        ),
      }),
});

const orderings = (expiration: string): Record<string, string> => ({
  username: `${of('user', 'username')} COLLATE NOCASE`,
  full_name: `${of('user', 'full_name')} COLLATE NOCASE`,
  native_name: `${of('user', 'native_name')} COLLATE NOCASE`,
  email: `${of('user', 'email')} COLLATE NOCASE`,
  expiration_time: expiration,
  created: 'r.created',
  role: 'r.role',
});

/** Customers the caller owns, as a list of ids. */
export const ownedCustomers = (caller: Caller): Sql =>
  sql`SELECT customer_id FROM customer_role WHERE user_id = ${caller.id} AND role = 'owner' AND ended IS NULL`;
const memberCustomers = (caller: Caller): Sql =>
  sql`SELECT customer_id FROM customer_role WHERE user_id = ${caller.id} AND ended IS NULL`;
/** Projects of these customers, as a list of ids. */
export const projectsOf = (customerIds: Sql): Sql => sql`SELECT id FROM project WHERE customer_id IN (${customerIds})`;

/** Who sees active and past roles, and which roles writes may address (core.md 8.2). */
const sight: Readonly<Record<Structure, Readonly<Record<'active' | 'addressable' | 'past', (caller: Caller) => Sql>>>> =
  {
    customer: {
      active: (caller) =>
        seesAll(caller) ? raw('TRUE') : sql`r.customer_id IN (${connectedCustomers(callerId(caller))})`,
      addressable: (caller) => visibleCustomers(caller, 'r.customer_id'),
      past: (caller) => (seesAll(caller) ? raw('TRUE') : sql`r.customer_id IN (${memberCustomers(caller)})`),
    },
    project: {
      active: (caller) =>
        seesAll(caller) ? raw('TRUE') : sql`r.project_id IN (${projectsOf(ownedCustomers(caller))})`,
      addressable: (caller) => visibleProjects(caller, 'r.project_id'),
      past: (caller) => (seesAll(caller) ? raw('TRUE') : sql`r.project_id IN (${projectsOf(ownedCustomers(caller))})`),
    },
  };

const isActive = (condition: Sql): Sql =>
  condition.text === 'TRUE' ? raw('r.ended IS NULL') : sql`r.ended IS NULL AND ${condition}`;
const isPast = (condition: Sql): Sql =>
  condition.text === 'TRUE' ? raw('r.ended IS NOT NULL') : sql`r.ended IS NOT NULL AND ${condition}`;

/**
 * Whether the caller may grant, change or revoke a role that lasts until an instant: staff; an owner whose own role lasts
 * as long, of projects always and of the customer itself with the setting owners_can_manage_owners.
 */
export function mayManageUntil(request: Request, structure: Structure, scope: number, until: number | null): boolean {
  const { caller, config, db } = request;
  if (caller.isStaff) return true;
  if (structure === 'customer' && !config.owners_can_manage_owners) return false;
  const customer =
    structure === 'customer'
      ? scope
      : (db.value<number>(sql`SELECT customer_id FROM project WHERE id = ${scope}`) as number);
  return ownsCustomerUntil(db, caller, customer, until);
}

/** Whether the caller may manage some record there at all; what decides before the body is read. */
function mayEverManage(request: Request, structure: Structure, scope: number): boolean {
  // An owner for however short manages records that end before his own role does.
  return mayManageUntil(request, structure, scope, 0);
}

const scopeOf = (structure: Structure, row: { customer_id?: number; project_id?: number }): number =>
  row[`${structure}_id`] as number;

function permissions(structure: Structure): Collection<RoleFields, RoleRow> {
  const path = `${structure}-permissions`;
  const kind = structure === 'customer' ? 'Customer Permission' : 'Project Permission';
  const scopeIn = (values: Values<RoleFields>): number =>
    (values as unknown as Record<string, number>)[structure] as number;
  return collection<RoleRow>()({
    path,
    kind,
    description: `Active roles of users in ${structure}s.`,
    table: `${structure}_role`,
    alias: 'r',
    key: 'pk',
    fields: fieldsOf(structure, path, 'r.expires'),
    visible: (caller) => isActive(sight[structure].active(caller)),
    writable: (caller) => isActive(sight[structure].addressable(caller)),
    described: () => true,
    who: {
      read:
        structure === 'customer'
          ? 'Everybody connected with the customer; staff and global support.'
          : 'Owners of the customer; staff and global support.',
      create:
        structure === 'customer'
          ? 'Staff; owners with the setting owners_can_manage_owners.'
          : 'Staff; owners of the customer.',
      update: 'As for creation.',
      delete: 'As for creation.',
    },
    filters: filtersOf(structure),
    orderings: orderings('r.expires'),
    order: '-r.created',
    create: {
      mayWith: (request, values) => mayManageUntil(request, structure, scopeIn(values), values.expiration_time ?? null),
      run: (request, values) =>
        grantRole(request, {
          structure,
          scope: scopeIn(values),
          user: values.user as number,
          role: values.role as string,
          expires: values.expiration_time ?? null,
          author: request.caller.id,
        }),
    },
    update: {
      may: (request, row) =>
        row.user_id !== request.caller.id && mayEverManage(request, structure, scopeOf(structure, row)),
      mayWith: (request, values, row) =>
        mayManageUntil(
          request,
          structure,
          scopeOf(structure, row),
          values.expiration_time === undefined ? row.expires : values.expiration_time,
        ),
      run: (request, row, values) => {
        if (values.expiration_time !== undefined)
          request.db.update(`${structure}_role`, row.id, { expires: values.expiration_time });
      },
    },
    delete: {
      may: (request, row) => mayManageUntil(request, structure, scopeOf(structure, row), row.expires),
      run: (request, row) => revokeRole(request, structure, { ...row, scope: scopeOf(structure, row) }),
    },
  });
}

function permissionLog(structure: Structure): Collection<RoleFields, RoleRow> {
  const path = `${structure}-permissions-log`;
  return collection<RoleRow>()({
    path,
    kind: structure === 'customer' ? 'Customer Permission Log' : 'Project Permission Log',
    description: `Roles in ${structure}s that were revoked or have expired.`,
    table: `${structure}_role`,
    alias: 'r',
    key: 'pk',
    fields: fieldsOf(structure, path, 'r.ended'),
    visible: (caller) => isPast(sight[structure].past(caller)),
    who: {
      read:
        structure === 'customer'
          ? 'Owners and support of the customer; staff and global support.'
          : 'Owners of the customer; staff and global support.',
    },
    filters: filtersOf(structure),
    orderings: orderings('r.ended'),
    order: '-r.created',
  });
}

export const customerPermissions = permissions('customer');
export const projectPermissions = permissions('project');
export const customerPermissionsLog = permissionLog('customer');
export const projectPermissionsLog = permissionLog('project');
