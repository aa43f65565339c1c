import type { Request } from '../../kernel/access/request.ts';
import { day } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import { FieldError, messages, objectShape, readOnlyText, refine } from '../../kernel/collection/field.ts';
import { exact, within } from '../../kernel/collection/filter.ts';
import { textValue } from '../../kernel/collection/representation.ts';
import { choice, url } from '../../kernel/collection/values.ts';
import { json } from '../../kernel/http/reply.ts';
import { isDestinationAllowed, portOf } from '../../kernel/net/destination.ts';
import { destinationsOf } from './destinations.ts';
import { hookCollection, hookManagers } from './hook.ts';
import { newSecret } from './signature.ts';

/** Creates a signing secret for a hook: as text for the response, and sealed for storage. */
function createSecret({ app: { random, secrets } }: Request, uuid: string): { secret: string; sealed: Buffer } {
  const secret = newSecret(random);
  return { secret, sealed: secrets.seal(secret, uuid) };
}

/** An http or https URL without user information, to an address that hooks may send to. */
const destination = refine(
  url({ max: 2048, required: true, help: 'URL that receives the events.' }),
  (text, { config }) => {
    const address = new URL(text);
    if (address.username !== '' || address.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
      throw new FieldError([messages.url]);
    const { allows, allowsPort } = destinationsOf(config);
    if (!allowsPort(portOf(address))) throw new FieldError(['Destination port is not allowed by hooks_allowed_ports.']);
    if (!isDestinationAllowed(address, allows))
      throw new FieldError(['Destination address is not allowed by hooks_allowed_networks.']);
  },
);

export const webHooks = hookCollection({
  kind: 'web',
  path: 'hooks-web',
  type: 'webhook',
  name: 'Web Hook',
  description: 'Hooks that post events to a URL, signed as Standard Webhooks specifies.',
  fields: {
    destination_url: destination,
    content_type: choice({
      choices: () => [
        ['json', 'json'],
        ['form', 'form'],
      ],
      help: 'Format of the body; default: json.',
    }),
    secret: readOnlyText(textValue('@secret'), { shownIf: '@secret IS NOT NULL' }),
  },
  example: {
    destination_url: 'https://hooks.example.com/tenantry',
    event_types: ['project_creation_succeeded', 'project_deletion_succeeded'],
    event_groups: ['resources'],
  },
  filters: {
    destination_url: exact('h.destination_url'),
    content_type: within(['json', 'form'], exact('h.content_type')),
  },
  parameters: { secret: null },
  generate: (request, uuid) => {
    const { sealed, secret } = createSecret(request, uuid);
    return { columns: { content_type: 'json', secret: sealed }, parameters: { secret } };
  },
});

/** How long a replaced secret also signs. */
export const rotationOverlap = day;

/** POST /api/hooks-web/<uuid>/rotate_secret/: creates a new secret. The old one also signs for a day. */
export const rotateSecret = action({
  on: webHooks,
  name: 'rotate_secret',
  summary: 'Creates a new signing secret. The old one also signs for 24 hours.',
  description: 'Gives a web hook a new signing secret.',
  right: hookManagers,
  output: { status: 200, shape: objectShape({ secret: { type: 'string' } }) },
  run: (request, hook) => {
    const { sealed, secret } = createSecret(request, hook.uuid);
    request.db.update('hook', hook.id, {
      secret: sealed,
      old_secret: hook.secret,
      old_secret_ends: request.now + rotationOverlap,
      modified: request.now,
    });
    return json({ secret });
  },
});
