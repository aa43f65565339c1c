import { rightVia } from '../../../kernel/access/right.ts';
import { newUuid } from '../../../kernel/app.ts';
import { changesOf } from '../../../kernel/collection/changes.ts';
import { collection } from '../../../kernel/collection/collection.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { readOnly, readOnlyText, readOnlyTime, uuidField } from '../../../kernel/collection/field.ts';
import { linked, uuidOf } from '../../../kernel/collection/filter.ts';
import { link, selfLink } from '../../../kernel/collection/links.ts';
import { optionalLink } from '../../../kernel/collection/representation.ts';
import { text } from '../../../kernel/collection/values.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { EntityKind } from '../../catalogue/entity-kind.ts';
import { stateValue } from '../../catalogue/resource-row.ts';
import { createEntity, deleteEntity, updateEntity } from '../../entities/entities.ts';
import type { IssueRow } from './issue.ts';
import { issues } from './issues.ts';
import {
  type AuthoredRow,
  adders,
  authors,
  deletionByAuthors,
  isDescribed,
  projectOfIssue,
  visibleToAuthors,
} from './rights.ts';

interface CommentRow extends AuthoredRow {
  readonly issue_id: number;
  readonly message: string;
}

const fields = {
  url: selfLink('jira-comments', 'c.uuid'),
  uuid: uuidField(),
  issue: link({
    required: true,
    update: false,
    to: () => issues,
    key: '(SELECT uuid FROM jira_issue WHERE id = c.issue_id)',
  }),
  message: text({ lines: 'many', required: true, example: 'Fixed by the last release.' }),
  user: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', '(SELECT uuid FROM user WHERE id = c.user_id)'),
  ),
  author_username: readOnlyText(),
  created: readOnlyTime(),
  state: readOnlyText(stateValue),
  error_message: readOnlyText(),
};

/** The issue that something is added to. */
export const issueOf = (db: Database, id: number): IssueRow =>
  db.one<IssueRow>(sql`SELECT * FROM jira_issue WHERE id = ${id}`);

/** Who can add to an issue. */
export const issueAdders = rightVia(
  ({ issue }: { readonly issue: number }, { db }) => ({ jira_project_id: issueOf(db, issue).jira_project_id }),
  adders,
);

const comments = collection<CommentRow>()({
  path: 'jira-comments',
  kind: 'JIRA Comment',
  description: 'Comments on issues of JIRA projects.',
  table: 'jira_comment',
  alias: 'c',
  fields,
  // The creator of an issue sees the comments made at JIRA.
  visible: visibleToAuthors(
    ', and answers from JIRA to their issues',
    projectOfIssue('c.issue_id'),
    (user) => sql`
      c.user_id = ${user}
      OR (c.user_id IS NULL AND c.issue_id IN (SELECT id FROM jira_issue WHERE user_id = ${user}))`,
  ),
  described: isDescribed,
  filters: { issue: linked('c.issue_id', 'jira_issue', () => issues), issue_uuid: uuidOf('c.issue_id', 'jira_issue') },
  orderings: {},
  order: '-c.created',
  create: {
    rightWith: issueAdders,
    run: (request, { issue }, columns) =>
      createEntity(request, comment, issueOf(request.db, issue).settings_id, columns),
  },
  update: {
    right: authors,
    run: (request, row, _, columns) => updateEntity(request, comment, row, changesOf(row, columns)),
  },
  delete: { ...deletionByAuthors, run: (request, row) => deleteEntity(request, comment, row) },
});

/** The text sent to JIRA. One account posts for all users, so the text names the author. */
function signed(message: string, user: { username: string; full_name: string } | undefined): string {
  return user ? `${message}\n\n(added by ${user.full_name || user.username} [${user.username}])` : message;
}

/** The message of a text at JIRA. */
const unsigned = (text: string): string => text.replace(/\r?\n\r?\n\(added by [^\n]* \[[^\]\n]*\]\)\s*$/, '');

/** JIRA.Comment as an entity. */
export const comment: EntityKind = {
  name: 'Comment',
  table: 'jira_comment',
  owners: [{ column: 'issue_id', table: 'jira_issue' }],
  distinguishedBy: ['issue_id', 'message'],
  driverInput: (db, id) => {
    const { message, user_id: user } = db.one<CommentRow>(sql`SELECT * FROM jira_comment WHERE id = ${id}`);
    const text = signed(
      message,
      db.get<{ username: string; full_name: string }>(sql`SELECT username, full_name FROM user WHERE id = ${user}`),
    );
    return { values: { name: text, message: text } };
  },
  stored: (_context, { author_username: author, message }) => ({
    ...(typeof message === 'string' && { message: unsigned(message) }),
    ...(typeof author === 'string' && { author_username: author }),
  }),
  importDiscovered: (context, owner, backendId, values) => {
    const { db } = context.app;
    // A comment of another issue is rejected, even if a webhook names this issue.
    const { backend_id: key, settings_id: settings } = issueOf(db, owner);
    if (values.issue !== undefined && values.issue !== key) return;
    db.insert('jira_comment', {
      uuid: newUuid(context.app),
      settings_id: settings,
      issue_id: owner,
      message: '',
      state: 'OK',
      backend_id: backendId,
      created: context.now,
      ...comment.stored(context, values, undefined),
    });
  },
};

export const commentEndpoints: readonly Endpoint[] = comments.endpoints();
