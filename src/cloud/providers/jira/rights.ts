import { seesAll } from '../../../kernel/access/caller.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { anyOf, type Right, right, rightVia, staff, type Visibility, visibleTo } from '../../../kernel/access/right.ts';
import { visibleProjects } from '../../../kernel/access/visibility.ts';
import { messageShape } from '../../../kernel/collection/field.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts';
import type { EntityRow } from '../../entities/entities.ts';
import { mayChangeSomeResources, type ResourcePlace, resourceWriters } from '../../resources/rights.ts';

/* Rights of issues, comments and attachments (providers.md 7.4). */

/** A row with its creator; null if it came from JIRA. */
export interface AuthoredRow extends EntityRow {
  readonly user_id: number | null;
}

/** An issue, or what belongs to one. */
type PlacedRow = AuthoredRow & ({ readonly jira_project_id: number } | { readonly issue_id: number });

/** The JIRA project of the issue whose id this SQL returns. */
export const projectOfIssue = (issue: string): string => `(SELECT jira_project_id FROM jira_issue WHERE id = ${issue})`;

/**
 * Who can see objects: their creators, while they can see the JIRA project. `isMade` is the condition for a user's own objects,
 * `jiraProject` SQL of the project's id.
 */
export const visibleToAuthors = (words: string, jiraProject: string, isMade: (user: number) => Sql): Visibility =>
  visibleTo(`staff and global support; users who can see the JIRA project, for what they wrote${words}`, (caller) =>
    seesAll(caller)
      ? raw('TRUE')
      : sql`(${isMade(caller.userId)})
          AND ${visibleProjects(caller, `(SELECT project_id FROM resource WHERE id = ${jiraProject})`)}`,
  );

const placeOf = (db: Database, jiraProject: number): ResourcePlace =>
  db.one<ResourcePlace>(sql`SELECT project_id, customer_id FROM resource WHERE id = ${jiraProject}`);

const jiraProjectOf = (db: Database, row: PlacedRow): number =>
  'jira_project_id' in row
    ? row.jira_project_id
    : db.scalar<number>(sql`SELECT jira_project_id FROM jira_issue WHERE id = ${row.issue_id}`);

/** Who changes and deletes an object. */
export const authors: Right<PlacedRow> = anyOf<PlacedRow>(
  staff,
  right<PlacedRow>(
    'users who can change the JIRA project, for what they wrote',
    (request, row) =>
      row.user_id === request.caller.userId &&
      resourceWriters.may(request, placeOf(request.db, jiraProjectOf(request.db, row))),
  ),
);

/** Common declaration of deletions, which are scheduled like those of resources. */
export const deletionByAuthors = { right: authors, output: { status: 202, shape: messageShape } } as const;

/** Whether OPTIONS lists the fields: those of an object to users who can change it, those of creation to users who can add one. */
export const isDescribed = (request: Request, row: PlacedRow | undefined): boolean =>
  row ? authors.may(request, row) : mayChangeSomeResources(request);

/** Who can add to a JIRA project: users who can change it. */
export const adders = rightVia(
  ({ jira_project_id: id }: { readonly jira_project_id: number }, { db }) => placeOf(db, id),
  resourceWriters.as("staff; owners of the customer; managers and administrators of the JIRA project's project"),
);
