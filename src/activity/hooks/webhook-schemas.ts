/** JSON Schemas of web hook bodies (events.md 5.6), for the section `webhooks` of the OpenAPI document. */
import { objectShape, uuidShape } from '../../kernel/collection/field.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { catalogue, type EventType, eventTypes, type Level } from '../events/catalogue.ts';
import type { ContextKeys } from '../events/context.ts';
import { hookKinds, kindOf } from '../notifications/catalogue.ts';

/** A kind of message that a web hook receives. */
export interface WebhookSpec {
  /** The value of `type` in the body. */
  readonly name: string;
  readonly summary: string;
  readonly isNeverEmitted: boolean;
  readonly body: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** UTC with six digits and no zone. */
const timestamp: JsonSchema = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$',
  examples: ['2018-01-05T04:47:04.982123'],
};

const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

/** An object of strings with the required and optional keys, and no others. */
const contextShape = ({ optional, required }: ContextKeys): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    [...optional, ...required].map((key) => [key, key.endsWith('_uuid') ? uuidShape : text]),
  ),
  required,
  additionalProperties: false,
});

interface Message {
  readonly name: string;
  readonly text: string;
  readonly context: ContextKeys;
  /** Undefined for any level. */
  readonly level: Level | undefined;
  readonly isNeverEmitted?: boolean;
}

const specOf = ({ context, isNeverEmitted = false, level, name, text: message }: Message): WebhookSpec => ({
  name,
  summary: isNeverEmitted ? 'Never sent; accepted in event_types.' : `Sends “${message}”.`,
  isNeverEmitted,
  body: {
    ...objectShape({
      timestamp,
      message: text,
      type: { const: name },
      context: contextShape(context),
      levelname: level === undefined ? { type: 'string', enum: levels } : { const: level.toUpperCase() },
    }),
    additionalProperties: false,
  },
});

const events = eventTypes.map((name): Message => {
  const { context, isNeverEmitted, level, message }: EventType = catalogue[name];
  return {
    name,
    text: message,
    context,
    level: name === 'custom_notification' ? undefined : level,
    ...(isNeverEmitted && { isNeverEmitted }),
  };
});

const notifications = hookKinds.map((kind): Message => {
  const { context, level, message } = kindOf(kind);
  return { name: `notification.${kind}`, text: message.en, context, level };
});

/** Every message that a web hook can receive: events, then notifications, both sorted by name. */
export const webhookSpecs: readonly WebhookSpec[] = [...events, ...notifications].map(specOf);

/** Headers of each attempt, with value patterns. */
export const webhookHeaders: Readonly<Record<string, { readonly help: string; readonly shape: JsonSchema }>> = {
  'webhook-id': { help: 'Identifies the delivery; the same for every attempt.', shape: uuidShape },
  'webhook-timestamp': { help: 'UNIX timestamp of the attempt.', shape: { type: 'string', pattern: '^\\d+$' } },
  'webhook-signature': {
    help: 'Signatures of id, timestamp and body, separated by spaces: v1 is HMAC-SHA256, v1a is Ed25519.',
    shape: { type: 'string', pattern: '^v1a?,[0-9A-Za-z+/]+={0,2}( v1a?,[0-9A-Za-z+/]+={0,2})*$' },
  },
};
