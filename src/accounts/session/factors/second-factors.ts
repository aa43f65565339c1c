/** Second factors: devices and apps that prove a user's identity in addition to the password (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { userIn, visibleTo } from '../../../kernel/access/right.ts';
import { Collection, type Row } from '../../../kernel/collection/collection.ts';
import { readOnlyText, readOnlyTime, uuidField } from '../../../kernel/collection/field.ts';
import { uuidOf } from '../../../kernel/collection/filter.ts';
import { selfLink } from '../../../kernel/collection/links.ts';
import { timeValue, wordValue } from '../../../kernel/collection/representation.ts';
import { text } from '../../../kernel/collection/values.ts';
import { raw, sql } from '../../../kernel/db/sql.ts';
import { userOf } from '../../users/users.ts';
import { confirmed } from '../confirmation.ts';
import { factorKinds, removeFactor } from './factor-store.ts';

interface FactorRow extends Row {
  readonly user_id: number;
}

/** Maximum length of a factor's name. */
export const maxNameLength = 150;

const fields = {
  url: selfLink('second-factors', 'f.uuid'),
  uuid: uuidField(),
  kind: readOnlyText(() => wordValue('f.kind', factorKinds)),
  name: text({ max: maxNameLength, required: true, create: false, example: 'Phone', help: 'Name of the factor.' }),
  created: readOnlyTime(),
  last_used: readOnlyTime(timeValue),
};

const owner = confirmed(userIn('user_id', 'the user'));

export const secondFactors: Collection<typeof fields, FactorRow> = new Collection<typeof fields, FactorRow>({
  path: 'second-factors',
  kind: 'Second Factor',
  description: 'Authenticator apps that logins of the user require. Users see their own.',
  table: 'second_factor',
  alias: 'f',
  fields,
  visible: visibleTo('the user; staff', (caller) => (caller.isStaff ? raw('TRUE') : sql`f.user_id = ${caller.id}`)),
  page: {
    run: (request: Request, listing) =>
      listing.page(request, [
        secondFactors.visible(request),
        request.query.one('user_uuid') ? raw('TRUE') : sql`f.user_id = ${request.caller.id}`,
      ]),
  },
  filters: { user_uuid: uuidOf('f.user_id', 'user', 'Uuid of the user, for staff; default: the caller.') },
  orderings: { created: 'f.created', name: 'f.name COLLATE NOCASE', last_used: 'f.last_used' },
  order: 'f.id',
  update: { right: owner, run: ({ db }, { id }, _, columns) => void db.update('second_factor', id, columns) },
  delete: { right: owner, run: (request, { id, user_id: user }) => removeFactor(request, userOf(request, user), id) },
});
