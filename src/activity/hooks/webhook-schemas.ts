/** JSON Schemas of the bodies that web hooks send (events.md 5.6), for the section `webhooks` of the OpenAPI document. */
import { objectShape, uuidShape } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { catalogue, type EventTypeName, eventTypes } from '../events/catalogue.ts';
import type { ContextKeys } from '../events/context.ts';

/** A kind of message that a web hook receives. */
export interface WebhookSpec {
  /** The value of `type` in the body. */
  readonly name: string;
  readonly summary: string;
  readonly isNeverEmitted: boolean;
  readonly body: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** UTC, always six digits, no zone. */
const timestamp: JsonSchema = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$',
  examples: ['2018-01-05T04:47:04.982123'],
};

const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

/** An object that has the required keys, may have the optional ones, and no others. All values are strings. */
const contextShape = ({ optional, required }: ContextKeys): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    [...optional, ...required].map((key) => [key, key.endsWith('_uuid') ? uuidShape : text]),
  ),
  required,
  additionalProperties: false,
});

function specOf(type: EventTypeName): WebhookSpec {
  const {
    context,
    isNeverEmitted = false,
    level,
    message,
  }: (typeof catalogue)[EventTypeName] & { isNeverEmitted?: boolean } = catalogue[type];
  return {
    name: type,
    summary: isNeverEmitted ? 'Never sent; accepted in event_types.' : `Sends “${message}”.`,
    isNeverEmitted,
    body: {
      ...objectShape({
        timestamp,
        message: text,
        type: { const: type },
        context: contextShape(context),
        levelname: type === 'custom_notification' ? { type: 'string', enum: levels } : { const: level.toUpperCase() },
      }),
      additionalProperties: false,
    },
  };
}

/** Every message that a web hook can receive, sorted by name. */
export const webhookSpecs: readonly WebhookSpec[] = eventTypes.map(specOf);

/** The headers of each attempt, with the patterns of their values. */
export const webhookHeaders: Readonly<Record<string, { readonly help: string; readonly shape: JsonSchema }>> = {
  'webhook-id': { help: 'Identifies the delivery; the same for every attempt.', shape: uuidShape },
  'webhook-timestamp': { help: 'UNIX timestamp of the attempt.', shape: { type: 'string', pattern: '^\\d+$' } },
  'webhook-signature': {
    help: 'Signatures of id, timestamp and body, separated by spaces: v1 is HMAC-SHA256, v1a is Ed25519.',
    shape: { type: 'string', pattern: '^v1a?,[0-9A-Za-z+/]+={0,2}( v1a?,[0-9A-Za-z+/]+={0,2})*$' },
  },
};
