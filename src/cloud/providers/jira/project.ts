import type { Request } from '../../../kernel/access/request.ts';
import { staff } from '../../../kernel/access/right.ts';
import {
  type Field,
  FieldError,
  readOnlyList,
  refine,
  type WritableField,
  writeOnly,
} from '../../../kernel/collection/field.ts';
import {
  booleanValue,
  computedValue,
  linkValue,
  listValue,
  notNullText,
  objectValue,
  optionalLink,
  plainValue,
} from '../../../kernel/collection/representation.ts';
import { text, withJson } from '../../../kernel/collection/values.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../catalogue/type.ts';
import { chosenProperty, propertyLink } from '../../properties/property.ts';
import { detail, shownDetail } from '../../resources/details.ts';

const keyRule =
  'Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters.';
const maxKeyLength = 10;

/** The key of a project: part of every issue's name, never changed. */
const key: WritableField<string, true> = writeOnly({
  ...refine(
    text({ max: 255, required: true, update: false, example: 'WEB', pattern: [/^[A-Z][A-Z0-9]+$/, keyRule] }),
    (input) => {
      if (input.length > maxKeyLength)
        throw new FieldError(['The project key must not exceed 10 characters in length.']);
    },
  ),
  facts: { max_length: maxKeyLength },
});

/** Properties of a kind that the settings of the project have, described by their details. */
const propertiesOfSettings = (
  kind: string,
  path: string,
  extra: Readonly<Record<string, ReturnType<typeof computedValue>>> = {},
): Field<never> =>
  readOnlyList(
    listValue(
      objectValue({
        url: linkValue(path, 'd.uuid'),
        uuid: plainValue('d.uuid'),
        name: notNullText('d.name'),
        description: computedValue(`ifnull(d.details -> '$.description', '""')`, { type: 'string' }),
        icon_url: computedValue(`ifnull(d.details -> '$.icon_url', '""')`, { type: 'string' }),
        ...extra,
      }),
      `property d WHERE d.kind = '${kind}' AND d.settings_id = r.settings_id`,
      'd.name',
    ),
  );

const template = withJson(propertyLink('JIRA.ProjectTemplate', 'jira-project-templates'), () =>
  optionalLink('jira-project-templates', `(SELECT uuid FROM property WHERE id = ${detail('template_id')})`),
);

const fields = {
  key,
  template,
  template_name: shownDetail('template_name', { type: 'string' }, '""'),
  template_description: shownDetail('template_description', { type: 'string' }, '""'),
  issue_types: propertiesOfSettings('JIRA.IssueType', 'jira-issue-types', {
    subtask: booleanValue(`d.details ->> '$.subtask'`),
  }),
  priorities: propertiesOfSettings('JIRA.Priority', 'jira-priorities'),
};

function accept(request: Request, values: NewResource<typeof fields>, place: ResourceLocation): CreationPlan {
  const chosen = chosenProperty(request, values, 'template', place.settings);
  return {
    row: {
      key: values.key,
      template_id: chosen.id,
      template_name: chosen.name,
      template_description: chosen.values.description ?? '',
    },
    parameters: { key: values.key, template: chosen.backend_id, project_type: chosen.values.project_type },
  };
}

/** JIRA.Project (providers.md 7.2) */
export const project = resourceKind({
  name: 'Project',
  path: 'jira-projects',
  examples: { name: 'Website' },
  plural: 'jira projects',
  category: 'apps',
  fields,
  accessUrl: computedValue(`(
    SELECT iif(
      st.backend_url LIKE 'http%' AND r.backend_id <> '',
      json_quote(concat(rtrim(st.backend_url, '/'), '/projects/', r.backend_id)), 'null')
    FROM service_settings st WHERE st.id = r.settings_id)`),
  isCreatable: true,
  pushedFields: ['name'],
  accept,
  quotaDeltas: () => ({}),
  actions: [],
  deletion: { right: staff },
  importing: {},
});
