import type { Columns } from '../../kernel/collection/changes.ts';
import { readOnly } from '../../kernel/collection/field.ts';
import { exactEmail } from '../../kernel/collection/filter.ts';
import { booleanValue } from '../../kernel/collection/representation.ts';
import { email } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { isTrusted, requestConfirmation } from './confirmation.ts';
import { type HookRow, hookCollection } from './hook.ts';
import { cancelDeliveries } from './queue.ts';

/** Returns the address in a body, unless the hook already has it and its owner has confirmed it. */
function unconfirmedEmail({ email: address }: Columns, row: HookRow | undefined): string | undefined {
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
    email: email({ required: true, help: 'Address of the mails.' }),
    is_confirmed: readOnly('boolean', { type: 'boolean' }, booleanValue, {
      help: 'Whether the owner of the address has agreed; no mails are sent before.',
    }),
  },
  example: { email: 'alice@example.com', event_groups: ['customers', 'projects'] },
  filters: { email: exactEmail('h.email') },
  rejections: { 429: true },
  stored: (request, columns, { row, user_id: author }) => {
    const unconfirmed = unconfirmedEmail(columns, row);
    return unconfirmed === undefined
      ? columns
      : { ...columns, is_confirmed: Number(isTrusted(request, author, unconfirmed)) };
  },
  afterStore: (request, columns, { id, row, user_id, uuid }) => {
    const unconfirmed = unconfirmedEmail(columns, row);
    if (unconfirmed === undefined || isTrusted(request, user_id, unconfirmed)) return;
    // Mails for the previous address must not go to the new one.
    if (row && row.email !== unconfirmed) cancelDeliveries(request, sql`id = ${id}`, 'The address was changed.');
    requestConfirmation(request, { id, uuid, user_id, email: unconfirmed });
  },
});
