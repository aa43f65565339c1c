import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import type { Parent, Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Fields, readOnly, readOnlyList, readOnlyText, uuidField } from '../../kernel/collection/field.ts';
import { booleanColumn, exact, ofName, onlyFor, partial, partialEmail } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { Listing } from '../../kernel/collection/listing.ts';
import {
  linkValue,
  listValue,
  notNullText,
  objectValue,
  optionalLink,
  plainValue,
  textValue,
  timeValue,
} from '../../kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { customers } from '../customers/customers.ts';
import { projects } from '../projects/projects.ts';
import type { RoleScope } from '../roles/roles.ts';
import { partOfCivilNumber, usersOfCustomers } from '../users/user-filters.ts';

/** SQL of a column of the user's active role in the customer or project `@scope`, or null. */
const ownRole = (structure: RoleScope, column: string): string =>
  `(SELECT ${column} FROM active_${structure}_role WHERE ${structure}_id = @scope AND user_id = u.id)`;

const fieldsOf = (structure: RoleScope, extraFields: Fields): Fields => ({
  url: selfLink('users', 'u.uuid'),
  uuid: uuidField(),
  username: readOnlyText(),
  full_name: readOnlyText(),
  email: readOnlyText(),
  role: readOnlyText(textValue(ownRole(structure, 'role'))),
  permission: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink(`${structure}-permissions`, ownRole(structure, 'id')),
  ),
  ...extraFields,
  expiration_time: readOnly(
    'datetime',
    { type: ['string', 'null'], format: 'date-time' },
    timeValue(ownRole(structure, 'expires')),
  ),
});

/** The user's active roles in the projects of the customer that the caller can see. */
const projectRoles = listValue(
  objectValue({
    url: linkValue('projects', 'p.uuid'),
    uuid: plainValue('p.uuid'),
    name: notNullText('p.name'),
    role: textValue('r.role'),
    permission: linkValue('project-permissions', 'r.id'),
    expiration_time: timeValue('r.expires'),
  }),
  `
    active_project_role r JOIN project p ON p.id = r.project_id
    WHERE r.user_id = u.id AND p.customer_id = @scope AND (@all OR p.id IN (${connectedProjects(raw('@caller')).text}))`,
  'p.name COLLATE NOCASE, p.id',
);

const listing = (structure: RoleScope, extraFields: Fields): Listing =>
  new Listing({
    title: structure === 'customer' ? 'CustomerUser' : 'ProjectUser',
    table: 'user',
    alias: 'u',
    fields: fieldsOf(structure, extraFields),
    filters: {
      ...ofName('u.full_name'),
      full_name: partial('u.full_name'),
      native_name: partial('u.native_name'),
      job_title: partial('u.job_title'),
      email: partialEmail('u.email'),
      username: partial('u.username'),
      phone_number: partial('u.phone_number'),
      civil_number: partOfCivilNumber,
      registration_method: partial('u.registration_method'),
      description: onlyFor(({ caller }) => seesAll(caller), partial('u.description')),
      organization: exact('u.organization'),
      is_active: booleanColumn('u.is_active'),
      organization_approved: booleanColumn('u.organization_approved'),
    },
    orderings: { concatenated_name: 'concat(u.full_name, u.username) COLLATE NOCASE' },
    order: 'u.username COLLATE NOCASE',
  });

/** GET …/users/: users with active roles in a customer or project (core.md 6.5, 7.5). */
function membersEndpoint(
  structure: RoleScope,
  parent: Parent<Row>,
  list: Listing,
  members: (id: number) => Sql,
): Endpoint {
  return {
    path: `/api/${structure}s/:key/users/`,
    name: `${parent.spec.kind} Users`,
    description: `Users with an active role in the ${structure}.`,
    actions: (request) => {
      parent.find(request);
      return undefined;
    },
    operations: {
      GET: {
        summary: `Lists the users connected with a ${structure}.`,
        filters: list.spec.filters,
        orderings: Object.keys(list.spec.orderings),
        paginated: true,
        allowedFor: `Any user who can see the ${structure}.`,
        output: { status: 200, shape: { type: 'array', items: list.shape } },
        handle: (request: Request) => {
          const { id } = parent.find(request);
          return list.page(request, [members(id)], { scope: id });
        },
      },
    },
  };
}

export const customerUsers = membersEndpoint(
  'customer',
  customers,
  listing('customer', { projects: readOnlyList(projectRoles) }),
  (id) => sql`u.id IN (${usersOfCustomers(sql`${id}`)})`,
);

export const projectUsers = membersEndpoint(
  'project',
  projects,
  listing('project', {}),
  (id) => sql`u.id IN (SELECT user_id FROM active_project_role WHERE project_id = ${id})`,
);
