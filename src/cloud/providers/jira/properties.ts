import { readOnly } from '../../../kernel/collection/field.ts';
import { booleanValue } from '../../../kernel/collection/representation.ts';
import type { PropertyKind } from '../../catalogue/type.ts';
import { propertyDetail, shownProperty } from '../../properties/property.ts';

const described = {
  description: shownProperty('description', 'string', '""'),
  icon_url: shownProperty('icon_url', 'string', '""'),
};

export const projectTemplate: PropertyKind = {
  name: 'ProjectTemplate',
  path: 'jira-project-templates',
  isGlobal: true,
  fields: described,
  filters: {},
  orderings: {},
};

export const issueType: PropertyKind = {
  name: 'IssueType',
  path: 'jira-issue-types',
  fields: { ...described, subtask: readOnly('boolean', { type: 'boolean' }, booleanValue(propertyDetail('subtask'))) },
  filters: {},
  orderings: {},
};

export const priority: PropertyKind = {
  name: 'Priority',
  path: 'jira-priorities',
  fields: described,
  filters: {},
  orderings: {},
};
