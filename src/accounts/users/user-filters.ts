import { callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { connectedCustomers } from '../../kernel/access/visibility.ts';
import { type Filter, partial } from '../../kernel/collection/filter.ts';
import { any, type Sql, sql } from '../../kernel/db/sql.ts';

/** Filters by part of the civil number. Other callers than staff and global support find only themselves (core.md 4.5). */
export const partOfCivilNumber: Filter = {
  ...partial('u.civil_number'),
  condition: (request, name) => {
    const condition = partial('u.civil_number').condition(request, name);
    return condition && !seesAll(request.caller) ? sql`${condition} AND u.id = ${request.caller.userId}` : condition;
  },
};

/** Selects the ids of the users with an active role in these customers or their projects. */
export const usersOfCustomers = (customers: Sql): Sql => sql`
  SELECT user_id FROM active_customer_role WHERE customer_id IN (${customers})
  UNION
  SELECT r.user_id FROM project p JOIN active_project_role r ON r.project_id = p.id
  WHERE p.customer_id IN (${customers})`;

/** The filter `potential` (core.md 4.5): users connected with the caller's customers. */
export function potential({ caller, query }: Request): Sql {
  const customer = query.uuid('potential_customer');
  const organizations = query.list('potential_organization').filter((name) => name !== '');
  const mine = seesAll(caller) ? sql`SELECT id FROM customer` : connectedCustomers(callerId(caller));
  const customers =
    customer === undefined ? mine : sql`SELECT id FROM customer WHERE uuid = ${customer} AND id IN (${mine})`;
  const connected = sql`u.id IN (${usersOfCustomers(customers)})`;
  const among = sql`u.organization IN (SELECT value FROM json_each(${JSON.stringify(organizations)}))`;
  const result =
    organizations.length === 0
      ? connected
      : any([
          sql`${connected} AND ${among}`,
          sql`
            u.organization_approved AND ${among}
            AND NOT EXISTS (SELECT 1 FROM active_customer_role r WHERE r.user_id = u.id)
            AND NOT EXISTS (SELECT 1 FROM active_project_role r WHERE r.user_id = u.id)`,
        ]);
  return sql`NOT u.is_staff AND (${result})`;
}
