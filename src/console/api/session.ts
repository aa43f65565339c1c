import { computed, effect, signal } from '@preact/signals';
import { preferLanguage, t } from '../i18n/words.ts';
import { type Item, isItem, problemOf } from './api.ts';
import { configuration, readConfiguration } from './configuration.ts';
import {
  type ApiResponse,
  abortSession,
  api,
  isExpired,
  lastUse,
  responseOf,
  storageKeyOf,
  storeToken,
  token,
} from './connection.ts';
import { type Collection, collectionsOf } from './document.ts';
import { go } from './route.ts';

/** The signed-in user; null until loaded. */
export const me = signal<Item | null>(null);

/** The lists of this server by name; empty until loaded. */
export const collections = signal<ReadonlyMap<string, Collection>>(new Map());

/** All roles of the user in any place: owner, manager, admin, support. */
export const roles = signal<ReadonlySet<string>>(new Set());

/** Uuids of the customers that the user owns. */
export const ownedCustomers = signal<ReadonlySet<string>>(new Set());

const paths = signal<Item>({});

/** Whether the server has an API path. */
export const hasPath = (path: string): boolean => path in paths.value;

/** The error message if loading the session failed. */
export const startProblem = signal('');

/** Whether the user must set up a second factor before anything else. */
export const mustEnrol = signal(false);

/** Whether pages that require a session can be displayed. */
export const isReady = computed(() => token.value !== null && me.value !== null && collections.value.size > 0);

// If the first token is rejected, there is no page to keep: show the sign-in.
effect(() => {
  if (isExpired.value && me.value === null) storeToken(null);
});

/** The current time in milliseconds, updated every second. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 1000);

/** The lifetime of an unused token in seconds; null if unlimited. */
export const lifetime = computed(() => {
  const value = me.value?.token_lifetime;
  return typeof value === 'number' ? value : null;
});

/** Seconds until the token expires, in the last quarter of its lifetime and at most two minutes; undefined before. */
export const secondsLeft = computed(() => {
  if (lifetime.value === null || token.value === null || isExpired.value) return undefined;
  const left = Math.ceil(lifetime.value - (now.value - lastUse.value) / 1000);
  return left <= Math.min(120, lifetime.value / 4) ? Math.max(0, left) : undefined;
});

/** Reads the signed-in user as a list with one item. */
export const readMe = () => responseOf(api.GET('/api/users/', { params: { query: { current: '' } } }));

/** Reads the signed-in user, their roles and the lists of the server. */
export async function start(): Promise<void> {
  startProblem.value = '';
  const [own, document] = await Promise.all([
    readMe(),
    responseOf(api.GET('/docs/', { params: { query: { format: 'openapi' } }, credentials: 'omit' })),
    readConfiguration(),
  ]);
  const [user] = own.isOk ? own.body : [];
  if (user && document.isOk && isItem(document.body)) {
    const own = { user: user.uuid, page_size: 300 };
    const [inCustomers, inProjects] = await Promise.all([
      responseOf(
        api.GET('/api/customer-permissions/', { params: { query: { ...own, field: ['role', 'customer_uuid'] } } }),
      ),
      responseOf(api.GET('/api/project-permissions/', { params: { query: { ...own, field: ['role'] } } })),
    ]);
    // Only a session that must enrol is rejected here.
    mustEnrol.value = inCustomers.status === 403;
    const customerRoles = inCustomers.isOk ? inCustomers.body : [];
    roles.value = new Set([...customerRoles, ...(inProjects.isOk ? inProjects.body : [])].map(({ role }) => role));
    ownedCustomers.value = new Set(
      customerRoles.filter(({ role }) => role === 'owner').map(({ customer_uuid: customer }) => customer),
    );
    paths.value = isItem(document.body.paths) ? document.body.paths : {};
    collections.value = collectionsOf(document.body, (readers) => mayRead(readers, user));
    await preferLanguage(user.preferred_language);
    loginFailure.value = undefined;
    me.value = user;
  } else if (token.value !== null) startProblem.value = t('The server cannot be reached.');
}

/** Whether the user may grant roles in their customers (core.md 8.2). */
export const mayGrantInCustomers = (): boolean => isStaff.value || configuration.value?.isOwnerGranting === true;

/** Whether the user can read a list that may be limited to staff or support. */
const mayRead = (readers: string, { is_staff, is_support }: Item): boolean =>
  is_staff === true ||
  !/: Staff(; global support)?\.$/.test(readers) ||
  (is_support === true && /global/.test(readers));

/** A login that still requires a second factor. */
export interface Challenge {
  readonly token: string;
  readonly methods: readonly string[];
  /** WebAuthn options, if the user has a passkey. */
  readonly passkeyOptions: unknown;
  /** The OpenID Connect provider, see `enter`. */
  readonly provider: string | undefined;
}

/** The login that requires a second factor; null without one. */
export const challenge = signal<Challenge | null>(null);

/** Continues with the token in a response, or asks for the second factor. Returns false if the response has neither. */
export async function continueWith(body: unknown, provider?: string): Promise<boolean> {
  const { second_factor: required, token: value } = isItem(body) ? body : {};
  if (typeof value === 'string') await enterSession(value, provider);
  else if (isItem(required) && typeof required.token === 'string' && Array.isArray(required.methods))
    challenge.value = {
      token: required.token,
      methods: required.methods.map(String),
      passkeyOptions: required.passkey_options,
      provider,
    };
  else return false;
  return true;
}

/** Why a login from an identity provider cannot continue; empty if it can. */
export const resumeProblem = signal('');

/** The server's message of a failed login at an identity provider; undefined without one. The sign-in page shows it once. */
export const loginFailure = signal<string | undefined>(undefined);

/** Whether the options of a second factor are being loaded for a login at an identity provider. */
export const isResuming = signal(false);

/**
 * Asks for the second factor after a login at an identity provider. `value` is the login token in the return address, `provider`
 * the departure.
 */
export async function resumeLogin(value: string, provider: string): Promise<void> {
  isResuming.value = true;
  storeToken(null);
  const body = { token: value };
  const response = await responseOf(api.POST('/api-auth/second-factor/options/', { body, credentials: 'omit' }));
  isResuming.value = false;
  if (response.isOk) await continueWith(response.body, provider || undefined);
  else if (response.status === 401)
    resumeProblem.value = t('This login has been completed or has taken too long. Sign in again.');
  else resumeProblem.value = problemOf(response.body) || t('The server cannot be reached.');
}

const departureKey = storageKeyOf('departure');

/** How long a login at an identity provider may take, in milliseconds. */
const maxDepartureMs = 15 * 60_000;

/**
 * Stores that this tab leaves for a login at an identity provider. `provider` is the login URL of an OpenID Connect provider,
 * empty for SAML.
 */
export const storeDeparture = (provider: string): void =>
  sessionStorage.setItem(departureKey, `${Date.now()} ${provider}`);

/** Removes the departure and returns its provider. Returns undefined if this tab has started no login in the last 15 minutes. */
export function takeDeparture(): string | undefined {
  const [time, provider] = (sessionStorage.getItem(departureKey) ?? '').split(' ');
  sessionStorage.removeItem(departureKey);
  return Date.now() - Number(time) < maxDepartureMs ? provider : undefined;
}

/** Whether the page was opened with a login that this tab has not started, such as by a link from another user. */
export const isForeignLogin = signal(false);

/** Signs in with a password. The response has the errors. */
export async function signIn(username: string, password: string): Promise<ApiResponse<unknown>> {
  const body = { username, password };
  const response = await responseOf(api.POST('/api-auth/password/', { body, credentials: 'omit' }));
  return (await continueWith(response.body)) ? { ...response, isOk: true } : response;
}

/** Returns the uuid of another token's user; undefined if the server rejects the token. */
export async function ownerOf(value: string): Promise<string | undefined> {
  const response = await responseOf(
    api.GET('/api/users/', {
      params: { query: { current: '', field: ['uuid'] } },
      credentials: 'omit',
      headers: { Authorization: `Token ${value}` },
    }),
  );
  return response.isOk ? response.body[0]?.uuid : undefined;
}

/** Ends the session of another token. */
export async function endSession(value: string): Promise<void> {
  const headers = { Authorization: `Token ${value}` };
  await responseOf(api.POST('/api-auth/logout/', { credentials: 'omit', headers }));
}

const providerKey = storageKeyOf('provider');

/**
 * Starts a session with a token and reads its user. `provider` is the login URL of its OpenID Connect provider, undefined for other
 * logins.
 */
export async function enterSession(value: string, provider?: string): Promise<void> {
  const isAnother = me.value === null;
  resumeProblem.value = '';
  hasSignedOut.value = false;
  if (provider === undefined) sessionStorage.removeItem(providerKey);
  else sessionStorage.setItem(providerKey, provider);
  storeToken(value);
  if (isAnother) await start();
}

const impersonationKey = storageKeyOf('impersonation');

/** The original session of staff while they act as another user in this tab. */
interface Impersonation {
  /** The token of staff. */
  readonly token: string;
  /** When the impersonation ends, in milliseconds. */
  readonly end: number;
}

function readImpersonation(): Impersonation | null {
  const [ownToken, end] = (sessionStorage.getItem(impersonationKey) ?? '').split(' ');
  return ownToken ? { token: ownToken, end: Number(end) } : null;
}

/** The impersonation in this tab; null if there is none. */
export const impersonation = signal(readImpersonation());

function keepImpersonation(value: Impersonation | null): void {
  if (value) sessionStorage.setItem(impersonationKey, `${value.token} ${value.end}`);
  else sessionStorage.removeItem(impersonationKey);
  impersonation.value = value;
}

/** Switches to another session on the home page and clears the previous session's state. */
async function changeSession(next: string): Promise<void> {
  me.value = null;
  abortSession();
  storeToken(null);
  storeToken(next);
  go('/');
  await start();
}

/** Starts an impersonation with a token, until `expires`. */
export async function actAs(next: string, expires: string): Promise<void> {
  if (token.value === null) return;
  keepImpersonation({ token: token.value, end: Date.parse(expires) });
  await changeSession(next);
}

/** Ends the impersonation and returns to the original session. */
export async function endImpersonation(): Promise<void> {
  const own = impersonation.value;
  if (!own) return;
  if (!isExpired.value) await responseOf(api.POST('/api-auth/logout/'));
  keepImpersonation(null);
  await changeSession(own.token);
}

const signedOutKey = storageKeyOf('signed out');

/** Whether the user has signed out in this tab. If so, no automatic sign-in starts. */
export const hasSignedOut = signal(sessionStorage.getItem(signedOutKey) !== null);
effect(() => {
  if (hasSignedOut.value) sessionStorage.setItem(signedOutKey, 'yes');
  else sessionStorage.removeItem(signedOutKey);
});

/** Returns the logout URL of the session's OpenID Connect provider; undefined if it has none. */
function logoutAtProvider(): string | undefined {
  const url = sessionStorage.getItem(providerKey);
  const { providers = [] } = configuration.value ?? {};
  const provider =
    providers.find((known) => known.url === url) ?? (url === '' && providers.length === 1 && providers[0]);
  return provider ? provider.url.replace(/login\/$/, 'logout/?revoked') : undefined;
}

/** Ends the session on the server, at its provider and in this tab. */
export async function signOut(): Promise<void> {
  hasSignedOut.value = true;
  // Stop the automatic refresh.
  me.value = null;
  abortSession();
  if (impersonation.value) {
    // Ending the original session also ends the impersonation.
    const { token: own } = impersonation.value;
    keepImpersonation(null);
    storeToken(own);
  }
  const page = isExpired.value ? undefined : logoutAtProvider();
  sessionStorage.removeItem(providerKey);
  // Log out here first: the provider may no longer know the session.
  if (!isExpired.value) await responseOf(api.POST('/api-auth/logout/'));
  void preferLanguage(undefined);
  storeToken(null);
  go('/');
  if (page !== undefined) location.assign(page);
}

/** Whether the user is staff, with all rights. */
export const isStaff = computed(() => me.value?.is_staff === true);

/** Whether the user may see the state of the service. */
export const isOperator = computed(() => isStaff.value || me.value?.is_support === true);
