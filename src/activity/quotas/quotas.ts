import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { ownsCustomer } from '../../kernel/access/rights.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { shown, shownText, uuidField } from '../../kernel/collection/field.ts';
import { partial } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { numberValue } from '../../kernel/collection/representation.ts';
import { number } from '../../kernel/collection/values.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { changeQuota, type QuotaRow } from './usage.ts';

type QuotaObject = QuotaRow & Row;

const fieldsOf = (scopes: Scopes) => ({
  url: selfLink('quotas', 'q.uuid'),
  uuid: uuidField(),
  name: shownText(),
  limit: number({ column: '"limit"', help: 'Largest usage allowed; -1: unlimited.', example: 20 }),
  usage: shown('float', { type: 'number' }, numberValue),
  scope: shown('field', { type: ['string', 'null'], format: 'uri' }, scopes.link('q.scope_kind', 'q.scope_id')),
  threshold: number({ min: 0, help: 'Usage from which an alert is raised; 0: off.' }),
});

/** The quotas of whatever has some, among these kinds of scope. */
export const quotas = memoised((scopes: Scopes) =>
  collection<QuotaObject>()({
    path: 'quotas',
    kind: 'Quota',
    description: 'Limits and usage of objects.',
    table: 'quota',
    alias: 'q',
    fields: fieldsOf(scopes),
    visible: (caller: Caller) =>
      seesAll(caller) ? raw('TRUE') : scopes.readable(callerId(caller), 'q.scope_kind', 'q.scope_id'),
    who: {
      read: 'Everybody who sees the object the quota belongs to.',
      update: 'Staff; owners of the customer for quotas of its projects and links.',
    },
    filters: { name: partial('q.name') },
    orderings: {},
    order: 'q.id',
    examples: { replace: { limit: 20, threshold: 16 } },
    update: {
      may: mayEdit,
      check: (_, values, quota) => {
        if (quota.is_backend) throw conflict('It is impossible to modify backend quota through this endpoint.');
        if (values.limit !== undefined && values.limit !== -1 && values.limit < quota.usage) {
          throw invalid({ limit: ['Current quota usage exceeds new limit.'] });
        }
      },
      run: (request, quota, values) => changeQuota(request, quota, values),
    },
  }),
);

/** Who edits which quota (events.md 2.4). */
function mayEdit({ caller, db }: Request, quota: QuotaObject): boolean {
  if (caller.isStaff) return true;
  const project =
    quota.scope_kind === 'project'
      ? quota.scope_id
      : quota.scope_kind === 'link'
        ? db.value<number>(sql`SELECT project_id FROM service_project_link WHERE id = ${quota.scope_id}`)
        : undefined;
  const customer =
    project === undefined ? undefined : db.value<number>(sql`SELECT customer_id FROM project WHERE id = ${project}`);
  return customer !== undefined && ownsCustomer(db, caller, customer);
}
