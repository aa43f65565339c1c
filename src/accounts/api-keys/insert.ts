import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import { issueApiKey } from '../../kernel/security/api-keys.ts';
import { userOf } from '../users/users.ts';
import { type Bounds, isBound, storeBounds } from './bounds.ts';

/** Validated columns of a new key. Lists are JSON. */
interface NewApiKey {
  /** Id of the owner. */
  readonly user: number;
  /** Id of the user who receives the key; null for a command. */
  readonly author: number | null;
  readonly columns: {
    readonly name: string;
    readonly scopes: string;
    readonly networks: string;
    readonly expires: number | null;
  };
  readonly bounds: Bounds;
}

/** Stores a key, records its event, and returns its id and text. */
export function insertApiKey(
  context: Context,
  { author, bounds, columns, user }: NewApiKey,
): { readonly id: number; readonly key: string } {
  const { app, now } = context;
  const { columns: issued, key } = issueApiKey(context);
  const id = app.db.insert('api_key', {
    ...columns,
    ...issued,
    uuid: newUuid(app),
    user_id: user,
    created_by: author,
    is_bound: Number(isBound(bounds)),
    created: now,
  });
  storeBounds(app, id, bounds);
  recordNewKey(context, user);
  return { id, key };
}

/** Records the event of a new key. */
export function recordNewKey(context: Context, user: number): void {
  record(context, 'token_created', affectedUser(userOf(context.app, user)));
}
