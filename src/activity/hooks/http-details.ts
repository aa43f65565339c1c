/** Request and response of a single delivery, for the delivery log (events.md 5.9). */
import type { Request } from '../../kernel/access/request.ts';
import { type Field, objectShape, readOnly } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import type { Parameters } from '../../kernel/collection/listing.ts';
import { computedValue, orNullShape } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { present } from '../../kernel/present.ts';
import { type Attempt, maxExcerptLength } from './attempt.ts';
import { deliveryOf } from './due.ts';
import { webPostOf } from './send-web.ts';
import { messageHeaders } from './signature.ts';

/** A member whose value is a parameter from `httpDetailsOf`, or null. */
const parameterField = (name: string, properties: Readonly<Record<string, JsonSchema>>, help: string): Field<never> =>
  readOnly('nested object', orNullShape(objectShape(properties)), computedValue(`@${name}`), { help });

const headers: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

export const httpDetailFields = {
  request: parameterField(
    'request',
    {
      method: { type: 'string', const: 'POST' },
      url: { type: 'string', format: 'uri' },
      headers,
      body: { type: 'string' },
    },
    'The request without its signature; null if the event has been removed.',
  ),
  response: parameterField(
    'response',
    {
      status: { type: 'integer' },
      headers,
      body: {
        type: ['string', 'null'],
        maxLength: maxExcerptLength,
        description: 'Start of the body of an unsuccessful response.',
      },
      duration: { type: 'integer', description: 'Milliseconds until the response was read.' },
    },
    'The response to the last attempt; null if there was none.',
  ),
};

interface DeliveryRow {
  readonly response_code: number | null;
  readonly attempt: string | null;
}

/** Returns request and response of a delivery as parameters of its representation. Builds the request like the sender. */
export function httpDetailsOf({ app, config, db }: Request, id: number): Parameters {
  const delivery = present(deliveryOf(app, id));
  const row = present(db.get<DeliveryRow>(sql`SELECT response_code, attempt FROM delivery WHERE id = ${id}`));
  const { sent, ...details }: Partial<Attempt> = JSON.parse(row.attempt ?? '{}');
  const post = webPostOf(delivery, config);
  const request = {
    method: 'POST',
    url: post.url,
    headers: { ...post.headers, ...messageHeaders(delivery.uuid, sent) },
    body: post.body,
  };
  const response = {
    status: row.response_code,
    headers: details.headers,
    body: details.body,
    duration: details.duration,
  };
  return {
    request: JSON.stringify(delivery.is_lost ? null : request),
    response: JSON.stringify(details.headers ? response : null),
  };
}
