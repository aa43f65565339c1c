import type { JsonSchema } from '../../kernel/collection/json-schema.ts';

/** The answer that hands out a token. */
export const tokenShape: JsonSchema = {
  type: 'object',
  properties: { token: { type: 'string', pattern: '^[0-9a-f]{40}$' } },
  required: ['token'],
};
