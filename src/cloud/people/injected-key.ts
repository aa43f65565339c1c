import * as v from 'valibot';
import { keys } from '../../accounts/keys/keys.ts';
import type { Request } from '../../kernel/access/request.ts';
import { FieldError, inputOf, type WritableField } from '../../kernel/collection/field.ts';
import { emptyAsNull, linkKey, linkText } from '../../kernel/collection/links.ts';
import { sql } from '../../kernel/db/sql.ts';

/** The parts of a key for rows and drivers. */
export interface InjectedKey {
  readonly uuid: string;
  readonly name: string;
  readonly public_key: string;
  readonly fingerprint: string;
}

/** Parses the key among the parameters of a creation. */
export const injectedKeySchema = v.optional(
  v.object({ name: v.string(), public_key: v.string(), fingerprint: v.string() }),
);

/** The key to inject: one of the caller's, or any for staff. Its value is the key's id. */
export const keyToInject = (): WritableField<number | null, false> => ({
  type: 'field',
  constraints: {},
  shape: { type: 'string', format: 'uri' },
  select: () => ({ path: keys.path, by: 'user' }),
  help: 'Without a key, you cannot sign in over SSH.',
  label: 'SSH public key',
  input: inputOf(
    { update: false, storedIn: false },
    { schema: linkText, nullable: true, coerce: emptyAsNull, resolve: ownKey },
  ),
});

/** Returns the id of a linked key, if the caller may inject it. Throws FieldError. */
function ownKey(link: string, request: Request): number {
  const uuid = linkKey(link, keys.path, request);
  const key = request.db.get<{ id: number; user_id: number }>(
    sql`SELECT id, user_id FROM ssh_key WHERE uuid = ${uuid}`,
  );
  if (!key || !(request.caller.isStaff || key.user_id === request.caller.userId))
    throw new FieldError(['Invalid hyperlink - Object does not exist.']);
  return key.id;
}

/** Returns the chosen key by its id. */
export const injectedKey = ({ db }: Request, id: unknown): InjectedKey | undefined =>
  typeof id === 'number'
    ? db.get<InjectedKey>(sql`SELECT uuid, name, public_key, fingerprint FROM ssh_key WHERE id = ${id}`)
    : undefined;
