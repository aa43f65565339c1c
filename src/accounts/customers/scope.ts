import { type CustomerNames, customerContext } from '../../activity/events/context.ts';
import type { Scope } from '../../activity/scopes/scope.ts';
import { connectedCustomers } from '../../kernel/access/visibility.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Returns the values of a customer for event contexts. */
export const customerNames = (db: Database, id: number): CustomerNames =>
  db.one<CustomerNames>(sql`SELECT uuid, name, abbreviation, contact_details FROM customer WHERE id = ${id}`);

/** Customers as scopes of quotas, alerts and events. */
export const customerScope: Scope = {
  name: 'structure.customer',
  short: 'customer',
  path: 'customers',
  table: 'customer',
  accepted: true,
  readable: connectedCustomers,
  quotaCounts: { global: { nc_global_customer_count: `SELECT 0 AS scope_id, count(*) AS counted FROM customer` } },
  own: (db, id) => customerContext(customerNames(db, id)),
  scope: (db, id) => {
    const customer = customerNames(db, id);
    return {
      scope_uuid: customer.uuid,
      scope_name: customer.name,
      scope_abbreviation: customer.abbreviation,
      scope_contact_details: customer.contact_details,
    };
  },
};
