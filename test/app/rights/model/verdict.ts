/** What the conventions make of a request: its answer, what it changes in the world, and its events. */
import {
  activeRoles,
  inProject,
  type Kind,
  may,
  members,
  projectsOf,
  quotaScope,
  type Role,
  scopeOf,
  sees,
  type User,
  visible,
  type World,
} from '../model.ts';
import { type Answer, Attempt, Refusal, refuse } from './attempt.ts';
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
import { membersOf, type Shown, shown, shownMember } from './shown.ts';
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

export interface Verdict extends Answer {
  /** `<type> <labels of its subjects> [by <actor>]`, in order. */
  readonly events: readonly string[];
}

const writes: Readonly<Record<string, (attempt: Attempt) => Answer>> = {
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

/** The requests that change something, as `METHOD collection[/tail]`. */
export const writing: readonly string[] = Object.keys(writes);

/** Lets time pass, judges the request, and changes the world as it would. */
export function judge(world: World, call: Call): Verdict {
  if (call.method === 'sign in') return signIn(world, call);
  world.now += call.wait;
  const events = expire(world);
  try {
    const caller = authenticate(world, call);
    return { ...answer(new Attempt(world, call, caller, events)), events };
  } catch (error) {
    if (error instanceof Refusal) return { ...error.answer, events };
    throw error;
  }
}

/** Roles end at their instant, with an event that has no actor. */
function expire(world: World): string[] {
  const due = activeRoles(world).filter((role) => role.expires !== null && role.expires <= world.now);
  for (const role of due) role.ended = role.expires;
  return due.map((role: Role) => `role_revoked ${role.user} ${role.scope}`);
}

function signIn(world: World, { by }: Call): Verdict {
  const user = world.users.get(by);
  if (user?.active) user.token = 'valid';
  return { status: 200, events: [] };
}

function authenticate(world: World, { by }: Call): User {
  const caller = world.users.get(by);
  if (by === 'anonymous' || caller?.token === 'none')
    refuse(401, { detail: 'Authentication credentials were not provided.' });
  if (caller === undefined) return refuse(401, { detail: 'Invalid token.' });
  if (!caller.active) refuse(401, { detail: 'User inactive or deleted.' });
  return caller.token === 'revoked' ? refuse(401, { detail: 'Invalid token.' }) : caller;
}

function answer(attempt: Attempt): Answer {
  const { world, caller, call } = attempt;
  const { method, on } = call;
  if (on === 'logout') {
    caller.token = 'revoked';
    attempt.happens('auth_logged_out');
    return { status: 204 };
  }
  if (on === 'user-counters')
    return {
      status: 200,
      body: { keys: [...world.keys.values()].filter(({ owner }) => owner === caller.id).length, hooks: 0 },
    };
  if (method === 'GET' || method === 'HEAD') return read(attempt);
  if (method === 'OPTIONS') return describe(attempt);
  return (writes[attempt.right] as (attempt: Attempt) => Answer)(attempt);
}

/** The filters of lists: which of the visible objects they keep. */
const filters: Readonly<Record<string, (attempt: Attempt, id: string, value: string) => boolean>> = {
  'users current': ({ caller }, id) => id === caller.id,
  'users customer_uuid': ({ world, caller }, id, value) =>
    sees(world, caller, 'customers', value) && members(world, value).includes(id),
  'users project_uuid': ({ world, caller }, id, value) =>
    sees(world, caller, 'projects', value) && membersOf(world, value).includes(id),
  'users potential': ({ world, caller }, id) =>
    !world.users.get(id)?.staff &&
    visible(world, caller, 'customers').some((customer) => members(world, customer).includes(id)),
  'quotas name': (_, id, value) => id.includes(value),
  'customers user_uuid': ({ world, caller }, id, value) => {
    const user = world.users.get(value);
    return !(caller.staff || caller.support) || (user !== undefined && sees(world, user, 'customers', id));
  },
  'projects customer': ({ world }, id, value) => world.projects.get(id)?.customer === value,
  // The caller's own roles count, also those of staff.
  'projects can_manage': ({ world, caller }, id) =>
    inProject(world, { ...caller, staff: false, support: false }, id).some((own) => own === 'CO' || own === 'PM'),
  'projects can_admin': ({ world, caller }, id) =>
    inProject(world, { ...caller, staff: false, support: false }, id).includes('PA'),
};

function read(attempt: Attempt): Answer {
  const { world, caller, call } = attempt;
  const kind = call.on as Kind;
  const asked = Object.entries(call.query ?? {}).filter(([name]) => `${kind} ${name}` in filters);
  if (call.key === undefined) {
    const kept = visible(world, caller, kind).filter((id) =>
      asked.every(([name, value]) => filters[`${kind} ${name}`]?.(attempt, id, value)),
    );
    return page(
      call,
      kept.map((id) =>
        shown(
          world,
          caller,
          kind,
          id,
          asked.some(([name]) => name === 'current'),
        ),
      ),
    );
  }
  const id = attempt.see(kind);
  if (call.tail === 'users')
    return page(
      call,
      membersOf(world, id).map((user) => shownMember(world, caller, id, user)),
    );
  if (call.tail === 'counters') return { status: 200, body: counters(attempt, kind, id) };
  return { status: 200, object: shown(world, caller, kind, id) };
}

function page({ query }: Call, list: readonly Shown[]): Answer {
  const last = Math.max(1, Math.ceil(list.length / Number(query?.page_size ?? 10)));
  if (Number(query?.page ?? 1) > last) refuse(404, { detail: 'Invalid page.' });
  return { status: 200, list };
}

function counters({ world, caller }: Attempt, kind: Kind, id: string): Readonly<Record<string, number>> {
  const users = membersOf(world, id).length;
  if (kind === 'projects') return { users, alerts: 0, apps: 0, vms: 0, private_clouds: 0, storages: 0 };
  return {
    alerts: 0,
    services: 0,
    projects: projectsOf(world, id).filter((project) => sees(world, caller, 'projects', project)).length,
    users,
  };
}

const mayEdit = ({ world, caller }: Attempt, quota: string): boolean =>
  may(
    world,
    `PUT quotas of ${world.customers.has(scopeOf(quota)) ? 'customers' : 'projects'}`,
    quotaScope(world, caller, quota),
  );

/** OPTIONS: seen like GET; fields are described on paths that write, of users and quotas to those who may (core.md 1.10). */
function describe(attempt: Attempt): Answer {
  const { call, caller } = attempt;
  const kind = call.on as Kind;
  const id = call.key === undefined ? undefined : attempt.see(kind);
  const isWritten = !kind.endsWith('-log') && !(kind === 'keys' && id !== undefined);
  if (kind === 'quotas') return { status: 200, described: id !== undefined && mayEdit(attempt, id) };
  return { status: 200, described: isWritten && (kind !== 'users' || caller.staff || caller.id === id) };
}
