import * as v from 'valibot';
import { keys } from '../../accounts/keys/keys.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type Field, FieldError, hidden } from '../../kernel/collection/field.ts';
import { linkKey, resolveLink } from '../../kernel/collection/links.ts';
import { sql } from '../../kernel/db/sql.ts';

/** A key as rows keep it and drivers need it. */
export interface InjectedKey {
  readonly name: string;
  readonly public_key: string;
  readonly fingerprint: string;
}

/** The key to inject: one of the caller's own, for staff any. Its value is the key's id. */
export const keyToInject = (): Field<number> =>
  hidden({
    type: 'field',
    facts: {},
    shape: { type: 'string', format: 'uri' },
    select: () => ({ path: keys.path, by: 'user' }),
    help: 'SSH key that is put into the machine.',
    label: 'SSH public key',
    input: {
      schema: v.string(),
      nullable: true,
      required: false,
      create: true,
      update: false,
      parse: (value: unknown, request: Request): number => {
        if (value === '' || value === null) return null as unknown as number;
        if (typeof value !== 'string') return resolveLink(value, keys, request);
        const uuid = linkKey(value, keys.path, request);
        const key = request.db.get<{ id: number; user_id: number }>(
          sql`SELECT id, user_id FROM ssh_key WHERE uuid = ${uuid}`,
        );
        if (!key || !(request.caller.isStaff || key.user_id === request.caller.id))
          throw new FieldError(['Invalid hyperlink - Object does not exist.']);
        return key.id;
      },
    },
  });

/** The key that a creation chose, by its id. */
export const injectedKey = ({ db }: Request, id: unknown): InjectedKey | undefined =>
  typeof id === 'number'
    ? db.get<InjectedKey>(sql`SELECT name, public_key, fingerprint FROM ssh_key WHERE id = ${id}`)
    : undefined;
