/** The expected result of a request: its response, its changes to the state, and its events. */
import {
  activeRoles,
  inProject,
  type Kind,
  may,
  members,
  projectsOf,
  quotaScope,
  type Role,
  type State,
  scopeOf,
  sees,
  type User,
  visible,
} from '../model.ts';
import { Attempt, Rejection, type Reply, reject } from './attempt.ts';
import type { Call } from './call.ts';
import {
  approveOrganization,
  claimOrganization,
  createKey,
  createUser,
  deleteKey,
  deleteUser,
  rejectOrganization,
  removeOrganization,
  setPassword,
  updateUser,
} from './people.ts';
import { grantRole, prolongRole, revokeRole } from './roles.ts';
import { membersOf, representation, type Shown, shownMember } from './shown.ts';
import {
  createCustomer,
  createProject,
  deleteCustomer,
  deleteProject,
  updateCertifications,
  updateCustomer,
  updateProject,
  updateQuota,
} from './structures.ts';

export interface Verdict extends Reply {
  /** `<type> <labels of its subjects> [by <actor>]`, in order. */
  readonly events: readonly string[];
}

const writes: Readonly<Record<string, (attempt: Attempt) => Reply>> = {
  'POST users': createUser,
  'PUT users': updateUser,
  'PATCH users': updateUser,
  'DELETE users': deleteUser,
  'POST users/password': setPassword,
  'POST users/claim_organization': claimOrganization,
  'POST users/approve_organization': approveOrganization,
  'POST users/reject_organization': rejectOrganization,
  'POST users/remove_organization': removeOrganization,
  'POST keys': createKey,
  'DELETE keys': deleteKey,
  'POST customers': createCustomer,
  'PUT customers': updateCustomer,
  'PATCH customers': updateCustomer,
  'DELETE customers': deleteCustomer,
  'POST projects': createProject,
  'PUT projects': updateProject,
  'PATCH projects': updateProject,
  'DELETE projects': deleteProject,
  'POST projects/update_certifications': updateCertifications,
  'PUT quotas': updateQuota,
  'PATCH quotas': updateQuota,
  'POST customer-permissions': grantRole('customer'),
  'PUT customer-permissions': prolongRole('customer'),
  'PATCH customer-permissions': prolongRole('customer'),
  'DELETE customer-permissions': revokeRole('customer'),
  'POST project-permissions': grantRole('project'),
  'PUT project-permissions': prolongRole('project'),
  'PATCH project-permissions': prolongRole('project'),
  'DELETE project-permissions': revokeRole('project'),
};

/** The requests with changes, as `METHOD collection[/tail]`. */
export const writing: readonly string[] = Object.keys(writes);

/** Lets time pass, evaluates the request, and applies its changes to the state. */
export function check(state: State, call: Call): Verdict {
  if (call.method === 'sign in') return signIn(state, call);
  state.now += call.wait;
  const events = expire(state);
  try {
    const caller = authenticate(state, call);
    return { ...response(new Attempt(state, call, caller, events)), events };
  } catch (error) {
    if (error instanceof Rejection) return { ...error.response, events };
    throw error;
  }
}

/** Roles end at their instant, with an event without an actor. */
function expire(state: State): string[] {
  const due = activeRoles(state).filter((role) => role.expires !== null && role.expires <= state.now);
  for (const role of due) role.ended = role.expires;
  return due.map((role: Role) => `role_revoked ${role.user} ${role.scope}`);
}

function signIn(state: State, { by }: Call): Verdict {
  const user = state.users.get(by);
  if (user?.active) user.token = 'valid';
  return { status: 200, events: [] };
}

function authenticate(state: State, { by }: Call): User {
  const caller = state.users.get(by);
  if (by === 'anonymous' || caller?.token === 'none')
    reject(401, { detail: 'Authentication credentials were not provided.' });
  if (caller === undefined) return reject(401, { detail: 'Invalid token.' });
  if (!caller.active) reject(401, { detail: 'User inactive or deleted.' });
  return caller.token === 'revoked' ? reject(401, { detail: 'Invalid token.' }) : caller;
}

function response(attempt: Attempt): Reply {
  const { state, caller, call } = attempt;
  const { method, on } = call;
  if (on === 'logout') {
    caller.token = 'revoked';
    attempt.happens('auth_logged_out');
    return { status: 204 };
  }
  if (on === 'user-counters')
    return {
      status: 200,
      body: { keys: [...state.keys.values()].filter(({ owner }) => owner === caller.id).length, hooks: 0, api_keys: 0 },
    };
  if (method === 'GET' || method === 'HEAD') return read(attempt);
  if (method === 'OPTIONS') return describe(attempt);
  return (writes[attempt.right] as (attempt: Attempt) => Reply)(attempt);
}

/** The filters of lists: predicates of visible objects. */
const filters: Readonly<Record<string, (attempt: Attempt, id: string, value: string) => boolean>> = {
  'users current': ({ caller }, id) => id === caller.id,
  'users customer_uuid': ({ state, caller }, id, value) =>
    sees(state, caller, 'customers', value) && members(state, value).includes(id),
  'users project_uuid': ({ state, caller }, id, value) =>
    sees(state, caller, 'projects', value) && membersOf(state, value).includes(id),
  'users potential': ({ state, caller }, id) =>
    !state.users.get(id)?.staff &&
    visible(state, caller, 'customers').some((customer) => members(state, customer).includes(id)),
  'quotas name': (_, id, value) => id.includes(value),
  'customers user_uuid': ({ state, caller }, id, value) => {
    const user = state.users.get(value);
    return !(caller.staff || caller.support) || (user !== undefined && sees(state, user, 'customers', id));
  },
  'projects customer': ({ state }, id, value) => state.projects.get(id)?.customer === value,
  // The caller's own roles count, for staff too.
  'projects can_manage': ({ state, caller }, id) =>
    inProject(state, { ...caller, staff: false, support: false }, id).some((own) => own === 'CO' || own === 'PM'),
  'projects can_admin': ({ state, caller }, id) =>
    inProject(state, { ...caller, staff: false, support: false }, id).includes('PA'),
};

function read(attempt: Attempt): Reply {
  const { state, caller, call } = attempt;
  const kind = call.on as Kind;
  const requests = Object.entries(call.query ?? {}).filter(([name]) => `${kind} ${name}` in filters);
  if (call.key === undefined) {
    const matching = visible(state, caller, kind).filter((id) =>
      requests.every(([name, value]) => filters[`${kind} ${name}`]?.(attempt, id, value)),
    );
    return page(
      call,
      matching.map((id) =>
        representation(
          state,
          caller,
          kind,
          id,
          requests.some(([name]) => name === 'current'),
        ),
      ),
    );
  }
  const id = attempt.see(kind);
  if (call.tail === 'users')
    return page(
      call,
      membersOf(state, id).map((user) => shownMember(state, caller, id, user)),
    );
  if (call.tail === 'counters') return { status: 200, body: counters(attempt, kind, id) };
  return { status: 200, object: representation(state, caller, kind, id) };
}

function page({ query }: Call, list: readonly Shown[]): Reply {
  const last = Math.max(1, Math.ceil(list.length / Number(query?.page_size ?? 10)));
  if (Number(query?.page ?? 1) > last) reject(404, { detail: 'Invalid page.' });
  return { status: 200, list };
}

function counters({ state, caller }: Attempt, kind: Kind, id: string): Readonly<Record<string, number>> {
  const users = membersOf(state, id).length;
  if (kind === 'projects') return { users, alerts: 0, apps: 0, vms: 0, private_clouds: 0, storages: 0 };
  return {
    alerts: 0,
    services: 0,
    projects: projectsOf(state, id).filter((project) => sees(state, caller, 'projects', project)).length,
    users,
  };
}

const mayEdit = ({ state, caller }: Attempt, quota: string): boolean =>
  may(
    state,
    `PUT quotas of ${state.customers.has(scopeOf(quota)) ? 'customers' : 'projects'}`,
    quotaScope(state, caller, quota),
  );

/**
 * OPTIONS: visible like GET. Fields are described on paths that write; for users and quotas only to callers with the right
 * (core.md 1.10).
 */
function describe(attempt: Attempt): Reply {
  const { call, caller } = attempt;
  const kind = call.on as Kind;
  const id = call.key === undefined ? undefined : attempt.see(kind);
  const isWritten = !kind.endsWith('-log') && !(kind === 'keys' && id !== undefined);
  if (kind === 'quotas') return { status: 200, described: id !== undefined && mayEdit(attempt, id) };
  return { status: 200, described: isWritten && (kind !== 'users' || caller.staff || caller.id === id) };
}
