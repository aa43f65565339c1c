import type { Request } from '../../kernel/access/request.ts';
import { day } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Field, FieldError, type Input, messages, shownText } from '../../kernel/collection/field.ts';
import { exact } from '../../kernel/collection/filter.ts';
import { textValue } from '../../kernel/collection/representation.ts';
import { choice, url } from '../../kernel/collection/values.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { addressRule, isDestinationAllowed, refusedDestination } from '../../kernel/net/destination.ts';
import { type HookRow, hookCollection, mayManage } from './hook.ts';
import { newSecret } from './signature.ts';

interface WebHookRow extends HookRow {
  readonly secret: Uint8Array;
}

/** Secrets made by a request: the one answer that shows them. */
const newSecrets = new WeakMap<Request, string>();

function makeSecret(request: Request, uuid: string): Buffer {
  const secret = newSecret(request.deployment.random);
  newSecrets.set(request, secret);
  return request.deployment.secrets.seal(secret, uuid);
}

/** An http or https URL without user information, to an address that hooks may send to. */
const destination: Field<string> = (() => {
  const field = url({ max: 2048, required: true, help: 'Where events are posted to.' });
  const input = field.input as Input<string>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value, request, form) => {
        const text = input.parse(value, request, form);
        const address = new URL(text);
        if (address.username !== '' || address.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
          throw new FieldError([messages.url]);
        if (!isDestinationAllowed(address, addressRule(request.config.hooks_allowed_networks)))
          throw new FieldError([refusedDestination]);
        return text;
      },
    },
  };
})();

export const webHooks = hookCollection({
  kind: 'web',
  path: 'hooks-web',
  type: 'webhook',
  name: 'Web Hook',
  description: 'Hooks that post events to a URL, signed after Standard Webhooks.',
  fields: {
    destination_url: destination,
    content_type: choice({
      choices: () => [
        ['json', 'json'],
        ['form', 'form'],
      ],
      help: 'Form of the body; default: json.',
    }),
    secret: shownText(textValue('@secret'), { shown: '@secret IS NOT NULL' }),
  },
  example: {
    destination_url: 'https://hooks.example.com/tenantry',
    event_types: ['project_creation_succeeded', 'project_deletion_succeeded'],
    event_groups: ['resources'],
  },
  filters: { destination_url: exact('h.destination_url'), content_type: exact('h.content_type') },
  parameters: (request) => ({ secret: newSecrets.get(request) ?? null }),
  columns: (request, uuid) => ({ content_type: 'json', secret: makeSecret(request, uuid) }),
});

/** The `actions` of what is done with a web hook without a body. Throws 404. */
export const hookActions = (request: Request): Record<string, unknown> | undefined =>
  mayManage(request, webHooks.find(request)) ? { POST: {} } : undefined;

/** The web hook a path names, which the caller may manage. Throws 404, 403. */
export function managedWebHook(request: Request): HookRow {
  const hook = webHooks.find(request);
  if (!mayManage(request, hook)) throw forbidden();
  return hook;
}

const rotationOverlap = day;

/** POST /api/hooks-web/<uuid>/rotate_secret/: a new secret; for a day the old one signs along. */
export const rotateSecret: Endpoint = {
  path: '/api/hooks-web/:key/rotate_secret/',
  name: 'Web Hook Rotate Secret',
  description: 'Gives a web hook a new signing secret.',
  actions: hookActions,
  operations: {
    POST: {
      summary: 'Makes a new signing secret; the old one signs along for 24 hours.',
      who: 'The author, and staff.',
      output: {
        status: 200,
        shape: { type: 'object', properties: { secret: { type: 'string' } }, required: ['secret'] },
      },
      handle: (request) => {
        const hook = managedWebHook(request) as WebHookRow;
        const secret = makeSecret(request, hook.uuid);
        request.db.update('hook', hook.id, {
          secret,
          old_secret: hook.secret,
          old_secret_ends: request.now + rotationOverlap,
          modified: request.now,
        });
        return json({ secret: newSecrets.get(request) });
      },
    },
  },
};
