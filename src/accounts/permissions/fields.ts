import { datetime } from '../../kernel/collection/datetime.ts';
import {
  type Field,
  FieldError,
  type Fields,
  readOnly,
  readOnlyText,
  readOnlyTime,
  refine,
} from '../../kernel/collection/field.ts';
import { exact, type Filters, linked, partial, uuidOf, within } from '../../kernel/collection/filter.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  type Json,
  numberValue,
  optionalLink,
  plainValue,
  textValue,
  timeValue,
} from '../../kernel/collection/representation.ts';
import { choice, withJson } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { customers } from '../customers/customers.ts';
import { projects } from '../projects/projects.ts';
import { type RoleScope, roleNames } from '../roles/roles.ts';
import { namedUsers } from '../users/directory.ts';
import { users } from '../users/users.ts';

/** SQL of a column of a related object. `of('customer', 'name')` is the name of the role's customer. */
const of = (table: string, column: string, id = `r.${table}_id`): string =>
  `(SELECT ${column} FROM ${table} WHERE id = ${id})`;
const customerOfProject = (column: string): string =>
  `(SELECT c.${column} FROM project p JOIN customer c ON c.id = p.customer_id WHERE p.id = r.project_id)`;
const related = (json: Json): Field<never> => readOnlyText(json);

/** The fields of the customer of a role (core.md 8.1). */
export const customerFields = {
  customer: link({ required: true, update: false, to: () => customers, key: of('customer', 'uuid') }),
  customer_uuid: related(plainValue(of('customer', 'uuid'))),
  customer_name: related(textValue(of('customer', 'name'))),
  customer_native_name: related(textValue(of('customer', 'native_name'))),
  customer_abbreviation: related(textValue(of('customer', 'abbreviation'))),
};

/** The fields of the project of a role. */
export const projectFields = {
  project: link({ required: true, update: false, to: () => projects, key: of('project', 'uuid') }),
  project_uuid: related(plainValue(of('project', 'uuid'))),
  project_name: related(textValue(of('project', 'name'))),
  customer_name: related(textValue(customerOfProject('name'))),
};

/** A time in the future, or null. */
const futureTime = refine(
  datetime({ storedIn: 'expires', help: 'When the role expires; null: never.', example: '2030-12-31T23:59:59Z' }),
  (instant, { now }) => {
    if (instant !== null && instant <= now)
      throw new FieldError(['Expiration time should be greater than current time.']);
  },
);

/** The fields of a role in a customer or project. `expiration` is the column with its expiry. */
export const fieldsOf = <F extends Fields>(structure: RoleScope, path: string, expiration: string, scopeFields: F) => ({
  url: selfLink(path, 'r.id'),
  pk: readOnly('integer', { type: 'integer' }, numberValue('r.id'), { label: 'pk' }),
  role: choice({ required: true, update: false, choices: () => Object.entries(roleNames[structure]) }),
  created: readOnlyTime(),
  expiration_time: withJson(futureTime, () => timeValue(expiration)),
  created_by: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', of('user', 'uuid', 'r.created_by')),
  ),
  ...scopeFields,
  user: link({ required: true, update: false, to: () => namedUsers, key: of('user', 'uuid') }),
  user_full_name: related(textValue(of('user', 'full_name'))),
  user_native_name: related(textValue(of('user', 'native_name'))),
  user_username: related(textValue(of('user', 'username'))),
  user_uuid: related(plainValue(of('user', 'uuid'))),
  user_email: related(textValue(of('user', 'email'))),
  source: readOnlyText(textValue('r.source', { type: ['string', 'null'] })),
});

/** A filter on the user of a role. */
const ofUser = (filter: ReturnType<typeof partial>): ReturnType<typeof partial> => ({
  ...filter,
  condition: (request, name) => {
    const condition = filter.condition(request, name);
    return condition && sql`r.user_id IN (SELECT u.id FROM user u WHERE ${condition})`;
  },
});

/** The filters of permissions and logs (core.md 8.5). */
export const filtersOf = (structure: RoleScope): Filters => ({
  user: uuidOf('r.user_id', 'user', 'Uuid of the user.'),
  user_url: linked('r.user_id', 'user', () => users),
  username: ofUser(partial('u.username')),
  full_name: ofUser(partial('u.full_name')),
  native_name: ofUser(partial('u.native_name')),
  role: within(structure === 'customer' ? ['owner', 'support'] : ['admin', 'manager', 'support'], exact('r.role')),
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

/** The orderings of permissions and logs. */
export const orderings = (expiration: string): Record<string, string> => ({
  username: `${of('user', 'username')} COLLATE NOCASE`,
  full_name: `${of('user', 'full_name')} COLLATE NOCASE`,
  native_name: `${of('user', 'native_name')} COLLATE NOCASE`,
  email: `${of('user', 'email')} COLLATE NOCASE`,
  expiration_time: expiration,
  created: 'r.created',
  role: 'r.role',
});
