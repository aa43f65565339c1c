import type { Inventory, PlainValues } from '../../catalogue/driver.ts';
import type { VendorChoice, VendorComment, VendorIssue, VendorPerson, VendorTemplate } from './api.ts';

/* Maps JIRA objects to row values. */

/** The login of a person, or the account id if JIRA sends no login. */
export const loginOf = (person: VendorPerson): string => person?.name || person?.accountId || '';

const personValues = (role: string, person: VendorPerson): PlainValues => ({
  [`${role}_username`]: loginOf(person),
  [`${role}_name`]: person?.displayName ?? '',
  [`${role}_email`]: person?.emailAddress ?? '',
});

/** Row values of an issue. */
export function issueValues({ fields }: VendorIssue): PlainValues {
  const resolved = Date.parse(fields.resolutiondate ?? '');
  return {
    summary: fields.summary ?? '',
    description: fields.description ?? '',
    type_name: fields.issuetype?.name ?? '',
    priority_name: fields.priority?.name ?? '',
    parent_key: fields.parent?.key ?? null,
    status: fields.status?.name ?? '',
    resolution: fields.resolution?.name ?? '',
    resolution_date: Number.isNaN(resolved) ? null : new Date(resolved).toISOString(),
    ...personValues('creator', fields.creator),
    ...personValues('assignee', fields.assignee),
    ...personValues('reporter', fields.reporter),
  };
}

/** Row values of a comment. */
export const commentValues = ({ author, body }: VendorComment, issue: string): PlainValues => ({
  message: body ?? '',
  author_username: loginOf(author),
  issue,
});

const described = ({ description, iconUrl }: VendorChoice | VendorTemplate): PlainValues => ({
  description: description ?? '',
  icon_url: iconUrl ?? '',
});

/** The sets of properties. */
export const propertySets = (
  templates: readonly VendorTemplate[],
  types: readonly VendorChoice[],
  priorities: readonly VendorChoice[],
): Inventory['properties'] => ({
  ProjectTemplate: templates.map((template) => ({
    backend_id: template.projectTemplateModuleCompleteKey,
    name: template.name,
    details: { ...described(template), project_type: template.projectTypeKey },
  })),
  IssueType: types.map((type) => ({
    backend_id: type.id,
    name: type.name,
    details: { ...described(type), subtask: type.subtask === true },
  })),
  Priority: priorities.map((priority) => ({
    backend_id: priority.id,
    name: priority.name,
    details: described(priority),
  })),
});
