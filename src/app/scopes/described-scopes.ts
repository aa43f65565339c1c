/** The scopes of API keys and their descriptions (core.md 2.9). */
import { type ScopeLevel, scopeLevels } from '../../kernel/access/api-key.ts';

/** A group of paths that a scope can cover. */
const scopeGroups = [
  'users',
  'customers',
  'projects',
  'permissions',
  'invitations',
  'services',
  'resources',
  'quotas',
  'alerts',
  'events',
  'hooks',
  'ssh-keys',
  'statistics',
  'operation',
  'audit',
  'api-keys',
] as const;
export type ScopeGroup = (typeof scopeGroups)[number];

/** A group with a level, such as `customers:read`. */
export type Scope = `${ScopeGroup}:${ScopeLevel}`;

/** The coverage of each group. */
const contents: Readonly<Record<ScopeGroup, string>> = {
  users: 'users',
  customers: 'customers and their images',
  projects: 'projects',
  permissions: 'roles and their log',
  invitations: 'invitations',
  services: 'provider accounts, services, their links and properties, and certifications',
  resources: 'resources, their parts and actions, SLA and monitoring',
  quotas: 'quotas',
  alerts: 'alerts',
  events: 'events',
  hooks: 'hooks, notifications and their preferences',
  'ssh-keys': 'SSH keys',
  statistics: 'statistics and counters',
  operation: 'the operation of the service',
  audit: 'the audit trail',
  'api-keys': 'API keys and service accounts',
};

const everything = 'everything except the operation of the service and the audit trail';

/** Groups that only permit reading. */
const readOnlyGroups: ReadonlySet<ScopeGroup> = new Set(['api-keys', 'audit']);

/** Scopes that can grant access beyond the lifetime of the key. */
const granting: ReadonlySet<string> = new Set([
  'users:write',
  'permissions:write',
  'invitations:write',
  'hooks:write',
  '*:write',
]);

interface DescribedScope {
  readonly scope: string;
  readonly group: ScopeGroup | '*';
  readonly level: ScopeLevel;
  readonly description: string;
  /** Whether it can grant access beyond the lifetime of the key. */
  readonly grantsAccess: boolean;
}

const verbs: Readonly<Record<ScopeLevel, string>> = { read: 'Read', write: 'Read and change' };

/** Every scope that a key can have. */
export const describedScopes: readonly DescribedScope[] = ([...scopeGroups, '*'] as const).flatMap((group) =>
  scopeLevels.flatMap((level) => {
    if (level === 'write' && group !== '*' && readOnlyGroups.has(group)) return [];
    const scope = `${group}:${level}`;
    const description = `${verbs[level]} ${group === '*' ? everything : contents[group]}.`;
    return [{ scope, group, level, description, grantsAccess: granting.has(scope) }];
  }),
);

/** The names of all scopes. */
export const scopeNames: ReadonlySet<string> = new Set(describedScopes.map(({ scope }) => scope));
