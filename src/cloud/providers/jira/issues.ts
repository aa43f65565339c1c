import { newUuid } from '../../../kernel/access/deployment.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { changesOf } from '../../../kernel/collection/changes.ts';
import { collection } from '../../../kernel/collection/collection.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { type Field, shown, shownText, shownTime, uuidField, type Values } from '../../../kernel/collection/field.ts';
import { exact, exactUuid, instant, linked, oneOf, partial, uuidOf } from '../../../kernel/collection/filter.ts';
import { type LinkTarget, link, selfLink } from '../../../kernel/collection/links.ts';
import {
  computedValue,
  knownText,
  linkValue,
  optionalLink,
  plainValue,
  textValue,
} from '../../../kernel/collection/representation.ts';
import { text } from '../../../kernel/collection/values.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { raw, sql, type Value } from '../../../kernel/db/sql.ts';
import { conflict, invalid } from '../../../kernel/http/error.ts';
import type { PlainValues } from '../../catalogue/driver.ts';
import type { EntityKind } from '../../catalogue/type.ts';
import { createEntity, updateEntity } from '../../entities/entities.ts';
import { propertyInSet, propertyLink } from '../../properties/property.ts';
import { resourceTarget } from '../../resources/details.ts';
import { entityEndpoints, type MadeRow } from './endpoints.ts';
import { isDescribed, madeBy, mayAddTo, mayChange, who } from './rights.ts';

export interface IssueRow extends MadeRow {
  readonly jira_project_id: number;
  readonly parent_id: number | null;
  readonly summary: string;
  readonly description: string;
  readonly type_name: string;
  readonly priority_name: string;
  /** JSON */
  readonly details: string;
}

const ofJiraProject = (column: string): string => `(SELECT ${column} FROM resource WHERE id = i.jira_project_id)`;
const ofProject = (column: string): string =>
  `(SELECT ${column} FROM project WHERE id = ${ofJiraProject('project_id')})`;
const ofParent = (column: string): string => `(SELECT ${column} FROM jira_issue WHERE id = i.parent_id)`;

/** What only JIRA tells of an issue. */
const told = [
  'status',
  'resolution',
  'resolution_date',
  ...['creator', 'assignee', 'reporter'].flatMap((role) => [`${role}_username`, `${role}_name`, `${role}_email`]),
];
const fromJira = (name: string): Field<never> =>
  shownText(computedValue(`ifnull(i.details -> '$.${name}', '${name === 'resolution_date' ? 'null' : '""'}')`));

/** A property of the project's settings, kept by its name: the link is null when there is no such property any more. */
const named = (kind: string, path: string, column: string): Field<number> => {
  const field = propertyLink(kind, path, { required: true });
  return {
    ...field,
    json: () =>
      optionalLink(
        path,
        `(SELECT d.uuid FROM property d WHERE d.kind = '${kind}' AND d.settings_id = i.settings_id AND d.name = ${column} ORDER BY d.id LIMIT 1)`,
      ),
    input: { ...(field.input as NonNullable<typeof field.input>), update: true },
  };
};

/** The collection itself, which the fields are made before. */
const ownKind: LinkTarget = { path: 'jira-issues', visibleId: (request, uuid) => issues.visibleId(request, uuid) };

const fields = {
  url: selfLink('jira-issues', 'i.uuid'),
  uuid: uuidField(),
  jira_project: link({
    required: true,
    update: false,
    to: resourceTarget('JIRA.Project', 'jira-projects'),
    key: ofJiraProject('uuid'),
  }),
  type: named('JIRA.IssueType', 'jira-issue-types', 'i.type_name'),
  summary: text({ max: 255, required: true, example: 'The shop does not open' }),
  priority: named('JIRA.Priority', 'jira-priorities', 'i.priority_name'),
  description: text({}),
  parent: link({ nullable: true, to: () => ownKind, key: ofParent('uuid') }),
  key: shownText(() => textValue('i.backend_id')),
  ...Object.fromEntries(told.map((name) => [name, fromJira(name)])),
  jira_project_uuid: shownText(plainValue(ofJiraProject('uuid'))),
  jira_project_name: shownText(knownText(ofJiraProject('name'))),
  project: shown('field', { type: 'string', format: 'uri' }, linkValue('projects', ofProject('uuid'))),
  project_uuid: shownText(plainValue(ofProject('uuid'))),
  project_name: shownText(knownText(ofProject('name'))),
  type_name: shownText(),
  priority_name: shownText(),
  parent_uuid: shownText(textValue(ofParent('uuid'))),
  parent_summary: shownText(textValue(ofParent('summary'))),
  access_url: shownText(
    computedValue(`(SELECT iif(st.backend_url LIKE 'http%' AND i.backend_id <> '', json_quote(concat(rtrim(st.backend_url, '/'), '/browse/', i.backend_id)), 'null')
    FROM service_settings st WHERE st.id = i.settings_id)`),
  ),
  user: shown(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', '(SELECT uuid FROM user WHERE id = i.user_id)'),
  ),
  created: shownTime(),
  updated: shownTime(),
  state: shownText(),
  error_message: shownText(),
};

type IssueValues = Values<typeof fields>;

/** Checks type, priority and parent against the settings and each other; answers their columns. Throws 400. */
function chosenColumns(
  request: Request,
  values: IssueValues,
  place: { settings: number; jiraProject: number },
  present?: IssueRow,
): Record<string, Value> {
  const { db } = request;
  const type = values.type === undefined ? undefined : propertyInSet(request, values.type, place.settings);
  const priority = values.priority === undefined ? undefined : propertyInSet(request, values.priority, place.settings);
  const errors: Record<string, string[]> = {};
  if (values.type !== undefined && !type) {
    const names = db.values<string>(
      sql`SELECT name FROM property WHERE kind = 'JIRA.IssueType' AND settings_id = ${place.settings} ORDER BY name COLLATE NOCASE`,
    );
    errors.type = [`Invalid issue type. Please select one of following: ${names.join(', ')}`];
  }
  if (values.priority !== undefined && !priority)
    errors.priority = ['Priority should belong to the same JIRA provider.'];
  const parent = values.parent === undefined ? (present?.parent_id ?? null) : values.parent;
  const isSubtask = type ? type.values.subtask === true : present !== undefined && isSubtaskType(db, present);
  if (parent !== null && !isSubtask && !errors.type)
    errors.parent = ['Issue type is not subtask, parent issue is not allowed.'];
  else if (
    parent !== null &&
    db.value(sql`SELECT jira_project_id FROM jira_issue WHERE id = ${parent}`) !== place.jiraProject
  ) {
    errors.parent = ['Parent issue should belong to the same JIRA project.'];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return {
    ...(type && { type_name: type.name }),
    ...(priority && { priority_name: priority.name }),
    ...(values.parent !== undefined && { parent_id: parent }),
  };
}

const isSubtaskType = (db: Database, { settings_id: settings, type_name: name }: IssueRow): boolean =>
  db.value(
    sql`SELECT 1 FROM property WHERE kind = 'JIRA.IssueType' AND settings_id = ${settings} AND name = ${name} AND details ->> '$.subtask'`,
  ) !== undefined;

const settingsOf = (db: Database, jiraProject: number): number =>
  db.value<number>(sql`SELECT settings_id FROM resource WHERE id = ${jiraProject}`) as number;

export const issues = collection<IssueRow>()({
  path: 'jira-issues',
  kind: 'JIRA Issue',
  description: 'Issues of JIRA projects.',
  table: 'jira_issue',
  alias: 'i',
  fields,
  visible: (caller) => madeBy(caller, 'i.user_id'),
  who,
  described: isDescribed,
  examples: { change: { summary: 'The shop does not open on phones' } },
  filters: {
    summary: partial('i.summary'),
    description: partial('i.description'),
    key: exact('i.backend_id', 'The key, such as WEB-1.'),
    status: oneOf("(i.details ->> '$.status')", 'Status at JIRA.'),
    type_name: oneOf('i.type_name', 'Name of the type.'),
    priority_name: oneOf('i.priority_name', 'Name of the priority.'),
    jira_project: linked('i.jira_project_id', 'resource', () => ({ path: 'jira-projects' })),
    jira_project_uuid: exactUuid(ofJiraProject('uuid')),
    project: linked(ofJiraProject('project_id'), 'project', () => ({ path: 'projects' })),
    project_uuid: uuidOf(ofJiraProject('project_id'), 'project'),
    user_uuid: uuidOf('i.user_id', 'user', 'Uuid of the user who made it.'),
    created_before: instant('i.created', '<='),
    created_after: instant('i.created', '>='),
    updated_before: instant('i.updated', '<='),
    updated_after: instant('i.updated', '>='),
  },
  orderings: {},
  order: '-i.created',
  create: {
    check: (request, values) => void chosenColumns(request, values, placeOf(request, values)),
    mayWith: (request, values) => mayAddTo(request, values.jira_project as number),
    run: (request, values) => {
      const place = placeOf(request, values);
      return createEntity(request, issue, place.settings, {
        jira_project_id: place.jiraProject,
        summary: values.summary as string,
        description: values.description ?? '',
        ...chosenColumns(request, values, place),
        updated: request.now,
      });
    },
  },
  update: {
    may: mayChange,
    check: (request, values, row) =>
      void chosenColumns(request, values, { settings: row.settings_id, jiraProject: row.jira_project_id }, row),
    run: (request, row, { description, summary, ...values }) => {
      const chosen = chosenColumns(
        request,
        values,
        { settings: row.settings_id, jiraProject: row.jira_project_id },
        row,
      );
      const changes = changesOf(row, {
        ...(description !== undefined && { description }),
        ...(summary !== undefined && { summary }),
        ...chosen,
      });
      updateEntity(request, issue, row, Object.keys(changes).length === 0 ? {} : { ...changes, updated: request.now });
    },
  },
});

const placeOf = ({ db }: Request, values: IssueValues): { settings: number; jiraProject: number } => {
  const jiraProject = values.jira_project as number;
  return { jiraProject, settings: settingsOf(db, jiraProject) };
};

/** Deleting a parent would leave subtasks that JIRA does not have without one. */
function refuseWithSubtasks({ db }: Request, { id }: IssueRow): void {
  if (db.value(sql`SELECT 1 FROM jira_issue WHERE parent_id = ${id}`) !== undefined)
    throw conflict('Cannot delete issue with existing subtasks');
}

/** The columns that JIRA's words on an issue go to. */
function stored(
  { deployment: { db }, now }: Parameters<EntityKind['stored']>[0],
  values: PlainValues,
  present: number | undefined,
): Record<string, Value> {
  const details = db.value<string>(sql`SELECT details FROM jira_issue WHERE id = ${present ?? null}`) ?? '{}';
  const news = Object.fromEntries(told.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
  const columns = ['summary', 'description', 'type_name', 'priority_name'].flatMap((name) =>
    typeof values[name] === 'string' ? [[name, values[name] as string] as const] : [],
  );
  if (columns.length === 0 && Object.keys(news).length === 0) return {};
  return { ...Object.fromEntries(columns), details: JSON.stringify({ ...JSON.parse(details), ...news }), updated: now };
}

/** JIRA.Issue, as drivers know it. */
export const issue: EntityKind = {
  name: 'Issue',
  table: 'jira_issue',
  owners: [
    { column: 'jira_project_id', table: 'resource' },
    { column: 'parent_id', table: 'jira_issue' },
  ],
  told: (db, id) => {
    const { description, parent_key, priority_name, summary, type_name } = db.get<
      IssueRow & { parent_key: string | null }
    >(
      sql`SELECT i.*, ${raw(ofParent('backend_id'))} AS parent_key FROM jira_issue i WHERE i.id = ${id}`,
    ) as IssueRow & { parent_key: string | null };
    return { values: { name: summary, summary, description, type_name, priority_name, parent_key } };
  },
  stored,
  adopt: (context, owner, backendId, values) => {
    const { db } = context.deployment;
    const settings = settingsOf(db, owner);
    db.insert('jira_issue', {
      uuid: newUuid(context.deployment),
      settings_id: settings,
      jira_project_id: owner,
      parent_id:
        db.value<number>(
          sql`SELECT id FROM jira_issue WHERE settings_id = ${settings} AND backend_id = ${String(values.parent_key ?? '')} AND backend_id <> ''`,
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

export const issueEndpoints: readonly Endpoint[] = entityEndpoints(issues, issue, refuseWithSubtasks);
