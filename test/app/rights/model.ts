/**
 * A small model of visibility and rights, written from the tables in the API's conventions: plain data, a table of rights, and
 * one visibility rule per list. Objects have labels (`u3`, `c7`). Times are milliseconds.
 */

export interface User {
  readonly id: string;
  fullName: string;
  organization: string;
  approved: boolean;
  staff: boolean;
  support: boolean;
  active: boolean;
  agreed: boolean;
  /** The token of their client: none, a valid one, or a revoked one. */
  token: 'none' | 'valid' | 'revoked';
}

export interface Customer {
  readonly id: string;
  name: string;
  abbreviation: string;
}

export interface Project {
  readonly id: string;
  name: string;
  description: string;
  customer: string;
}

export interface Role {
  readonly id: string;
  readonly structure: 'customer' | 'project';
  /** Label of the customer or project. */
  readonly scope: string;
  readonly user: string;
  readonly role: string;
  author: string | null;
  expires: number | null;
  /** End of the role; null while it is active. */
  ended: number | null;
}

export interface Key {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** The encoded body of the key, which identifies it. */
  readonly content: string;
}

export interface Settings {
  readonly owners_can_manage_customers: boolean;
  readonly owners_can_manage_owners: boolean;
  readonly managers_can_manage_admins: boolean;
}

export interface State {
  now: number;
  readonly settings: Settings;
  readonly users: Map<string, User>;
  readonly customers: Map<string, Customer>;
  readonly projects: Map<string, Project>;
  readonly keys: Map<string, Key>;
  readonly roles: Map<string, Role>;
  /** Changed limits of quotas, by label. */
  readonly limits: Map<string, number>;
}

/** A state with only the first staff user. */
export function emptyState(now: number, settings: Settings): State {
  const admin: User = {
    id: 'admin',
    fullName: '',
    organization: '',
    approved: false,
    staff: true,
    support: false,
    active: true,
    agreed: true,
    token: 'valid',
  };
  return {
    now,
    settings,
    users: new Map([['admin', admin]]),
    customers: new Map(),
    projects: new Map(),
    keys: new Map(),
    roles: new Map(),
    limits: new Map(),
  };
}

/** Columns of the tables: the caller's relation to an object. */
export type Standing = 'ST' | 'GS' | 'CO' | 'CS' | 'PA' | 'PM' | 'PS' | 'self';

const columns = { owner: 'CO', support: 'CS', admin: 'PA', manager: 'PM' } as const;
const columnOf = (role: Role): Standing =>
  role.structure === 'project' && role.role === 'support' ? 'PS' : columns[role.role as keyof typeof columns];

export const activeRoles = (state: State): Role[] => [...state.roles.values()].filter((role) => role.ended === null);

const everywhere = (caller: User): Standing[] => (caller.staff ? ['ST'] : caller.support ? ['GS'] : []);

/** The caller's relation to a customer: by a role in it or in one of its projects. */
export const inCustomer = (state: State, caller: User, customer: string): Standing[] => [
  ...everywhere(caller),
  ...activeRoles(state)
    .filter(
      (role) =>
        role.user === caller.id && (role.scope === customer || state.projects.get(role.scope)?.customer === customer),
    )
    .map(columnOf),
];

/** The caller's relation to a project: by a role in it or in its customer. */
export const inProject = (state: State, caller: User, project: string): Standing[] => [
  ...everywhere(caller),
  ...activeRoles(state)
    .filter(
      (role) =>
        role.user === caller.id && (role.scope === project || role.scope === state.projects.get(project)?.customer),
    )
    .map(columnOf),
];

export const inScope = (
  state: State,
  caller: User,
  { structure, scope }: Pick<Role, 'structure' | 'scope'>,
): Standing[] => (structure === 'customer' ? inCustomer(state, caller, scope) : inProject(state, caller, scope));

/** The caller's relation to an account or key of a user. */
export const toOwner = (caller: User, owner: string): Standing[] => [
  ...everywhere(caller),
  ...(caller.id === owner ? (['self'] as const) : []),
];

/** The rights: which callers may perform which actions on objects they see. All other actions are denied. */
export const rights: Readonly<Record<string, readonly (Standing | `${'CO' | 'PM'} with ${keyof Settings}`)[]>> = {
  'POST users': ['ST'],
  'PUT users': ['ST', 'self'],
  'PATCH users': ['ST', 'self'],
  'DELETE users': ['ST'],
  'POST users/password': ['ST', 'self'],
  'POST users/claim_organization': ['ST', 'self'],
  'POST users/approve_organization': ['ST'], // and members
  'POST users/reject_organization': ['ST'], // and members
  'POST users/remove_organization': ['ST'], // and members, and themselves while not approved

  'POST keys': ['ST', 'GS', 'self'],
  'DELETE keys': ['ST', 'self'],

  'POST customers': ['ST'],
  'PUT customers': ['ST', 'CO with owners_can_manage_customers'],
  'PATCH customers': ['ST', 'CO with owners_can_manage_customers'],
  'DELETE customers': ['ST', 'CO with owners_can_manage_customers'],

  'POST projects': ['ST', 'CO'],
  'PUT projects': ['ST', 'CO'],
  'PATCH projects': ['ST', 'CO'],
  'DELETE projects': ['ST', 'CO'],
  'POST projects/update_certifications': ['ST', 'CO'],

  'PUT quotas of customers': ['ST'],
  'PATCH quotas of customers': ['ST'],
  'PUT quotas of projects': ['ST', 'CO'],
  'PATCH quotas of projects': ['ST', 'CO'],

  // Owners, for as long as they are owners themselves: see `ownsUntil`.
  'POST customer-permissions': ['ST', 'CO with owners_can_manage_owners'],
  'PUT customer-permissions': ['ST', 'CO with owners_can_manage_owners'],
  'PATCH customer-permissions': ['ST', 'CO with owners_can_manage_owners'],
  'DELETE customer-permissions': ['ST', 'CO with owners_can_manage_owners'],
  // Managers, over administrators only: see `managesUntil`.
  'POST project-permissions': ['ST', 'CO', 'PM with managers_can_manage_admins'],
  'PUT project-permissions': ['ST', 'CO', 'PM with managers_can_manage_admins'],
  'PATCH project-permissions': ['ST', 'CO', 'PM with managers_can_manage_admins'],
  'DELETE project-permissions': ['ST', 'CO', 'PM with managers_can_manage_admins'],
};

/** Whether a caller of this standing has the right. */
export const may = (state: State, right: string, standing: readonly Standing[]): boolean =>
  (rights[right] ?? []).some((who) => {
    const [column, setting] = who.split(' with ') as [Standing, keyof Settings | undefined];
    return standing.includes(column) && (setting === undefined || state.settings[setting]);
  });

/** The caller's own role must last until t; a permanent role requires a permanent one. */
const holdsUntil =
  (name: string) =>
  (state: State, caller: User, scope: string, t: number | null): boolean =>
    activeRoles(state).some(
      (role) =>
        role.user === caller.id &&
        role.scope === scope &&
        role.role === name &&
        (role.expires === null || (t !== null && role.expires >= t)),
    );
export const ownsUntil = holdsUntil('owner');

/** Managers of a project, with the setting, over the role of another administrator. */
export const managesUntil = (
  state: State,
  caller: User,
  { role, scope, user }: Pick<Role, 'role' | 'scope' | 'user'>,
  t: number | null,
): boolean =>
  state.settings.managers_can_manage_admins &&
  role === 'admin' &&
  user !== caller.id &&
  holdsUntil('manager')(state, caller, scope, t);

/** A member has a role in the single customer whose abbreviation is the target's organization. */
export function isMember(state: State, caller: User, target: User): boolean {
  const named = [...state.customers.values()].filter(
    ({ abbreviation }) => abbreviation !== '' && abbreviation === target.organization,
  );
  return (
    named.length === 1 && activeRoles(state).some((role) => role.user === caller.id && role.scope === named[0]?.id)
  );
}

export type Kind =
  | 'users'
  | 'keys'
  | 'customers'
  | 'projects'
  | 'quotas'
  | 'customer-permissions'
  | 'project-permissions'
  | 'customer-permissions-log'
  | 'project-permissions-log';

const seesAll = (caller: User): boolean => caller.staff || caller.support;
const hasAny = (standing: readonly Standing[], ...wanted: readonly Standing[]): boolean =>
  standing.some((column) => wanted.includes(column));

/** The rules by which callers see objects in lists and details. */
const sight: { readonly [K in Kind]: (state: State, caller: User, id: string) => boolean } = {
  users: (state, caller, id) =>
    seesAll(caller) || caller.id === id || has(state.users, id, (user) => user.active && !user.staff),
  keys: (state, caller, id) => seesAll(caller) || has(state.keys, id, (key) => key.owner === caller.id),
  customers: (state, caller, id) => inCustomer(state, caller, id).length > 0,
  projects: (state, caller, id) => inProject(state, caller, id).length > 0,
  quotas: (state, caller, id) => quotaScope(state, caller, id).length > 0,
  'customer-permissions': (state, caller, id) =>
    has(state.roles, id, (role) => inCustomer(state, caller, role.scope).length > 0),
  'project-permissions': (state, caller, id) =>
    has(
      state.roles,
      id,
      (role) =>
        role.user === caller.id ||
        hasAny(inProject(state, caller, role.scope), 'ST', 'GS', 'CO') ||
        managesUntil(state, caller, role, 0),
    ),
  'customer-permissions-log': (state, caller, id) =>
    has(
      state.roles,
      id,
      (role) => seesAll(caller) || activeRoles(state).some((own) => own.user === caller.id && own.scope === role.scope),
    ),
  'project-permissions-log': (state, caller, id) =>
    has(state.roles, id, (role) => hasAny(inProject(state, caller, role.scope), 'ST', 'GS', 'CO')),
};

function has<T>(objects: ReadonlyMap<string, T>, id: string, condition: (object: T) => boolean): boolean {
  const object = objects.get(id);
  return object !== undefined && condition(object);
}

/** Labels of all objects of a kind, visible or not. */
export function existing(state: State, kind: Kind): string[] {
  const roles = (structure: Role['structure'], past: boolean): string[] =>
    [...state.roles.values()]
      .filter((role) => role.structure === structure && (role.ended !== null) === past)
      .map(({ id }) => id);
  switch (kind) {
    case 'quotas':
      return [
        ...quotasOf([...state.customers.keys()], customerQuotas),
        ...quotasOf([...state.projects.keys()], projectQuotas),
      ];
    case 'customer-permissions':
      return roles('customer', false);
    case 'project-permissions':
      return roles('project', false);
    case 'customer-permissions-log':
      return roles('customer', true);
    case 'project-permissions-log':
      return roles('project', true);
    default:
      return [...state[kind].keys()];
  }
}

/** Labels of the objects visible to a caller. */
export const visible = (state: State, caller: User, kind: Kind): string[] =>
  existing(state, kind).filter((id) => sight[kind](state, caller, id));

export const sees = (state: State, caller: User, kind: Kind, id: string): boolean =>
  existing(state, kind).includes(id) && sight[kind](state, caller, id);

/** Returns labels of the users with an active role in a customer or its projects, the ones that nc_user_count counts. */
export const members = (state: State, customer: string): string[] => [
  ...new Set(
    activeRoles(state)
      .filter(({ scope }) => scope === customer || state.projects.get(scope)?.customer === customer)
      .map(({ user }) => user),
  ),
];

export const projectsOf = (state: State, customer: string): string[] =>
  [...state.projects.values()].filter((project) => project.customer === customer).map(({ id }) => id);

/** Labels of quotas are `<scope>.<name>`. The model covers these quotas of every customer and project. */
export const customerQuotas = ['nc_project_count', 'nc_user_count', 'nc_vm_count'] as const;
export const projectQuotas = ['nc_vm_count'] as const;

const quotasOf = (scopes: readonly string[], names: readonly string[]): string[] =>
  scopes.flatMap((scope) => names.map((name) => `${scope}.${name}`));

export const scopeOf = (quota: string): string => quota.split('.')[0] as string;

/** The caller's relation to the object of a quota. */
export const quotaScope = (state: State, caller: User, quota: string): Standing[] =>
  state.customers.has(scopeOf(quota))
    ? inCustomer(state, caller, scopeOf(quota))
    : inProject(state, caller, scopeOf(quota));

export const limitOf = (state: State, quota: string): number => state.limits.get(quota) ?? -1;

/** The usage of a quota. The model has no machines. */
export function usageOf(state: State, quota: string): number {
  const [scope = '', name] = quota.split('.');
  return name === 'nc_project_count'
    ? projectsOf(state, scope).length
    : name === 'nc_user_count'
      ? members(state, scope).length
      : 0;
}
