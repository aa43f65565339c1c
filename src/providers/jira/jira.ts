import { text } from '../../collection/field.ts';
import type { ProviderType } from '../provider.ts';
import { project } from './project.ts';
import { issueType, priority, projectTemplate } from './properties.ts';
import { simulation } from './simulation.ts';

const required = ['This field is required.'];

/** JIRA (providers.md 7) */
export const jira: ProviderType = {
  name: 'JIRA',
  prefix: 'jira',
  hasGlobalProperties: false,
  isPublic: false,
  options: { webhook_secret: text({ max: 255, help: 'Secret that JIRA sends with its webhooks.' }) },
  secretOptions: ['webhook_secret'],
  missingCredentials: ({ password, username }) => ({ ...(!username && { username: required }), ...(!password && { password: required }) }),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [project],
  properties: [projectTemplate, issueType, priority],
  simulation,
};
