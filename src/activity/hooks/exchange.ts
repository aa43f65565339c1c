/** What the log of web hooks tells of a single delivery besides its state: the request, and what was answered (events.md 5.9). */
import type { Request } from '../../kernel/access/request.ts';
import { type Field, objectShape, readOnly } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import type { Parameters } from '../../kernel/collection/listing.ts';
import { computedValue, orNullShape } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { present } from '../../kernel/present.ts';
import { type Attempt, excerptAtMost } from './attempt.ts';
import { deliveryOf } from './due.ts';
import { webPostOf } from './send-web.ts';
import { messageHeaders } from './signature.ts';

/** A member that `exchangeOf` gives, or null. */
const given = (name: string, properties: Readonly<Record<string, JsonSchema>>, help: string): Field<never> =>
  readOnly('nested object', orNullShape(objectShape(properties)), computedValue(`@${name}`), { help });

const headers: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

export const exchangeFields = {
  request: given(
    'request',
    {
      method: { type: 'string', const: 'POST' },
      url: { type: 'string', format: 'uri' },
      headers,
      body: { type: 'string' },
    },
    'What is sent, without its signature; null when the event is no longer kept.',
  ),
  response: given(
    'response',
    {
      status: { type: 'integer' },
      headers,
      body: { type: ['string', 'null'], maxLength: excerptAtMost, description: 'The start of what a refusal says.' },
      duration: { type: 'integer', description: 'Milliseconds until it was read.' },
    },
    'What was answered to the last attempt; null where nothing was.',
  ),
};

interface Logged {
  readonly response_code: number | null;
  readonly attempt: string | null;
}

/** The members of the delivery with this id, as parameters of its representation. The request is made by what sends it. */
export function exchangeOf({ config, db }: Request, id: number): Parameters {
  const delivery = present(deliveryOf(db, id));
  const row = present(db.get<Logged>(sql`SELECT response_code, attempt FROM delivery WHERE id = ${id}`));
  const { sent, ...answer }: Partial<Attempt> = JSON.parse(row.attempt ?? '{}');
  const post = webPostOf(delivery, config);
  const request = {
    method: 'POST',
    url: post.url,
    headers: { ...post.headers, ...messageHeaders(delivery.uuid, sent) },
    body: post.body,
  };
  const response = { status: row.response_code, headers: answer.headers, body: answer.body, duration: answer.duration };
  return {
    request: JSON.stringify(delivery.is_lost ? null : request),
    response: JSON.stringify(answer.headers ? response : null),
  };
}
