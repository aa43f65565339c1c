import type { Filter } from '../../kernel/collection/filter.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';

const typeOfFilter: Readonly<Record<Filter['type'], JsonSchema>> = {
  string: { type: 'string' },
  uuid: { type: 'string', pattern: '^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$' },
  boolean: { type: 'boolean' },
  flag: { type: 'string' },
  datetime: { type: 'string', format: 'date-time' },
  link: { type: 'string', format: 'uri-reference' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  named: { type: 'object', additionalProperties: { type: 'string' } },
};

/** The OpenAPI parameter of a filter. */
export const filterParameter = (name: string, { help, repeatable, required, type }: Filter): JsonSchema => ({
  name,
  in: 'query',
  description: help,
  ...(required && { required }),
  ...(type === 'flag' && { allowEmptyValue: true }),
  ...(repeatable
    ? { schema: { type: 'array', items: typeOfFilter[type] }, style: 'form', explode: true }
    : { schema: typeOfFilter[type] }),
});
