import type { Columns } from '../../kernel/collection/changes.ts';
import { exactEmail } from '../../kernel/collection/email-filters.ts';
import { readOnly } from '../../kernel/collection/field.ts';
import { booleanValue } from '../../kernel/collection/representation.ts';
import { email } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { askReceiver, isTrusted } from './confirmation.ts';
import { type HookRow, hookCollection } from './hook.ts';
import { cancelDeliveries } from './queue.ts';

/** The address that a body brings, where it has to be judged whether its owner wants mails: not one that is confirmed already. */
function judgedEmail({ email: address }: Columns, row: HookRow | undefined): string | undefined {
  if (typeof address !== 'string') return undefined;
  return row?.email === address && row.is_confirmed ? undefined : address;
}

export const emailHooks = hookCollection({
  kind: 'email',
  path: 'hooks-email',
  type: 'email',
  name: 'Email Hook',
  description: 'Hooks that send a mail for each event.',
  fields: {
    email: email({ required: true, help: 'Where mails are sent to.' }),
    is_confirmed: readOnly('boolean', { type: 'boolean' }, booleanValue, {
      help: 'Whether the owner of the address wants the mails; until then none are sent.',
    }),
  },
  example: { email: 'alice@example.com', event_groups: ['customers', 'projects'] },
  filters: { email: exactEmail('h.email') },
  refusals: { 429: true },
  stored: (request, columns, { row, user_id: author }) => {
    const judged = judgedEmail(columns, row);
    return judged === undefined ? columns : { ...columns, is_confirmed: Number(isTrusted(request, author, judged)) };
  },
  follow: (request, columns, { id, row, user_id, uuid }) => {
    const judged = judgedEmail(columns, row);
    if (judged === undefined || isTrusted(request, user_id, judged)) return;
    // What was queued for another address is not for this one.
    if (row && row.email !== judged) cancelDeliveries(request, sql`id = ${id}`, 'The address was changed.');
    askReceiver(request, { id, uuid, user_id, email: judged });
  },
});
