import { callerId, seesAll } from '../../kernel/access/caller.ts';
import { anyOf, type Right, right, staff, visibleTo } from '../../kernel/access/right.ts';
import { ownsCustomer } from '../../kernel/access/rights.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { readOnly, readOnlyText, uuidField } from '../../kernel/collection/field.ts';
import { ofName } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { numberValue } from '../../kernel/collection/representation.ts';
import { number } from '../../kernel/collection/values.ts';
import { raw } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { changeQuota, type QuotaRow } from './usage.ts';

type QuotaObject = QuotaRow & Row;

const fieldsOf = (scopes: Scopes) => ({
  url: selfLink('quotas', 'q.uuid'),
  uuid: uuidField(),
  name: readOnlyText(),
  limit: number({ column: '"limit"', help: 'Maximum usage; -1: unlimited.', example: 20 }),
  usage: readOnly('float', { type: 'number' }, numberValue),
  scope: readOnly('field', { type: ['string', 'null'], format: 'uri' }, scopes.link('q.scope_kind', 'q.scope_id')),
  threshold: number({ min: 0, help: 'Usage from which an alert is raised; 0: off.' }),
});

/** Owners of a customer may set the quotas of its projects and links, but not those of the customer (events.md 2.4). */
const limitSetters: Right<QuotaObject> = right(
  'owners of the customer for quotas of its projects and links',
  ({ app, caller, db }, { scope_id: id, scope_kind: kind }) => {
    const customer = kind === 'project' || kind === 'link' ? app.scopes.customerOf(db, kind, id) : undefined;
    return customer !== undefined && ownsCustomer(db, caller, customer);
  },
);

/** Creates the collection of the quotas of these kinds of scope. */
export const quotas = memoised((scopes: Scopes) =>
  collection<QuotaObject>()({
    path: 'quotas',
    kind: 'Quota',
    description: 'Limits and usage of objects.',
    table: 'quota',
    alias: 'q',
    fields: fieldsOf(scopes),
    visible: visibleTo(
      'callers who can see the object of the quota; of shared settings staff and global support',
      (caller) =>
        seesAll(caller) ? raw('TRUE') : scopes.usageReadable(callerId(caller), 'q.scope_kind', 'q.scope_id'),
    ),
    filters: { ...ofName('q.name') },
    orderings: {},
    order: 'q.id',
    examples: { replace: { limit: 20, threshold: 16 } },
    update: {
      right: anyOf(staff, limitSetters),
      check: (_, values, quota) => {
        if (quota.is_backend) throw conflict('It is impossible to modify backend quota through this endpoint.');
        if (values.limit !== undefined && values.limit !== -1 && values.limit < quota.usage) {
          throw invalid({ limit: ['Current quota usage exceeds new limit.'] });
        }
      },
      run: (request, quota, _, columns) => changeQuota(request, quota, columns),
    },
  }),
);
