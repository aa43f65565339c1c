/** The scopes that each operation requires of an API key (core.md 2.9). API keys cannot use paths without a row. */

import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { type ApiKey, boundText, hasScope, type ScopeLevel } from '../../kernel/access/api-key.ts';
import { type Caller, closedReason } from '../../kernel/access/caller.ts';
import type { App } from '../../kernel/app.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { isReading } from '../../kernel/http/incoming-request.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Scope, ScopeGroup } from './described-scopes.ts';

/** `closed` rejects API keys and sessions of impersonated users; `none` accepts every API key. */
type Requirement = ScopeGroup | 'closed' | 'none';

interface Rule {
  readonly requires: Requirement;
  /** Default: the same as for reads. */
  readonly writes?: Requirement;
  /** Default: the same as for reads. */
  readonly options?: Requirement;
  /** Operations that concern no object to which a key can be bound: all of them, writes, or creation. */
  readonly unbound?: 'all' | 'writes' | 'creation';
  /** An additional scope that writes require. */
  readonly writesAlso?: Scope;
}

/** Paths whose rule differs from that of their collection. */
const exceptions: Readonly<Record<string, Rule>> = {
  '/api-auth/logout/': { requires: 'none' },
  '/api/api-keys/current/': { requires: 'none' },
  '/api/api-keys/scopes/': { requires: 'none' },
  '/api/api-keys/revoke_all/': { requires: 'closed' },
  '/api/api-keys/:key/rotate/': { requires: 'closed' },
  '/api/users/:key/password/': { requires: 'closed' },
  '/api/users/:key/impersonate/': { requires: 'closed' },
  '/api/users/:key/reset_second_factors/': { requires: 'closed' },
  '/api/user-invitations/:key/accept/': { requires: 'closed' },
  '/api/backups/:key/content/': { requires: 'closed' },
  '/api/audit/export/': { requires: 'closed' },
  '/api/customers/:key/counters/': { requires: 'statistics' },
  '/api/projects/:key/counters/': { requires: 'statistics' },
};

const hooks: Rule = { requires: 'hooks', writesAlso: 'events:read', unbound: 'writes' };

/** The group of each collection. Those of provider types are added by `rulesOf`. */
const collections: Readonly<Record<string, Rule>> = {
  '': { requires: 'none' },
  alerts: { requires: 'alerts' },
  'api-keys': { requires: 'api-keys', writes: 'closed' },
  audit: { requires: 'audit', unbound: 'all' },
  backups: { requires: 'operation', unbound: 'all' },
  configuration: { requires: 'none' },
  'customer-permissions': { requires: 'permissions' },
  'customer-permissions-log': { requires: 'permissions' },
  customers: { requires: 'customers', unbound: 'creation' },
  'deployment-settings': { requires: 'operation', unbound: 'all' },
  events: { requires: 'events' },
  hooks: { requires: 'hooks' },
  'hooks-email': hooks,
  'hooks-push': hooks,
  'hooks-web': hooks,
  jobs: { requires: 'operation', unbound: 'all' },
  keys: { requires: 'ssh-keys', unbound: 'writes' },
  'monitoring-items': { requires: 'resources' },
  'notification-preferences': { requires: 'hooks', unbound: 'all' },
  notifications: { requires: 'hooks', unbound: 'all' },
  operation: { requires: 'operation', unbound: 'all' },
  outbox: { requires: 'operation', unbound: 'all' },
  'project-permissions': { requires: 'permissions' },
  'project-permissions-log': { requires: 'permissions' },
  projects: { requires: 'projects' },
  quotas: { requires: 'quotas' },
  'resource-sla': { requires: 'resources' },
  resources: { requires: 'resources' },
  'second-factors': { requires: 'closed' },
  'service-accounts': { requires: 'api-keys', writes: 'closed', options: 'closed' },
  'service-certifications': { requires: 'services', unbound: 'writes' },
  'service-metadata': { requires: 'services' },
  'service-settings': { requires: 'services' },
  services: { requires: 'services' },
  sessions: { requires: 'closed' },
  simulator: { requires: 'operation', unbound: 'all' },
  stats: { requires: 'statistics' },
  'user-counters': { requires: 'statistics' },
  'user-invitations': { requires: 'invitations' },
  users: { requires: 'users', unbound: 'writes' },
  version: { requires: 'none' },
};

const closed: Rule = { requires: 'closed' };
const segmentOf = (path: string): string => path.split('/')[2] ?? '';

/** Rules of a catalogue's collections by the path segment after /api/. */
const rulesOf = memoised(
  ({ propertyKinds, types }: Catalogue): ReadonlyMap<string, Rule> =>
    new Map<string, Rule>([
      ...Object.entries(collections),
      ...propertyKinds.map(({ kind }) => [kind.path, { requires: 'services' }] as const),
      ...types.flatMap(({ endpoints = [], kinds, prefix }) => [
        [prefix, { requires: 'services' }] as const,
        [`${prefix}-service-project-link`, { requires: 'services' }] as const,
        ...[...kinds.map(({ path }) => path), ...endpoints.map(({ path }) => segmentOf(path))].map(
          (segment) => [segment, { requires: 'resources' }] as const,
        ),
      ]),
    ]),
);

function ruleOf(catalogue: Catalogue, absent: readonly string[], path: string): Rule {
  const exception = exceptions[path];
  if (exception) return exception;
  if (path === '/' || path.startsWith('/docs/')) return { requires: 'none' };
  if (!path.startsWith('/api/')) return closed;
  const segment = segmentOf(path);
  return rulesOf(catalogue).get(segment) ?? (absent.includes(segment) ? { requires: 'none' } : closed);
}

/** The API key requirement of an operation: a list of scopes (all required), `closed` or `none`. */
export type RequiredScopes = readonly Scope[] | 'closed' | 'none';

/** What the requirement of a method depends on. */
type Access = ScopeLevel | 'options';

const accessOf = (method: string): Access => (method === 'OPTIONS' ? 'options' : isReading(method) ? 'read' : 'write');

function scopesIn({ options, requires, writes = requires, writesAlso }: Rule, access: Access): RequiredScopes {
  const required = access === 'write' ? writes : ((access === 'options' ? options : undefined) ?? requires);
  const level = access === 'write' ? 'write' : 'read';
  if (required === 'closed' || required === 'none') return required;
  return [`${required}:${level}`, ...(level === 'write' && writesAlso ? [writesAlso] : [])];
}

/** Returns the API key requirement of a method. */
export const requiredScopes = (
  catalogue: Catalogue,
  { open = false, path }: Pick<Endpoint, 'open' | 'path'>,
  method: string,
  absent: readonly string[] = [],
): RequiredScopes => (open ? 'none' : scopesIn(ruleOf(catalogue, absent, path), accessOf(method)));

/** Whether an operation concerns no object to which a key can be bound. */
function isUnbound({ unbound }: Rule, path: string, method: string): boolean {
  if (unbound === undefined || unbound === 'all') return unbound === 'all';
  if (isReading(method)) return false;
  return unbound === 'writes' || !path.includes(':');
}

/** Caches the endpoints that a key may use. A changed key is a new object. */
const permitted = memoised((_: ApiKey) => ({
  read: new WeakSet<Endpoint>(),
  write: new WeakSet<Endpoint>(),
  options: new WeakSet<Endpoint>(),
}));

/**
 * Throws 403 if the operation requires the user in person and the caller is not, if the caller's API key lacks a scope, or if the
 * key is bound to objects and the operation cannot concern them.
 */
export function requireScopes(
  app: App,
  caller: Pick<Caller, 'apiKey' | 'impersonator'>,
  endpoint: Endpoint,
  method: string,
): void {
  const reason = closedReason(caller);
  if (reason === undefined) return;
  const known = caller.apiKey && permitted(caller.apiKey)[accessOf(method)];
  if (known?.has(endpoint)) return;
  requireScopesOf(app, caller.apiKey, endpoint, method, reason);
  known?.add(endpoint);
}

/** The uncached check of `requireScopes`. Without a key, rejects only operations that require the user in person. */
function requireScopesOf(
  { catalogue, config }: App,
  key: ApiKey | null,
  endpoint: Endpoint,
  method: string,
  reason: string,
): void {
  const required = requiredScopes(catalogue, endpoint, method, config.empty_collections);
  if (required === 'none') return;
  if (required === 'closed') throw forbidden(reason);
  if (!key) return;
  for (const scope of required) {
    const [group, level] = scope.split(':') as [ScopeGroup, ScopeLevel];
    if (!hasScope(key, group, level)) throw forbidden(`This API key lacks the scope ${scope}.`);
  }
  if (key.isBound && isUnbound(ruleOf(catalogue, config.empty_collections, endpoint.path), endpoint.path, method))
    throw forbidden(boundText);
}
