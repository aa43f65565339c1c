import type { Request } from '../../kernel/access/request.ts';
import type { Writing } from '../../kernel/collection/field.ts';
import { exact, type Filter, within } from '../../kernel/collection/filter.ts';
import { textValue } from '../../kernel/collection/representation.ts';
import { choice, orNull, text } from '../../kernel/collection/values.ts';
import { type Sql, sql } from '../../kernel/db/sql.ts';
import { hookCollection } from './hook.ts';
import { knownToken, tokenColumns } from './push-tokens.ts';

/** Condition: hooks of the same author as the hook with this id or, for a new hook, of the caller. */
const ofAuthor = ({ caller }: Request, current: number | undefined): Sql =>
  current === undefined ? sql`user_id = ${caller.id}` : sql`user_id = (SELECT user_id FROM hook WHERE id = ${current})`;

/** A value that identifies a device, unique among the hooks of a user. */
const identifier = (words: string, unique: Pick<NonNullable<Writing<string>['unique']>, 'column' | 'of'>) =>
  orNull(
    text({
      max: 255,
      required: true,
      unique: { ...unique, within: ofAuthor, message: () => `push hook with this ${words} already exists.` },
    }),
  );

const withToken: Filter = {
  type: 'string',
  help: 'The exact value.',
  condition: ({ app, query }, name) => {
    const token = query.one(name);
    return token === undefined ? undefined : sql`h.token_digest = ${knownToken(app, token)}`;
  },
};

export const pushHooks = hookCollection({
  kind: 'push',
  path: 'hooks-push',
  type: 'pushhook',
  name: 'Push Hook',
  description: 'Hooks that notify a mobile device through a push gateway.',
  fields: {
    type: choice({
      required: true,
      choices: () => [
        ['Android', 'Android'],
        ['iOS', 'iOS'],
      ],
      help: 'Platform of the device.',
    }),
    device_id: identifier('device id', { column: 'device_id', of: (value) => value }),
    token: {
      ...identifier('token', { column: 'token_digest', of: (value, { app }) => knownToken(app, value) }),
      json: (column) => textValue(`unsealed(${column}, h.uuid)`),
    },
    device_manufacturer: orNull(text({ max: 255 })),
    device_model: orNull(text({ max: 255 })),
  },
  example: {
    type: 'Android',
    device_id: '9774d56d682e549c',
    token: 'registration-token-of-the-device',
    device_model: 'Pixel 9',
    event_groups: ['resources'],
  },
  filters: {
    type: within(['Android', 'iOS'], exact('h.type')),
    device_id: exact('h.device_id'),
    token: withToken,
    device_manufacturer: exact('h.device_manufacturer'),
    device_model: exact('h.device_model'),
  },
  stored: ({ app }, columns, { row, uuid }) => {
    const { token, ...others } = columns;
    return token === undefined ? columns : { ...others, ...tokenColumns(app, token, uuid, row?.token_digest) };
  },
});
