import {
  type Json,
  linkValue,
  listValue,
  numberValue,
  objectValue,
  plainValue,
} from '../../kernel/collection/representation.ts';
import type { QuotaScope } from './usage.ts';

/** The quotas embedded in an object, ordered by name. `idColumn` is SQL for the object's id. Empty unless the SQL condition `shownIf` holds. */
export const embeddedQuotas = (scope: QuotaScope, idColumn: string, shownIf = 'TRUE'): Json =>
  listValue(
    objectValue({
      url: linkValue('quotas', 'q.uuid'),
      uuid: plainValue('q.uuid'),
      name: plainValue('q.name'),
      limit: numberValue('q."limit"'),
      usage: numberValue('q.usage'),
    }),
    `quota q WHERE q.scope_kind = '${scope}' AND q.scope_id = ${idColumn} AND (${shownIf})`,
    'q.name',
  );
