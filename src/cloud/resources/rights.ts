import type { Caller } from '../../kernel/access/caller.ts';
import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { ownsCustomer, ownsSomeCustomer } from '../../kernel/access/rights.ts';
import { visibleProjects } from '../../kernel/access/visibility.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';

/** Condition: the caller sees the resource in alias `r`, because he sees its project. */
export const visibleResources = (caller: Caller): Sql =>
  seesAll(caller) ? raw('TRUE') : visibleProjects(caller, 'r.project_id');

/** Whether there is a project where the caller creates, changes and deletes resources. */
export const mayChangeSomeResources = ({ caller, db }: Pick<Request, 'caller' | 'db'>): boolean =>
  caller.isStaff ||
  ownsSomeCustomer(db, caller) ||
  db.value(
    sql`SELECT 1 FROM project_role WHERE user_id = ${caller.id} AND role IN ('admin', 'manager') AND ended IS NULL`,
  ) !== undefined;

/** Whether the caller creates, changes and deletes resources of a project: staff, owners, managers, administrators (services.md 8.7). */
export function mayChangeResources(
  { caller, db }: Pick<Request, 'caller' | 'db'>,
  project: number,
  customer: number,
): boolean {
  if (caller.isStaff || ownsCustomer(db, caller, customer)) return true;
  return (
    db.value(sql`SELECT 1 FROM project_role
    WHERE project_id = ${project} AND user_id = ${caller.id} AND role IN ('admin', 'manager') AND ended IS NULL`) !==
    undefined
  );
}
