/** Roles in customers and projects: granting, extending and revoking them (core.md 8). */
import {
  activeRoles,
  existing,
  inScope,
  limitOf,
  managesUntil,
  members,
  ownsUntil,
  type Role,
  sees,
  usageOf,
} from '../model.ts';
import {
  type Attempt,
  choice,
  conflict,
  forbidden,
  link,
  notFound,
  type Reply,
  reject,
  timeToCome,
} from './attempt.ts';
import { representation } from './shown.ts';

type Structure = Role['structure'];

const roles = { customer: ['owner', 'support'], project: ['admin', 'manager', 'support'] } as const;

/** The caller's right to a role that lasts until t; by default one that ends immediately. */
function need(attempt: Attempt, role: Pick<Role, 'role' | 'scope' | 'structure' | 'user'>, t: number | null = 0): void {
  const { state, caller } = attempt;
  attempt.need(inScope(state, caller, role));
  const customer = state.projects.get(role.scope)?.customer ?? role.scope;
  if (!caller.staff && !ownsUntil(state, caller, customer, t) && !managesUntil(state, caller, role, t)) forbidden();
}

export const grantRole =
  (structure: Structure) =>
  (attempt: Attempt): Reply => {
    const { state, caller, call } = attempt;
    const readers = {
      role: choice(...roles[structure]),
      expiration_time: timeToCome,
      [structure]: link(`${structure}s`),
      user: link('users'),
    };
    const values = attempt.read(readers, ['role', structure, 'user']);
    const [scope, user, t] = [
      values[structure] as string,
      values.user as string,
      (values.expiration_time ?? null) as number | null,
    ];
    need(attempt, { role: values.role as string, scope, structure, user }, t);
    if (activeRoles(state).some((role) => role.user === user && role.scope === scope)) {
      reject(400, { non_field_errors: [`The fields ${structure} and user must make a unique set.`] });
    }
    const customer = state.projects.get(scope)?.customer ?? scope;
    if (!members(state, customer).includes(user)) requireQuotas(attempt, customer, { nc_user_count: 1 });
    const id = `r${call.at}`;
    state.roles.set(id, {
      id,
      structure,
      scope,
      user,
      role: values.role as string,
      author: caller.id,
      expires: t,
      ended: null,
    });
    attempt.happens('role_granted', user, scope);
    return { status: 201, created: id, object: representation(state, caller, `${structure}-permissions`, id) };
  };

/** The addressed role; visible to every user who sees its customer or project. */
function addressed(attempt: Attempt, structure: Structure): Role {
  const { state, caller, call } = attempt;
  const role = state.roles.get(call.key as string);
  const isActive = role !== undefined && existing(state, `${structure}-permissions`).includes(role.id);
  return isActive && sees(state, caller, `${structure}s`, role.scope) ? role : notFound();
}

export const prolongRole =
  (structure: Structure) =>
  (attempt: Attempt): Reply => {
    const { state, caller } = attempt;
    const role = addressed(attempt, structure);
    need(attempt, role);
    if (role.user === caller.id) forbidden();
    const { expiration_time: requests } = attempt.read({ expiration_time: timeToCome }) as {
      expiration_time?: number | null;
    };
    const t = requests === undefined ? role.expires : requests;
    need(attempt, role, t);
    role.expires = t;
    return { status: 200, object: representation(state, caller, `${structure}-permissions`, role.id) };
  };

export const revokeRole =
  (structure: Structure) =>
  (attempt: Attempt): Reply => {
    const role = addressed(attempt, structure);
    need(attempt, role, role.expires);
    end(attempt, role);
    return { status: 204 };
  };

function end(attempt: Attempt, role: Role): void {
  role.ended = attempt.state.now;
  attempt.happens('role_revoked', role.user, role.scope);
}

/** Roles are deleted with their user, customer or project, past ones included. Active ones end first. */
export function forgetRoles(attempt: Attempt, of: (role: Role) => boolean): void {
  const { state } = attempt;
  for (const role of activeRoles(state).filter(of)) end(attempt, role);
  for (const role of state.roles.values()) if (of(role)) state.roles.delete(role.id);
}

/** Rejects a request that would exceed the quotas of a customer (events.md 2.2). */
export function requireQuotas(
  { state }: Attempt,
  customer: string,
  adds: { readonly nc_project_count?: number; readonly nc_user_count?: number },
): void {
  const { name, abbreviation } = state.customers.get(customer) as { name: string; abbreviation: string };
  const exceeded = (['nc_project_count', 'nc_user_count'] as const).flatMap((quota) => {
    const [limit, usage, added] = [
      limitOf(state, `${customer}.${quota}`),
      usageOf(state, `${customer}.${quota}`),
      adds[quota] ?? 0,
    ];
    if (limit === -1 || added === 0 || usage + added <= limit) return [];
    return `${quota} quota limit: ${limit}.0, requires ${usage + added}.0 (${name}${abbreviation && ` (${abbreviation})`})`;
  });
  if (exceeded.length > 0) conflict(`One or more quotas were exceeded: ${exceeded.join('; ')}`);
}
