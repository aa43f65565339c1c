/** The fields of API keys (core.md 2.9). */
import * as v from 'valibot';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { datetime } from '../../kernel/collection/datetime.ts';
import {
  coerceList,
  FieldError,
  inputOf,
  messages,
  notAList,
  readOnly,
  readOnlyList,
  readOnlyText,
  readOnlyTime,
  refine,
  requiredOnCreation,
  uuidField,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  linkValue,
  listValue,
  notNullText,
  optionalLink,
  plainValue,
  textValue,
  timeValue,
  wordValue,
} from '../../kernel/collection/representation.ts';
import { text } from '../../kernel/collection/values.ts';
import { isNetwork, normalNetwork } from '../../kernel/net/networks.ts';
import { boundFields } from './bounds.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** The names of all scopes. */
    readonly apiKeyScopes: ReadonlySet<string>;
  }
}

import { serviceAccounts } from '../service-accounts/service-accounts.ts';

const maxScopes = 40;
const maxNetworks = 20;

/** SQL of a column of the owner. */
const ofOwner = (column: string): string => `(SELECT ${column} FROM user WHERE id = k.user_id)`;

interface TextListOptions {
  readonly help: string;
  readonly max: number;
  readonly isRequired?: boolean;
  readonly example: readonly string[];
  readonly items: Readonly<Record<string, unknown>>;
  readonly resolve: (texts: readonly string[], request: Request) => readonly string[];
}

/** A list of strings, stored as JSON. */
function textList(name: string, options: TextListOptions): WritableField<string, false> {
  const { example, help, isRequired = false, items, max, resolve } = options;
  return {
    ...readOnlyList(listValue(notNullText('l.value'), `json_each(k.${name}) l`, 'l.key')),
    help,
    constraints: { child: { type: 'string', required: true, read_only: false } },
    input: inputOf<string, v.GenericSchema<unknown, string[]>>(
      {},
      {
        schema: v.array(v.string(messages.string), notAList),
        shape: { type: 'array', items, ...(isRequired && { minItems: 1 }), maxItems: max, examples: [example] },
        coerce: coerceList,
        resolve: (texts, request) => {
          if (isRequired && texts.length === 0) throw new FieldError(['This list may not be empty.']);
          return JSON.stringify(resolve(texts, request));
        },
      },
    ),
  };
}

/** Normalises an address or network. Throws FieldError. */
function networkIn(text: string): string {
  const trimmed = text.trim();
  if (!isNetwork(trimmed)) throw new FieldError(['Enter a valid network.']);
  return normalNetwork(trimmed);
}

function checkLength(texts: readonly string[], max: number): void {
  if (texts.length > max) throw new FieldError([`Ensure this field has no more than ${max} elements.`]);
}

/** Returns normalised networks without duplicates. Throws FieldError, also for too many. */
export function normalNetworks(networks: readonly string[]): string[] {
  checkLength(networks, maxNetworks);
  return [...new Set(networks.map(networkIn))];
}

/** Returns sorted scopes without duplicates. Throws FieldError for an unknown one, and for too many. */
export function checkScopes(names: readonly string[], app: Pick<App, 'apiKeyScopes'>): string[] {
  checkLength(names, maxScopes);
  const unknown = names.find((name) => !app.apiKeyScopes.has(name));
  if (unknown !== undefined) throw new FieldError([messages.choice(unknown)]);
  return [...new Set(names)].sort();
}

/** Returns the latest possible expiry of a new or rotated key; null without a maximum. */
export const latestEnd = ({ app: { config }, now }: Context): number | null =>
  config.api_key_lifetime_max === null ? null : now + config.api_key_lifetime_max;

/** The requested expiry of a key. */
const end = datetime({
  help: 'When the key expires. Default: after the longest allowed lifetime.',
  example: '2030-12-31T23:59:59Z',
});

/** Throws FieldError for an expiry in the past or beyond the maximum lifetime. */
export function checkNewEnd(instant: number | null, request: Context): void {
  const latest = latestEnd(request);
  if (instant === null) {
    if (latest !== null) throw new FieldError([messages.null]);
    return;
  }
  if (instant <= request.now) throw new FieldError([pastText]);
  if (latest !== null && instant > latest)
    throw new FieldError([`Ensure this value is less than or equal to ${isoTime(latest)}.`]);
}

/** The message about an expiry in the past. */
export const pastText = 'Expiration time should be greater than current time.';

/** The expiry of a rotated key. Default: the new key has the lifetime of the old one. */
export const newEnd = refine(
  datetime({ help: 'When the new key expires; default: it lasts as long as the old one.' }),
  checkNewEnd,
);

export const apiKeyStates = ['active', 'rotating', 'expired'] as const;

/** SQL: the state of a key. */
export const stateOf =
  "(CASE WHEN k.ended IS NOT NULL THEN 'expired' WHEN k.previous_digest IS NOT NULL THEN 'rotating' ELSE 'active' END)";

const scopes = textList('scopes', {
  help: 'What the key permits, as group:read or group:write; see /api/api-keys/scopes/.',
  max: maxScopes,
  isRequired: true,
  example: ['customers:read', 'resources:write'],
  items: { type: 'string', pattern: '^([a-z-]+|\\*):(read|write)$' },
  resolve: (names, { app }) => checkScopes(names, app),
});

export const apiKeyFields = {
  url: selfLink('api-keys', 'k.uuid'),
  uuid: uuidField(),
  created: readOnlyTime(),
  name: text({ max: 150, required: true, example: 'Build server' }),
  scopes: requiredOnCreation({ ...scopes, input: { ...scopes.input, required: true } }, messages.required),
  ...boundFields,
  networks: textList('networks', {
    help: 'Addresses and networks from which the key can be used. Empty: any address.',
    max: maxNetworks,
    example: ['192.0.2.0/24', '2001:db8::/48'],
    items: { type: 'string' },
    resolve: normalNetworks,
  }),
  expires: end,
  service_account: link({
    to: () => serviceAccounts,
    key: '(SELECT uuid FROM service_account WHERE user_id = k.user_id)',
    nullable: true,
    storedIn: false,
    help: 'The service account that the key belongs to; default: it belongs to the caller.',
  }),
  owner: readOnly('field', { type: 'string', format: 'uri' }, linkValue('users', ofOwner('uuid'))),
  owner_uuid: readOnlyText(plainValue(ofOwner('uuid'))),
  owner_username: readOnlyText(textValue(ofOwner('username'), { type: 'string' })),
  created_by: readOnly(
    'field',
    { type: ['string', 'null'], format: 'uri' },
    optionalLink('users', '(SELECT uuid FROM user WHERE id = k.created_by)'),
    { help: 'The user who created or last rotated the key, and therefore knows it.' },
  ),
  prefix: readOnlyText(),
  last_used: readOnlyTime(timeValue),
  last_used_address: readOnlyText(textValue),
  state: readOnlyText(wordValue(stateOf, apiKeyStates)),
  previous_key_expires: readOnlyTime(() => timeValue('k.previous_expires')),
  key: readOnlyText(textValue('@key', { type: 'string' }), { shownIf: '@key IS NOT NULL' }),
};
