import { type Caller, seesAll } from '../../../kernel/access/caller.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts';
import { mayChangeResources, mayChangeSomeResources } from '../../resources/rights.ts';

/* Rights of issues, comments and attachments (providers.md 7.4). */

/** In words, for the documentation. */
export const who = {
  read: 'Staff and global support; others what they made.',
  create: "Staff; owners of the customer; managers and administrators of the JIRA project's project.",
  update: 'Staff; others what they made.',
  delete: 'Staff; others what they made.',
} as const;

/** Condition: the caller made the object whose author stands in `column`, or sees everything. */
export const madeBy = (caller: Caller, column: string): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} = ${caller.id}`;

/** Whether the caller may change what this user made. */
export const mayChange = ({ caller }: Request, { user_id: user }: { readonly user_id: number | null }): boolean =>
  caller.isStaff || user === caller.id;

/** Whether OPTIONS describes the fields: of what is there to who may change it, and of creation to who may add somewhere. */
export const isDescribed = (request: Request, row: { readonly user_id: number | null } | undefined): boolean =>
  row ? mayChange(request, row) : mayChangeSomeResources(request);

/** Whether the caller may add to a JIRA project. */
export function mayAddTo(request: Request, jiraProject: number): boolean {
  const place = request.db.get<{ project_id: number; customer_id: number }>(
    sql`SELECT project_id, customer_id FROM resource WHERE id = ${jiraProject}`,
  );
  return place !== undefined && mayChangeResources(request, place.project_id, place.customer_id);
}
