import { customerContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { countQuotas, createQuotas, embeddedQuotas, quotaNames, spendQuotas } from '../../activity/quotas/usage.ts';
import { seesAll } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import { anyOf, ownersOf, staff, visibleTo } from '../../kernel/access/right.ts';
import { connectedCustomers, connectedProjects, visibleCustomers } from '../../kernel/access/visibility.ts';
import { newUuid } from '../../kernel/app.ts';
import { changesOf } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import {
  readOnly,
  readOnlyList,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
} from '../../kernel/collection/field.ts';
import { exact, ofName, onlyFor, partial, uuid } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import {
  linkValue,
  listValue,
  notNullText,
  objectValue,
  optionalLink,
  plainValue,
} from '../../kernel/collection/representation.ts';
import { boolean, choice, email, integer, orNull, text } from '../../kernel/collection/values.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { eventReaders, revokeRolesIn } from '../roles/roles.ts';
import { countries } from './countries.ts';
import { customerNames } from './scope.ts';
import { vatProblem } from './vat.ts';

export interface CustomerRow extends Row {
  readonly created: number;
  readonly name: string;
  readonly native_name: string;
  readonly abbreviation: string;
  readonly contact_details: string;
  readonly agreement_number: number | null;
  readonly country: string;
  readonly vat_code: string;
  readonly is_company: number;
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    /** A customer was created with its quotas. Its event is recorded afterwards. */
    readonly customerCreated: (context: Context, customer: number) => void;
    /** A customer without projects and roles is being deleted. Its row is deleted afterwards. */
    readonly customerDeleted: (context: Context, customer: number) => void;
  }
}

/** Users with an active role. Every user who can see the customer sees the same members. */
const members = (role: 'owner' | 'support') =>
  readOnlyList(
    listValue(
      objectValue({
        url: linkValue('users', 'm.uuid'),
        uuid: plainValue('m.uuid'),
        username: notNullText('m.username'),
        full_name: notNullText('m.full_name'),
        native_name: notNullText('m.native_name'),
      }),
      `active_customer_role r JOIN user m ON m.id = r.user_id WHERE r.customer_id = c.id AND r.role = '${role}'`,
      'm.username COLLATE NOCASE, m.id',
    ),
  );

const fields = {
  url: selfLink('customers', 'c.uuid'),
  uuid: uuidField(),
  created: readOnlyTime(),
  name: text({ max: 150, required: true, example: 'Alice and Partners' }),
  native_name: text({ max: 160 }),
  abbreviation: text({ max: 12 }),
  contact_details: text({ max: 500, lines: 'many' }),
  agreement_number: orNull(
    integer({
      min: 0,
      max: 2_147_483_647,
      update: false,
      unique: {
        column: 'agreement_number',
        of: (value) => value,
        message: () => 'organization with this agreement number already exists.',
      },
    }),
  ),
  email: email(),
  phone_number: text({ max: 255 }),
  projects: readOnlyList(
    listValue(
      objectValue({ url: linkValue('projects', 'p.uuid'), uuid: plainValue('p.uuid'), name: notNullText('p.name') }),
      `project p WHERE p.customer_id = c.id AND (@all OR p.id IN (${connectedProjects(raw('@caller')).text}))`,
      'p.name COLLATE NOCASE, p.id',
    ),
  ),
  owners: members('owner'),
  support_users: members('support'),
  registration_code: text({ max: 160 }),
  quotas: readOnlyList(embeddedQuotas('customer', 'c.id')),
  image: readOnly(
    'image upload',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('customers', '(SELECT c.uuid FROM customer_image WHERE customer_id = c.id)', 'image/'),
  ),
  country: choice({ blank: true, choices: () => countries }),
  country_name: readOnlyText(notNullText('country_name(c.country)')),
  vat_code: text({ max: 20 }),
  is_company: boolean({ help: 'Company or private person.' }),
};

/** A valid body for the documentation. */
const example = {
  name: 'Alice and Partners',
  native_name: 'Alice ja partnerid',
  abbreviation: 'ALC',
  contact_details: 'Pikk 1, 10123 Tallinn',
  email: 'office@example.com',
  phone_number: '+372 600 0000',
  registration_code: '12345678',
  country: 'EE',
  vat_code: 'EE123456789',
  is_company: true,
};

/** The right to change a customer (core.md 6.3). */
const managers = anyOf(staff, ownersOf('id').when('owners_can_manage_customers'));

export const customers = collection<CustomerRow>()({
  path: 'customers',
  kind: 'Customer',
  description: 'Organisations. A customer owns projects; users are connected by roles in it or in its projects.',
  table: 'customer',
  alias: 'c',
  fields,
  visible: visibleTo('users with a role in the customer or one of its projects; staff and global support', (caller) =>
    visibleCustomers(caller, 'c.id'),
  ),
  invalidatedBy: {
    customer: { column: 'id' },
    customer_image: { column: 'customer_id' },
    customer_role: { column: 'customer_id' },
    project: { column: 'customer_id' },
    project_role: { column: 'project_id', through: { table: 'project', match: 'id', id: 'customer_id' } },
    quota: { column: 'scope_id', where: { column: 'scope_kind', is: 'customer' } },
  },
  described: () => true,
  filters: {
    ...ofName('c.name'),
    native_name: partial('c.native_name'),
    abbreviation: partial('c.abbreviation'),
    contact_details: partial('c.contact_details'),
    registration_code: exact('c.registration_code'),
    user_uuid: onlyFor(
      ({ caller }) => seesAll(caller),
      uuid('Customers that this user can see; for staff and global support.', (key, { db }) => {
        const user = db.get<{ id: number; everything: number }>(
          sql`SELECT id, is_staff OR is_support AS everything FROM user WHERE uuid = ${key}`,
        );
        if (!user) return raw('FALSE');
        return user.everything ? raw('TRUE') : sql`c.id IN (${connectedCustomers(sql`${user.id}`)})`;
      }),
    ),
  },
  orderings: {
    name: 'c.name COLLATE NOCASE',
    abbreviation: 'c.abbreviation COLLATE NOCASE',
    contact_details: 'c.contact_details COLLATE NOCASE',
    native_name: 'c.native_name COLLATE NOCASE',
    registration_code: 'c.registration_code',
  },
  order: 'c.name COLLATE NOCASE',
  examples: { create: example, replace: example, change: { phone_number: '+372 600 0001' } },
  create: {
    right: staff,
    check: (_, values) => rejectWrongVat(values),
    run: (request, _, columns) => {
      const { db } = request;
      spendQuotas(request, [{ scope: 'global', id: 0, name: 'nc_global_customer_count', delta: 1 }]);
      const id = db.insert('customer', { uuid: newUuid(request.app), created: request.now, ...columns });
      createQuotas(request, 'customer', id, quotaNames.customer);
      request.app.reactions.customerCreated(request, id);
      record(request, 'customer_creation_succeeded', customerContext(customerNames(db, id)));
      return id;
    },
  },
  update: {
    right: managers,
    check: (_, values, row) => rejectWrongVat(values, row),
    run: (request, row, _, columns) => {
      const changes = changesOf(row, columns);
      if (Object.keys(changes).length === 0) return;
      request.db.update('customer', row.id, changes);
      record(request, 'customer_update_succeeded', customerContext(customerNames(request.db, row.id)));
    },
  },
  delete: {
    right: managers,
    denialReason: ({ db }, row) =>
      db.value(sql`SELECT 1 FROM project WHERE customer_id = ${row.id}`) === undefined
        ? undefined
        : 'Cannot delete organization with existing projects',
    run: (request, row) => {
      const { db } = request;
      const extraRecipients = eventReaders(db, 'customer', row.id);
      revokeRolesIn(request, 'customer', row.id, extraRecipients);
      request.app.reactions.customerDeleted(request, row.id);
      db.run(sql`DELETE FROM customer WHERE id = ${row.id}`);
      countQuotas(request, [{ scope: 'global', id: 0, name: 'nc_global_customer_count', delta: -1 }]);
      record(request, 'customer_deletion_succeeded', customerContext(row), { extraRecipients });
    },
  },
});

/** Validates the VAT number if the body has it, the country or the kind of customer. Uses stored values for the others. */
function rejectWrongVat(values: Values<typeof fields>, row?: CustomerRow): void {
  if (values.vat_code === undefined && values.country === undefined && values.is_company === undefined) return;
  const problem = vatProblem({
    vat_code: values.vat_code ?? row?.vat_code ?? '',
    country: values.country ?? row?.country ?? '',
    is_company: values.is_company ?? row?.is_company === 1,
  });
  if (problem) throw invalid({ vat_code: [problem] });
}
