import type { Request } from '../../kernel/access/request.ts';
import { day, hour } from '../../kernel/clock.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import { FieldError, messages, readOnlyText, refine } from '../../kernel/collection/field.ts';
import { exact, within } from '../../kernel/collection/filter.ts';
import { textValue } from '../../kernel/collection/representation.ts';
import { choice, url } from '../../kernel/collection/values.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { isDestinationAllowed } from '../../kernel/net/destination.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import { portOf } from '../../kernel/url.ts';
import { hookKinds } from '../notifications/catalogue.ts';
import { choices, type HookRow, hookCollection, hookManagers, nothing } from './hook.ts';
import { limitColumns, limitField } from './hook-limits.ts';
import { destinationsOf } from './post.ts';
import { newSecret, type Signature } from './signature.ts';

interface SecretHolder {
  readonly uuid: string;
  /** The current sealed secret, if there is one. */
  readonly secret?: Uint8Array | null | undefined;
}

/** A new signing secret. */
interface NewSecret {
  readonly columns: Columns;
  /** The part shown in the response: the secret, or the public key of a private key. */
  readonly response: { readonly secret: string } | { readonly public_key: string };
}

/** Creates a signing secret for a hook. A replaced secret also signs for a day. */
function createSecret({ app, now }: Request, signature: Signature, { secret: old, uuid }: SecretHolder): NewSecret {
  const { publicKey, secret } = newSecret(signature, app.random);
  return {
    columns: {
      secret: app.secrets.seal(secret, uuid),
      public_key: publicKey,
      ...(old && { old_secret: old, old_secret_ends: now + rotationOverlap }),
    },
    response: publicKey === null ? { secret } : { public_key: publicKey },
  };
}

/** How long a replaced secret still signs. */
const rotationOverlap = day;

/** An http or https URL without user information, whose host and port hooks may use. */
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

/** Shows the fields below only if one of them differs from its default, so that other hooks look unchanged to older clients. */
const hasOptions = "(h.notification_types <> '[]' OR h.format <> 'standard' OR h.signature <> 'hmac' OR h.is_limited)";

/** The signature that a body chooses, the hook has, or a new hook gets. */
const signatureOf = (columns: Columns, row: HookRow | undefined): Signature =>
  (columns.signature ?? row?.signature) === 'ed25519' ? 'ed25519' : 'hmac';

/** Throws 400 for a chat message as a form, because chat messages are JSON. */
function rejectChatForm(columns: Columns, row: HookRow | undefined): void {
  const { content_type: type = 'json', format = 'standard' } = { ...row, ...columns };
  if (type === 'form' && format === 'slack') throw invalid({ format: ['Only JSON can be sent in this format.'] });
}

export const webHooks = hookCollection({
  kind: 'web',
  path: 'hooks-web',
  type: 'webhook',
  name: 'Web Hook',
  description: 'Hooks that post events to a URL, signed as Standard Webhooks specifies.',
  fields: {
    destination_url: { ...destination, conceals: 'path' },
    content_type: choice({
      choices: () => [
        ['json', 'json'],
        ['form', 'form'],
      ],
      help: 'Format of the body; default: json.',
    }),
    notification_types: {
      ...choices(hookKinds, 'Kinds of notifications to the author that are also delivered.'),
      shownIf: hasOptions,
    },
    format: choice({
      choices: () => [
        ['standard', 'Standard'],
        ['slack', 'Slack'],
      ],
      shownIf: hasOptions,
      help: 'Body of the requests: all members of the event, or the message for Slack, Mattermost or Discord; default: standard.',
    }),
    signature: choice({
      choices: () => [
        ['hmac', 'Shared secret'],
        ['ed25519', 'Private key'],
      ],
      shownIf: hasOptions,
      help: 'Signature of the requests: hmac with a shared secret, ed25519 with a private key of the server; default: hmac.',
    }),
    customers: limitField('customers', hasOptions),
    projects: limitField('projects', hasOptions),
    public_key: readOnlyText(textValue('h.public_key', { type: 'string' }), { shownIf: 'h.public_key IS NOT NULL' }),
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
  generate: (request, received, { row, uuid }) => {
    const signature = signatureOf(received, row);
    if (row?.signature === signature) return nothing;
    const { columns, response } = createSecret(request, signature, { uuid, secret: row?.secret });
    return {
      columns: { ...(!row && { content_type: 'json' }), ...columns },
      parameters: { secret: null, ...('secret' in response && response) },
    };
  },
  stored: (request, columns, { row, user_id }) => {
    rejectChatForm(columns, row);
    return limitColumns(request, columns, { row, user_id });
  },
});

/** POST /api/hooks-web/<uuid>/rotate_secret/: creates a new secret. The old one also signs for a day. */
export const rotateSecret = action({
  on: webHooks,
  name: 'rotate_secret',
  summary: 'Creates a new signing secret. The old one also signs for 24 hours.',
  description: 'Gives a web hook a new signing secret.',
  right: hookManagers,
  output: {
    status: 200,
    shape: {
      type: 'object',
      properties: {
        secret: { type: 'string', description: 'With the signature hmac.' },
        public_key: { type: 'string', description: 'With the signature ed25519.' },
      },
    },
  },
  run: (request, hook) => {
    const { columns, response } = createSecret(request, signatureOf({}, hook), hook);
    request.db.update('hook', hook.id, { ...columns, modified: request.now });
    return json(response);
  },
});

/** Excludes ready deliveries: their time no longer matters, and identifies a running attempt. */
const waiting = "status = 'pending' AND ready = 0";
/** Waiting for the end of the hour instead of another attempt. */
const isPendingDigest = 'gathered = 1 AND attempts = 0';

export const hookInstants: readonly StoredInstants[] = [
  { table: 'hook', column: 'failing_since', ahead: 0, countsRunning: true },
  { table: 'hook', column: 'old_secret_ends', ahead: rotationOverlap },
  { table: 'hook_confirmation', column: 'created', ahead: 0 },
  { table: 'delivery', column: 'next_attempt', ahead: hour, where: `${waiting} AND ${isPendingDigest}` },
  dueInstants('delivery', waiting),
  { table: 'delivery', column: 'finished', ahead: 0 },
];
