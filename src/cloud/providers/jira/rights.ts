import { seesAll } from '../../../kernel/access/caller.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { anyOf, rightVia, staff, userIn, type Visibility, visibleTo } from '../../../kernel/access/right.ts';
import { messageShape } from '../../../kernel/collection/field.ts';
import { raw, sql } from '../../../kernel/db/sql.ts';
import type { EntityRow } from '../../entities/entities.ts';
import { mayChangeSomeResources, type ResourcePlace, resourceWriters } from '../../resources/rights.ts';

/* Rights of issues, comments and attachments (providers.md 7.4). */

/** A row with who made it; null for what came from JIRA. */
export interface MadeRow extends EntityRow {
  readonly user_id: number | null;
}

/** Who sees objects whose author stands in this column. */
export const visibleToMakers = (column: string): Visibility =>
  visibleTo('staff and global support; others what they made', (caller) =>
    seesAll(caller) ? raw('TRUE') : sql`${raw(column)} = ${caller.id}`,
  );

/** Who changes and deletes an object. */
export const makers = anyOf(staff, userIn('user_id', 'others what they made'));

/** What deletions declare alike: they are scheduled, as those of resources. */
export const deletionByMakers = { right: makers, output: { status: 202, shape: messageShape } } as const;

/** Whether OPTIONS describes the fields: of what is there to who may change it, and of creation to who may add somewhere. */
export const isDescribed = (request: Request, row: MadeRow | undefined): boolean =>
  row ? makers.may(request, row) : mayChangeSomeResources(request);

/** Who adds to a JIRA project, which is a resource: those who change it. */
export const adders = rightVia(
  ({ jira_project_id: id }: { readonly jira_project_id: number }, { db }) =>
    db.one<ResourcePlace>(sql`SELECT project_id, customer_id FROM resource WHERE id = ${id}`),
  resourceWriters.as("staff; owners of the customer; managers and administrators of the JIRA project's project"),
);
