/** API keys: credentials for programs that act for a user within limits (core.md 2.9). */
import { closedText } from '../../kernel/access/api-key.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, authenticated, Right, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { FieldError, type Values as ValuesOf } from '../../kernel/collection/field.ts';
import { exact, ofName, uuid, uuidOf, within } from '../../kernel/collection/filter.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid, reject } from '../../kernel/http/error.ts';
import { countApiKeys } from '../../kernel/security/api-keys.ts';
import { accountManagers, managedAccounts, type ServiceAccountRow, targetOf } from '../service-accounts/rights.ts';
import { requireConfirmation } from '../session/confirmation.ts';
import { userOf } from '../users/users.ts';
import { changesBounds, invalidBounds } from './bounds.ts';
import { apiKeyFields, apiKeyStates, checkNewEnd, latestEnd, pastText, stateOf } from './fields.ts';
import { insertApiKey } from './insert.ts';

export interface ApiKeyRow extends Row {
  readonly user_id: number;
  readonly name: string;
  readonly scopes: string;
  readonly networks: string;
  readonly digest: Uint8Array;
  readonly issued: number;
  readonly expires: number | null;
  readonly ended: number | null;
  readonly previous_expires: number | null;
}

type Values = ValuesOf<typeof apiKeyFields>;

const fixedText = 'This field cannot be changed.';
const switchedOff = 'API keys are switched off.';

/** Restricts a right to confirmed sessions. OPTIONS assumes a confirmation. */
const confirmed = <S>(granted: Right<S>, isEnabled: boolean): Right<S> =>
  new Right(`${granted.words}, in a confirmed session`, (request, subject) => {
    const denial = granted.denialReason(request, subject);
    if (denial !== undefined) return denial;
    if (request.caller.apiKey) return closedText;
    if (isEnabled && !request.config.api_keys_enabled) return switchedOff;
    if (request.incoming.method !== 'OPTIONS') requireConfirmation(request);
    return undefined;
  });

/** Returns the service account behind a user; undefined for a person. */
const accountOf = ({ db }: Pick<Request, 'db'>, user: number): ServiceAccountRow | undefined =>
  db.get<ServiceAccountRow>(sql`SELECT * FROM service_account WHERE user_id = ${user}`);

const ownerOfKey = userIn('user_id', 'the owner');

/** The owner or, for keys of a service account, the users who manage the account. */
const owner = new Right<ApiKeyRow>('the owner; the users who manage the service account', (request, row) => {
  const account = accountOf(request, row.user_id);
  return account ? accountManagers.denialReason(request, targetOf(account)) : ownerOfKey.denialReason(request, row);
});

/** The right to rotate a key. */
export const rotators = confirmed(owner, true);

/** Returns the service account that a body names. */
const namedAccount = ({ db }: Request, { service_account: id }: Values): ServiceAccountRow | undefined =>
  id ? db.one<ServiceAccountRow>(sql`SELECT * FROM service_account WHERE id = ${id}`) : undefined;

/** The right to create a key for oneself or for a service account. */
const creators: Right<Values> = new Right(
  'any user, for themselves and for the service accounts that they manage, in a confirmed session',
  (request, values) => {
    const account = namedAccount(request, values);
    return account && accountManagers.denialReason(request, targetOf(account));
  },
);

/** Returns the id of the future owner of a key. */
const futureOwner = (request: Request, values: Values): number =>
  namedAccount(request, values)?.user_id ?? request.caller.id;

/** Returns the 400 message if the owner has another key with this name; undefined if the name is free. */
export function takenName(
  { db }: Pick<Request, 'db'>,
  user: number,
  name: string,
  current?: number,
): string | undefined {
  const duplicate = db.value(sql`
    SELECT 1 FROM api_key
    WHERE user_id = ${user} AND name = ${name} AND revoked IS NULL AND id IS NOT ${current ?? null}`);
  return duplicate === undefined ? undefined : 'API key with this name already exists.';
}

/** Throws 400 with the defined messages, if there are any. */
function rejectInvalid(errors: Readonly<Record<string, string | undefined>>): void {
  const fieldErrors = Object.entries(errors).flatMap(([name, message]) =>
    message === undefined ? [] : [[name, [message]]],
  );
  if (fieldErrors.length > 0) throw invalid(Object.fromEntries(fieldErrors));
}

/** Returns the message about an expiry that is invalid for a new key. */
function invalidNewEnd(request: Request, expires: number | null | undefined): string | undefined {
  if (expires === undefined) return undefined;
  try {
    checkNewEnd(expires, request);
    return undefined;
  } catch (error) {
    if (error instanceof FieldError) return String(error.messages[0]);
    throw error;
  }
}

/** Returns the message about an expiry that is invalid for an existing key. */
function invalidEnd({ now }: Request, row: ApiKeyRow, expires: number | null | undefined): string | undefined {
  if (expires === undefined || expires === row.expires) return undefined;
  if (expires === null || (row.expires !== null && expires > row.expires))
    return 'An API key cannot be extended: rotate it.';
  return expires <= now ? pastText : undefined;
}

/** Returns the 409 message if the user already has api_keys_per_user keys; undefined otherwise. */
export function tooManyKeys(request: Request, user: number): string | undefined {
  const { api_keys_per_user: max } = request.config;
  if (countApiKeys(request.db, user) < max) return undefined;
  return accountOf(request, user)
    ? `The service account already has ${max} API keys.`
    : `You already have ${max} API keys.`;
}

/** Returns the 409 message if the service account is inactive, so that a key would be unusable. */
const inactiveAccount = (request: Request, user: number): string | undefined =>
  userOf(request, user).is_active ? undefined : 'The service account is not active.';

/** Throws 400 for a taken name, a change of an immutable field, and a later expiry. */
function rejectInvalidChange(request: Request, values: Values, row: ApiKeyRow): void {
  const { customers, expires, name, projects, scopes, service_account: account } = values;
  const isOfAnother = account !== undefined && account !== (accountOf(request, row.user_id)?.id ?? null);
  rejectInvalid({
    name: name === undefined ? undefined : takenName(request, row.user_id, name, row.id),
    scopes: scopes === undefined || scopes === row.scopes ? undefined : fixedText,
    customers: changesBounds(request, row.id, 'customer', customers) ? fixedText : undefined,
    projects: changesBounds(request, row.id, 'project', projects) ? fixedText : undefined,
    service_account: isOfAnother ? fixedText : undefined,
    expires: invalidEnd(request, row, expires),
  });
}

/** Stores changes of a key. An earlier expiry also applies to the previous key of a rotation. */
function change({ db, now }: Request, row: ApiKeyRow, columns: Columns): void {
  const { expires } = columns;
  const endsOverlap = typeof expires === 'number' && row.previous_expires !== null && expires < row.previous_expires;
  db.update('api_key', row.id, {
    ...columns,
    ...(typeof expires === 'number' && { reminded: now }),
    ...(endsOverlap && { previous_expires: expires }),
  });
}

export const apiKeys = collection<ApiKeyRow>()({
  path: 'api-keys',
  kind: 'API Key',
  noun: 'API key',
  title: 'ApiKey',
  description:
    'API keys let programs act for a user, limited by scopes, objects and networks. A key is shown only once.',
  table: 'api_key',
  alias: 'k',
  fields: apiKeyFields,
  visible: visibleTo('the owner; the users who manage the service account; staff', (caller, config) =>
    caller.isStaff
      ? raw('k.revoked IS NULL')
      : sql`k.revoked IS NULL AND (k.user_id = ${caller.id}
          OR k.user_id IN (SELECT a.user_id FROM service_account a WHERE ${managedAccounts(caller, config)}))`,
  ),
  parameters: () => ({ key: null }),
  filters: {
    ...ofName('k.name'),
    state: within(apiKeyStates, exact(stateOf, `One of ${apiKeyStates.join(', ')}.`)),
    user_uuid: uuidOf('k.user_id', 'user', 'Uuid of the owner.'),
    service_account: uuid(
      'Uuid of the service account.',
      (key) => sql`k.user_id = (SELECT a.user_id FROM service_account a WHERE a.uuid = ${key})`,
    ),
  },
  orderings: { name: 'k.name COLLATE NOCASE', created: 'k.created', expires: 'k.expires', last_used: 'k.last_used' },
  order: '-k.created',
  create: {
    right: confirmed(authenticated.as('any user, for themselves'), true),
    check: (request, values) => {
      const owner = futureOwner(request, values);
      rejectInvalid({
        // Do not reveal names of keys to callers who may not create the key.
        name: creators.may(request, values) ? takenName(request, owner, values.name) : undefined,
        ...invalidBounds(request, owner, values),
        expires: invalidNewEnd(request, values.expires),
      });
    },
    rightWith: creators,
    run: (request, values) => {
      const { customers, expires, name, networks = '[]', projects, scopes } = values;
      const user = futureOwner(request, values);
      reject(inactiveAccount(request, user) ?? tooManyKeys(request, user));
      const { id, key } = insertApiKey(request, {
        user,
        author: request.caller.id,
        columns: { name, scopes, networks, expires: expires === undefined ? latestEnd(request) : expires },
        bounds: { customers, projects },
      });
      return { id, parameters: { key } };
    },
    rejections: { 409: true },
  },
  update: {
    right: confirmed(owner, false),
    check: rejectInvalidChange,
    run: (request, row, _, columns) => change(request, row, columns),
  },
  delete: {
    right: anyOf(owner, staff),
    run: (request, row) => {
      request.db.run(sql`DELETE FROM api_key WHERE id = ${row.id}`);
    },
  },
});
