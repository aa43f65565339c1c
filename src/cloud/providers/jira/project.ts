import type { Request } from '../../../kernel/access/request.ts';
import { type Field, type Fields, hidden, shownList, type Values } from '../../../kernel/collection/field.ts';
import {
  booleanValue,
  computedValue,
  knownText,
  linkValue,
  listValue,
  objectValue,
  optionalLink,
  plainValue,
} from '../../../kernel/collection/representation.ts';
import { checked } from '../../../kernel/collection/rules.ts';
import { text } from '../../../kernel/collection/values.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { Acceptance, Place, ResourceKind } from '../../catalogue/type.ts';
import { propertyInSet, propertyLink } from '../../properties/property.ts';
import { detail, shownDetail } from '../../resources/details.ts';

const keyRule =
  'Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters.';
const longestKey = 10;

/** The key of a project: part of every issue's name, never changed. */
const key: Field<string> = hidden({
  ...checked(
    text({ max: 255, required: true, update: false, example: 'WEB', pattern: [/^[A-Z][A-Z0-9]+$/, keyRule] }),
    (given) => (given.length > longestKey ? ['The project key must not exceed 10 characters in length.'] : []),
  ),
  facts: { max_length: longestKey },
});

/** Properties of a kind that the settings of the project have, described by their details. */
const propertiesOfSettings = (
  kind: string,
  path: string,
  extra: Readonly<Record<string, ReturnType<typeof computedValue>>> = {},
): Field<never> =>
  shownList(
    listValue(
      objectValue({
        url: linkValue(path, 'd.uuid'),
        uuid: plainValue('d.uuid'),
        name: knownText('d.name'),
        description: computedValue(`ifnull(d.details -> '$.description', '""')`, { type: 'string' }),
        icon_url: computedValue(`ifnull(d.details -> '$.icon_url', '""')`, { type: 'string' }),
        ...extra,
      }),
      `property d WHERE d.kind = '${kind}' AND d.settings_id = r.settings_id`,
      'd.name',
    ),
  );

const template: Field<number> = {
  ...propertyLink('JIRA.ProjectTemplate', 'jira-project-templates', { required: true }),
  json: () => optionalLink('jira-project-templates', `(SELECT uuid FROM property WHERE id = ${detail('template_id')})`),
};

function accept(request: Request, values: Values<Fields>, place: Place): Acceptance {
  const given = values as { key: string; template: number };
  const chosen = propertyInSet(request, given.template, place.settings);
  if (!chosen) throw invalid({ template: ['Invalid hyperlink - Object does not exist.'] });
  return {
    row: {
      key: given.key,
      template_id: chosen.id,
      template_name: chosen.name,
      template_description: chosen.values.description ?? '',
    },
    parameters: { key: given.key, template: chosen.backend_id },
  };
}

/** JIRA.Project (providers.md 7.2) */
export const project: ResourceKind = {
  name: 'Project',
  path: 'jira-projects',
  examples: { name: 'Website' },
  plural: 'jira projects',
  category: 'apps',
  fields: {
    key,
    template,
    template_name: shownDetail('template_name', { type: 'string' }, '""'),
    template_description: shownDetail('template_description', { type: 'string' }, '""'),
    issue_types: propertiesOfSettings('JIRA.IssueType', 'jira-issue-types', {
      subtask: booleanValue(`d.details ->> '$.subtask'`),
    }),
    priorities: propertiesOfSettings('JIRA.Priority', 'jira-priorities'),
  },
  accessUrl:
    computedValue(`(SELECT iif(st.backend_url LIKE 'http%' AND r.backend_id <> '', json_quote(concat(rtrim(st.backend_url, '/'), '/projects/', r.backend_id)), 'null')
    FROM service_settings st WHERE st.id = r.settings_id)`),
  isCreatable: true,
  pushes: ['name'],
  accept,
  demands: () => ({}),
  actions: [],
  forbidDeletion: ({ caller }) => (caller.isStaff ? undefined : 'You do not have permission to perform this action.'),
  isImportable: true,
};
