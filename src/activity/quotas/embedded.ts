import {
  type Json,
  linkValue,
  listValue,
  numberValue,
  objectValue,
  plainValue,
} from '../../kernel/collection/representation.ts';
import type { QuotaScope } from './usage.ts';

/** The quotas embedded in an object, by name. `idColumn` is the SQL of the object's id. */
export const embeddedQuotas = (scope: QuotaScope, idColumn: string): Json =>
  listValue(
    objectValue({
      url: linkValue('quotas', 'q.uuid'),
      uuid: plainValue('q.uuid'),
      name: plainValue('q.name'),
      limit: numberValue('q."limit"'),
      usage: numberValue('q.usage'),
    }),
    `quota q WHERE q.scope_kind = '${scope}' AND q.scope_id = ${idColumn}`,
    'q.name',
  );
