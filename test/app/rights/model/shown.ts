/**
 * The representation that a caller sees in terms of the model, and the same terms parsed from a response. Members that do not
 * depend on visibility and rights are omitted. A member that must be absent is undefined.
 */
import type { Json } from '../../../support/fixture.ts';
import {
  activeRoles,
  inScope,
  type Kind,
  limitOf,
  members,
  projectsOf,
  type Role,
  type State,
  scopeOf,
  sees,
  type User,
  usageOf,
} from '../model.ts';

export type Shown = Readonly<Record<string, unknown>>;

/** Reads labels from a response: by the uuid (or pk) in a key or a link. */
export type LabelOf = (key: string) => string;

const keyIn = (link: string): string => link.split('/').at(-2) as string;
const usersWith = (state: State, scope: string, role: string): string[] =>
  activeRoles(state)
    .filter((held) => held.scope === scope && held.role === role)
    .map(({ user }) => user)
    .sort();

/** The object of a list or a detail as this caller must see it. `own`: with the caller's own token. */
export function representation(state: State, caller: User, kind: Kind, id: string, own = true): Shown {
  switch (kind) {
    case 'users':
      return shownUser(state.users.get(id) as User, caller, own);
    case 'keys': {
      const key = state.keys.get(id);
      return { id, name: key?.name, user: caller.staff ? key?.owner : undefined };
    }
    case 'customers':
      return {
        id,
        name: state.customers.get(id)?.name,
        abbreviation: state.customers.get(id)?.abbreviation,
        projects: projectsOf(state, id)
          .filter((project) => sees(state, caller, 'projects', project))
          .sort(),
        owners: usersWith(state, id, 'owner'),
        support_users: usersWith(state, id, 'support'),
        nc_project_count: usageOf(state, `${id}.nc_project_count`),
        nc_user_count: usageOf(state, `${id}.nc_user_count`),
      };
    case 'projects': {
      const { name, description, customer } = state.projects.get(id) ?? {};
      return { id, name, description, customer, usages: 0 };
    }
    case 'quotas':
      return { id, limit: limitOf(state, id), usage: usageOf(state, id), scope: scopeOf(id), threshold: 0 };
    default: {
      const { role, user, scope, author, expires, ended } = state.roles.get(id) as Role;
      return { id, role, user, scope, author, expires: ended ?? expires };
    }
  }
}

/** The keys that only some callers see (4.1 "Shown to"). */
function shownUser(user: User, caller: User, own: boolean): Shown {
  const self = caller.id === user.id;
  const all = caller.staff || caller.support;
  return {
    id: user.id,
    full_name: user.fullName,
    organization: user.organization,
    organization_approved: user.approved,
    civil_number: all || self ? null : undefined,
    description: all ? '' : undefined,
    is_staff: all ? user.staff : undefined,
    is_active: all ? user.active : undefined,
    is_support: user.support,
    token: self && own ? 'shown' : undefined,
    token_lifetime: caller.staff || self ? null : undefined,
    agreed: user.agreed,
  };
}

/** The same for an object in a response. */
export function seen(kind: Kind, body: Json, label: LabelOf): Shown {
  const link = (url: string | null): string | null => (url === null ? null : label(keyIn(url)));
  const labels = (objects: readonly Json[]): string[] => objects.map(({ url }) => label(keyIn(url))).sort();
  const usage = (name: string): number => body.quotas.find((quota: Json) => quota.name === name).usage;
  switch (kind) {
    case 'users': {
      const {
        full_name,
        organization,
        organization_approved,
        civil_number,
        description,
        is_staff,
        is_active,
        is_support,
        token,
        token_lifetime,
      } = body;
      const agreed = body.agreement_date !== null;
      return {
        id: label(body.uuid),
        full_name,
        organization,
        organization_approved,
        civil_number,
        description,
        is_staff,
        is_active,
        is_support,
        token: token && 'shown',
        token_lifetime,
        agreed,
      };
    }
    case 'keys':
      return { id: label(body.uuid), name: body.name, user: body.user_uuid && label(body.user_uuid) };
    case 'customers':
      return {
        id: label(body.uuid),
        name: body.name,
        abbreviation: body.abbreviation,
        projects: labels(body.projects),
        owners: labels(body.owners),
        support_users: labels(body.support_users),
        nc_project_count: usage('nc_project_count'),
        nc_user_count: usage('nc_user_count'),
      };
    case 'projects': {
      const usages = body.quotas.reduce((sum: number, quota: Json) => sum + quota.usage, 0);
      return {
        id: label(body.uuid),
        name: body.name,
        description: body.description,
        customer: link(body.customer),
        usages,
      };
    }
    case 'quotas':
      return {
        id: label(body.uuid),
        limit: body.limit,
        usage: body.usage,
        scope: link(body.scope),
        threshold: body.threshold,
      };
    default:
      return {
        id: label(`${kind.split('-')[0]}/${body.pk}`),
        role: body.role,
        user: link(body.user),
        scope: link(body.customer ?? body.project),
        author: link(body.created_by),
        expires: body.expiration_time === null ? null : Date.parse(body.expiration_time),
      };
  }
}

/** An item of the users/ of a customer or project. */
export function shownMember(state: State, caller: User, scope: string, user: string): Shown {
  const structure = state.customers.has(scope) ? 'customer' : 'project';
  const held = activeRoles(state).filter((role) => role.user === user);
  const own = held.find((role) => role.scope === scope);
  const inProjects = held.filter(
    (role) => projectsOf(state, scope).includes(role.scope) && inScope(state, caller, role).length > 0,
  );
  const projects =
    structure === 'customer'
      ? inProjects.map((role) => `${role.role} of ${role.scope} by ${role.id}`).sort()
      : undefined;
  return { id: user, role: own?.role ?? null, permission: own?.id ?? null, expires: own?.expires ?? null, projects };
}

/** The same for an item of a response. */
export function seenMember(body: Json, label: LabelOf): Shown {
  const permission = (url: string): string =>
    label(`${url.includes('customer-permissions') ? 'customer' : 'project'}/${keyIn(url)}`);
  return {
    id: label(body.uuid),
    role: body.role,
    permission: body.permission && permission(body.permission),
    expires: body.expiration_time && Date.parse(body.expiration_time),
    projects: body.projects
      ?.map((project: Json) => `${project.role} of ${label(project.uuid)} by ${permission(project.permission)}`)
      .sort(),
  };
}

/** Labels of the users in the users/ list of a customer or project. */
export const membersOf = (state: State, scope: string): string[] =>
  state.customers.has(scope)
    ? members(state, scope)
    : activeRoles(state)
        .filter((role) => role.scope === scope)
        .map(({ user }) => user);
