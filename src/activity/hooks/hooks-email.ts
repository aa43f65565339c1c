import { exact } from '../../kernel/collection/filter.ts';
import { email } from '../../kernel/collection/values.ts';
import { hookCollection } from './hook.ts';

export const emailHooks = hookCollection({
  kind: 'email',
  path: 'hooks-email',
  type: 'email',
  name: 'Email Hook',
  description: 'Hooks that send a mail for each event.',
  fields: { email: email({ required: true, help: 'Where mails are sent to.' }) },
  example: { email: 'alice@example.com', event_groups: ['customers', 'projects'] },
  filters: { email: exact('h.email') },
});
