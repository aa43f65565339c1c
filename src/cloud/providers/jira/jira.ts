import { FieldError, messages, refine } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';
import { requiredCredentials } from '../../catalogue/options.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { masked } from '../../services/settings-fields.ts';
import { attachment, attachmentEndpoints } from './attachments.ts';
import { comment, commentEndpoints } from './comments.ts';
import { JiraDriver } from './driver.ts';
import { issue } from './issue.ts';
import { issueEndpoints } from './issues.ts';
import { project } from './project.ts';
import { issueType, priority, projectTemplate } from './properties.ts';
import { simulation } from './simulation.ts';
import { webhookReceiver } from './webhook.ts';

const shortestSecret = 20;

/** Minimum length of the webhook secret. The receiver is public, so the secret must not be guessable. */
const webhookSecret = {
  ...refine(
    text({
      max: 255,
      lines: 'verbatim',
      help: `Secret that JIRA sends with its webhooks, of at least ${shortestSecret} characters.`,
    }),
    (input) => {
      if (input !== masked && [...input].length < shortestSecret)
        throw new FieldError([messages.tooShort(shortestSecret)]);
    },
  ),
  constraints: { min_length: shortestSecret, max_length: 255 },
};

/** JIRA (providers.md 7) */
export const jira: ProviderType = {
  name: 'JIRA',
  prefix: 'jira',
  hasGlobalProperties: false,
  isPublic: false,
  options: { webhook_secret: webhookSecret },
  secretOptions: ['webhook_secret'],
  missingCredentials: requiredCredentials('username', 'password'),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [project],
  entities: [issue, comment, attachment],
  endpoints: [...issueEndpoints, ...commentEndpoints, ...attachmentEndpoints, webhookReceiver],
  properties: [projectTemplate, issueType, priority],
  driver: (settings, http) => new JiraDriver(settings, http),
  simulation,
};
