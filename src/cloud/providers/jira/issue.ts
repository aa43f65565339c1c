import { newUuid } from '../../../kernel/app.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql, type Value } from '../../../kernel/db/sql.ts';
import type { PlainValues } from '../../catalogue/driver.ts';
import type { EntityKind } from '../../catalogue/entity-kind.ts';
import type { AuthoredRow } from './rights.ts';

export interface IssueRow extends AuthoredRow {
  readonly jira_project_id: number;
  readonly parent_id: number | null;
  readonly summary: string;
  readonly description: string;
  readonly type_name: string;
  readonly priority_name: string;
  /** JSON */
  readonly details: string;
}

/** Fields of an issue that only JIRA sets. */
export const jiraOnlyFields = [
  'status',
  'resolution',
  'resolution_date',
  ...['creator', 'assignee', 'reporter'].flatMap((role) => [`${role}_username`, `${role}_name`, `${role}_email`]),
];
/** The settings of a JIRA project. */
export const settingsOf = (db: Database, jiraProject: number): number =>
  db.scalar<number>(sql`SELECT settings_id FROM resource WHERE id = ${jiraProject}`);

/** The columns to store for an issue read from JIRA. */
function stored(
  { app: { db }, now }: Parameters<EntityKind['stored']>[0],
  values: PlainValues,
  existingId: number | undefined,
): Record<string, Value> {
  const details = db.value<string>(sql`SELECT details FROM jira_issue WHERE id = ${existingId ?? null}`) ?? '{}';
  const news = Object.fromEntries(
    jiraOnlyFields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  const columns = ['summary', 'description', 'type_name', 'priority_name'].flatMap((name) => {
    const value = values[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  if (columns.length === 0 && Object.keys(news).length === 0) return {};
  return { ...Object.fromEntries(columns), details: JSON.stringify({ ...JSON.parse(details), ...news }), updated: now };
}

/** JIRA.Issue as an entity. */
export const issue: EntityKind = {
  name: 'Issue',
  table: 'jira_issue',
  owners: [
    { column: 'jira_project_id', table: 'resource' },
    { column: 'parent_id', table: 'jira_issue' },
  ],
  distinguishedBy: ['jira_project_id', 'summary'],
  driverInput: (db, id) => {
    const { description, parent_key, priority_name, summary, type_name } = db.one<
      IssueRow & { parent_key: string | null }
    >(
      sql`SELECT i.*, (SELECT backend_id FROM jira_issue WHERE id = i.parent_id) AS parent_key FROM jira_issue i WHERE i.id = ${id}`,
    );
    return { values: { name: summary, summary, description, type_name, priority_name, parent_key } };
  },
  stored,
  importDiscovered: (context, owner, backendId, values) => {
    const { db } = context.app;
    const settings = settingsOf(db, owner);
    db.insert('jira_issue', {
      uuid: newUuid(context.app),
      settings_id: settings,
      jira_project_id: owner,
      parent_id:
        db.value<number>(
          sql`
            SELECT id FROM jira_issue
            WHERE settings_id = ${settings} AND backend_id = ${String(values.parent_key ?? '')} AND backend_id <> ''`,
        ) ?? null,
      summary: '',
      state: 'OK',
      backend_id: backendId,
      created: context.now,
      updated: context.now,
      ...stored(context, values, undefined),
    });
  },
};
