import { shown } from '../../collection/field.ts';
import { booleanValue } from '../../collection/representation.ts';
import { propertyDetail, shownProperty } from '../property.ts';
import type { PropertyKind } from '../provider.ts';

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
  fields: { ...described, subtask: shown('boolean', { type: 'boolean' }, booleanValue(propertyDetail('subtask'))) },
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
