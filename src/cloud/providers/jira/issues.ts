import type { Request } from '../../../kernel/access/request.ts';
import { rightVia } from '../../../kernel/access/right.ts';
import { changesOf } from '../../../kernel/collection/changes.ts';
import { collection } from '../../../kernel/collection/collection.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import {
  type Field,
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
  type WritableField,
} from '../../../kernel/collection/field.ts';
import { exact, exactUuid, instant, linked, oneOf, partial, uuidOf } from '../../../kernel/collection/filter.ts';
import { type LinkTarget, link, selfLink } from '../../../kernel/collection/links.ts';
import {
  computedValue,
  linkValue,
  notNullText,
  optionalLink,
  plainValue,
  textValue,
} from '../../../kernel/collection/representation.ts';
import { text, withJson } from '../../../kernel/collection/values.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql, type Value } from '../../../kernel/db/sql.ts';
import { invalid } from '../../../kernel/http/error.ts';
import { stateValue } from '../../catalogue/resource-row.ts';
import { createEntity, deleteEntity, updateEntity } from '../../entities/entities.ts';
import { propertyInSet, propertyLink } from '../../properties/property.ts';
import { resourceTarget } from '../../resources/details.ts';
import { type IssueRow, issue, jiraOnlyFields, settingsOf } from './issue.ts';
import { adders, authors, deletionByAuthors, isDescribed, visibleToAuthors } from './rights.ts';

const ofJiraProject = (column: string): string => `(SELECT ${column} FROM resource WHERE id = i.jira_project_id)`;
const ofProject = (column: string): string =>
  `(SELECT ${column} FROM project WHERE id = ${ofJiraProject('project_id')})`;
const ofParent = (column: string): string => `(SELECT ${column} FROM jira_issue WHERE id = i.parent_id)`;

const fromJira = (name: string): Field<never> =>
  readOnlyText(computedValue(`ifnull(i.details -> '$.${name}', '${name === 'resolution_date' ? 'null' : '""'}')`));

/** A property of the project's settings, stored by name; the link is null if the property no longer exists. */
const named = (kind: string, path: string, column: string): WritableField<number, true> =>
  withJson(propertyLink(kind, path, { update: true }), () =>
    optionalLink(
      path,
      `(SELECT d.uuid FROM property d
        WHERE d.kind = '${kind}' AND d.settings_id = i.settings_id AND d.name = ${column} ORDER BY d.id LIMIT 1)`,
    ),
  );

/** The collection, which is created after the fields. */
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
  description: text({ lines: 'many' }),
  parent: link({ nullable: true, to: () => ownKind, key: ofParent('uuid') }),
  key: readOnlyText(() => textValue('i.backend_id')),
  ...Object.fromEntries(jiraOnlyFields.map((name) => [name, fromJira(name)])),
  jira_project_uuid: readOnlyText(plainValue(ofJiraProject('uuid'))),
  jira_project_name: readOnlyText(notNullText(ofJiraProject('name'))),
  project: readOnly('field', { type: 'string', format: 'uri' }, linkValue('projects', ofProject('uuid'))),
  project_uuid: readOnlyText(plainValue(ofProject('uuid'))),
  project_name: readOnlyText(notNullText(ofProject('name'))),
  type_name: readOnlyText(),
  priority_name: readOnlyText(),
  parent_uuid: readOnlyText(textValue(ofParent('uuid'))),
  parent_summary: readOnlyText(textValue(ofParent('summary'))),
  access_url: readOnlyText(
    computedValue(`(
      SELECT iif(
        st.backend_url LIKE 'http%' AND i.backend_id <> '',
        json_quote(concat(rtrim(st.backend_url, '/'), '/browse/', i.backend_id)), 'null')
      FROM service_settings st WHERE st.id = i.settings_id)`),
  ),
  user: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', '(SELECT uuid FROM user WHERE id = i.user_id)'),
  ),
  created: readOnlyTime(),
  updated: readOnlyTime(),
  state: readOnlyText(stateValue),
  error_message: readOnlyText(),
};

type IssueValues = Values<typeof fields>;

/** Ids of an issue's project and of the project's settings. */
interface IssuePlace {
  readonly jiraProject: number;
  readonly settings: number;
}

const placeOf = ({ jira_project_id: jiraProject, settings_id: settings }: IssueRow): IssuePlace => ({
  jiraProject,
  settings,
});

const placeIn = ({ db }: Request, jiraProject: number): IssuePlace => ({
  jiraProject,
  settings: settingsOf(db, jiraProject),
});

/** Checks type, priority and parent against the settings and each other. Returns their columns. Throws 400. */
function chosenColumns(
  request: Request,
  values: IssueValues,
  place: IssuePlace,
  existing?: IssueRow,
): Record<string, Value> {
  const { db } = request;
  const type = values.type === undefined ? undefined : propertyInSet(request, values.type, place.settings);
  const priority = values.priority === undefined ? undefined : propertyInSet(request, values.priority, place.settings);
  const errors: Record<string, string[]> = {};
  if (values.type !== undefined && !type) {
    const names = db.values<string>(
      sql`
        SELECT name FROM property
        WHERE kind = 'JIRA.IssueType' AND settings_id = ${place.settings} ORDER BY name COLLATE NOCASE`,
    );
    errors.type = [`Invalid issue type. Please select one of following: ${names.join(', ')}`];
  }
  if (values.priority !== undefined && !priority)
    errors.priority = ['Priority should belong to the same JIRA provider.'];
  const parent = values.parent === undefined ? (existing?.parent_id ?? null) : values.parent;
  const isSubtask = type ? type.values.subtask === true : existing !== undefined && isSubtaskType(db, existing);
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
    sql`
      SELECT 1 FROM property
      WHERE kind = 'JIRA.IssueType' AND settings_id = ${settings} AND name = ${name} AND details ->> '$.subtask'`,
  ) !== undefined;

export const issues = collection<IssueRow>()({
  path: 'jira-issues',
  kind: 'JIRA Issue',
  description: 'Issues of JIRA projects.',
  table: 'jira_issue',
  alias: 'i',
  fields,
  visible: visibleToAuthors('', 'i.jira_project_id', (user) => sql`i.user_id = ${user}`),
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
    user_uuid: uuidOf('i.user_id', 'user', 'Uuid of the author.'),
    created_before: instant('i.created', '<='),
    created_after: instant('i.created', '>='),
    updated_before: instant('i.updated', '<='),
    updated_after: instant('i.updated', '>='),
  },
  orderings: {},
  order: '-i.created',
  create: {
    check: (request, values) => void chosenColumns(request, values, placeIn(request, values.jira_project)),
    rightWith: rightVia(({ jira_project: id }: { readonly jira_project: number }) => ({ jira_project_id: id }), adders),
    run: (request, values, columns) => {
      const place = placeIn(request, values.jira_project);
      return createEntity(request, issue, place.settings, {
        ...columns,
        ...chosenColumns(request, values, place),
        updated: request.now,
      });
    },
  },
  update: {
    right: authors,
    check: (request, values, row) => void chosenColumns(request, values, placeOf(row), row),
    run: (request, row, values, columns) => {
      const changes = changesOf(row, { ...columns, ...chosenColumns(request, values, placeOf(row), row) });
      updateEntity(request, issue, row, Object.keys(changes).length === 0 ? {} : { ...changes, updated: request.now });
    },
  },
  delete: {
    ...deletionByAuthors,
    denialReason: subtasksReason,
    run: (request, row) => deleteEntity(request, issue, row),
  },
});

/** Deleting a parent would leave subtasks that JIRA does not have without one. */
function subtasksReason({ db }: Request, { id }: IssueRow): string | undefined {
  const subtask = db.value(sql`SELECT 1 FROM jira_issue WHERE parent_id = ${id}`);
  return subtask === undefined ? undefined : 'Cannot delete issue with existing subtasks';
}

export const issueEndpoints: readonly Endpoint[] = issues.endpoints();
