import { text } from '../../../kernel/collection/values.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { attachment, attachmentEndpoints } from './attachments.ts';
import { comment, commentEndpoints } from './comments.ts';
import { issue } from './issue.ts';
import { issueEndpoints } from './issues.ts';
import { project } from './project.ts';
import { issueType, priority, projectTemplate } from './properties.ts';
import { simulation } from './simulation.ts';
import { webhookReceiver } from './webhook.ts';

const required = ['This field is required.'];

/** JIRA (providers.md 7) */
export const jira: ProviderType = {
  name: 'JIRA',
  prefix: 'jira',
  hasGlobalProperties: false,
  isPublic: false,
  options: { webhook_secret: text({ max: 255, help: 'Secret that JIRA sends with its webhooks.' }) },
  secretOptions: ['webhook_secret'],
  missingCredentials: ({ password, username }) => ({
    ...(!username && { username: required }),
    ...(!password && { password: required }),
  }),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [project],
  entities: [issue, comment, attachment],
  endpoints: [...issueEndpoints, ...commentEndpoints, ...attachmentEndpoints, webhookReceiver],
  properties: [projectTemplate, issueType, priority],
  simulation,
};
