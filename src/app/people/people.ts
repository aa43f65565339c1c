/**
 * Changes users and their roles from the command line. The rules and events of the API apply, but events have no acting user.
 */
import { grantRole, type RoleScope, revokeRole, roleNames } from '../../accounts/roles/roles.ts';
import { makeRecoveryLink } from '../../accounts/session/recovery.ts';
import { changePassword } from '../../accounts/users/actions.ts';
import { requirePassword } from '../../accounts/users/add.ts';
import { type UserRow, updateUser } from '../../accounts/users/users.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { parseDatetime } from '../../kernel/clock.ts';
import { duration } from '../../kernel/config/setting.ts';
import { caseFold, raw, sql } from '../../kernel/db/sql.ts';
import { HttpError } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';

/** Global roles, with the fields of users that store them. */
const globalRoleFields = { staff: 'is_staff', support: 'is_support' } as const;
type GlobalRole = keyof typeof globalRoleFields;
type GlobalRoleField = (typeof globalRoleFields)[GlobalRole];

/** The customer or project of a role. A name must be unique. */
interface RoleTarget {
  readonly structure: RoleScope;
  readonly nameOrUuid: string;
}

/** A role in a customer or project, or a global role. */
export interface RoleSpec {
  readonly role: string;
  readonly target: RoleTarget | undefined;
}

/** Returns a user by name, ignoring case. Throws a readable error. */
export function findUser({ db, trail }: App, username: string): UserRow {
  const user = db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${caseFold(username)}`);
  if (!user) throw new Error(`there is no user "${username}"`);
  trail.current?.about('users', user.uuid, user.username);
  return user;
}

/** Returns a person by name. Throws a readable error, also for service accounts, which only the API changes. */
function findPerson(app: App, username: string): UserRow {
  const user = findUser(app, username);
  if (user.is_service_account)
    throw new Error(`"${user.username}" is a service account: change it in the console or API`);
  return user;
}

/** Sets a user's password and revokes their tokens. Rejects with a readable error if the password breaks a rule. */
export async function setPassword(app: App, username: string, password: string): Promise<void> {
  const user = findPerson(app, username);
  await requirePassword(app, user, password);
  const hash = await app.passwords.hash(password);
  store(app, () => changePassword(systemContext(app), findPerson(app, username), hash));
}

/** Creates a link that logs a user in once, and returns its URL. Throws a readable error. */
export function recoveryUrl(app: App, username: string): string {
  const { base_url, host, port, tls_cert_file } = app.config;
  const { id, is_active: isActive } = findPerson(app, username);
  if (!isActive) throw new Error(`the user "${username}" is disabled: enable them first`);
  let secret = '';
  store(app, () => {
    secret = makeRecoveryLink(systemContext(app), id);
  });
  // A browser cannot open a wildcard address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  const own = `${tls_cert_file === null ? 'http' : 'https'}://${name}:${port}`;
  return `${base_url ?? own}/#/recover/${secret}`;
}

/** Enables a user, or disables them and revokes their tokens. Returns whether this changed the state. */
export function setActive(app: App, username: string, isActive: boolean): boolean {
  return setFlag(app, findUser(app, username), 'is_active', isActive);
}

/**
 * Grants a role to a user. `until` is an ISO 8601 instant or a duration. Returns whether the role is new. Throws a readable
 * error.
 */
export function grant(app: App, username: string, spec: RoleSpec, until?: string): boolean {
  const user = findPerson(app, username);
  const { target, role } = spec;
  if (!target) {
    if (until !== undefined) throw new Error('--until is for roles in a customer or project');
    return setFlag(app, user, globalRoleFields[globalRole(role)], true);
  }
  requireRole(spec);
  const scope = idOf(app, target);
  const expires = until === undefined ? null : instantOf(until, app.clock.now());
  const { structure } = target;
  store(app, () => grantRole(systemContext(app), { structure, scope, user: user.id, role, expires, author: null }));
  return true;
}

/** Revokes a role. Returns whether the user had it. Throws a readable error. */
export function revoke(app: App, username: string, spec: RoleSpec): boolean {
  const { db } = app;
  const user = findPerson(app, username);
  const { target, role } = spec;
  if (!target) return setFlag(app, user, globalRoleFields[globalRole(role)], false);
  requireRole(spec);
  const scope = idOf(app, target);
  const { structure } = target;
  const assignment = db.get<{ id: number; user_id: number; role: string }>(sql`
    SELECT id, user_id, role FROM ${raw(`active_${structure}_role`)}
    WHERE ${raw(`${structure}_id`)} = ${scope} AND user_id = ${user.id} AND role = ${role}`);
  if (!assignment) return false;
  store(app, () => revokeRole(systemContext(app), structure, { ...assignment, scope }));
  return true;
}

/** Sets a flag of a user. Returns whether this changed it. */
function setFlag(app: App, user: UserRow, name: 'is_active' | GlobalRoleField, value: boolean): boolean {
  if (Boolean(user[name]) === value) return false;
  store(app, () => updateUser(systemContext(app), user, { [name]: value }, true));
  return true;
}

/** Runs a write and commits it to disk. Throws a readable error if it breaks a rule or cannot be stored. */
export function store(app: App, work: () => unknown): void {
  try {
    app.db.write(work);
    app.db.store();
  } catch (error) {
    throw error instanceof HttpError ? new Error(sentenceOf(error.body), { cause: error }) : error;
  }
}

/** Joins the messages in the body of an error response (core.md 1.3). */
function sentenceOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return String(body);
  return Object.values(body).flat(2).map(String).join(' ');
}

function globalRole(role: string): GlobalRole {
  if (role === 'staff' || role === 'support') return role;
  throw new Error(`${role} is a role in a customer or project: name one with --customer or --project`);
}

function requireRole({ target, role }: RoleSpec): void {
  const { structure } = present(target);
  const roles = Object.keys(roleNames[structure]);
  if (!roles.includes(role)) throw new Error(`the roles in a ${structure} are ${roles.join(', ')}; not ${role}`);
}

/** Returns the id of a customer or project. Throws a readable error if it is missing or its name is ambiguous. */
export function idOf({ db }: App, { nameOrUuid, structure }: RoleTarget): number {
  const table = raw(structure);
  const uuid = nameOrUuid.replaceAll('-', '').toLowerCase();
  const byUuid = db.value<number>(sql`SELECT id FROM ${table} WHERE uuid = ${uuid}`);
  if (byUuid !== undefined) return byUuid;
  const [id, another] = db.values<number>(sql`SELECT id FROM ${table} WHERE name = ${nameOrUuid} LIMIT 2`);
  if (id === undefined) throw new Error(`there is no ${structure} "${nameOrUuid}"`);
  if (another !== undefined) throw new Error(`several ${structure}s have the name "${nameOrUuid}": give a uuid`);
  return id;
}

/** Parses an instant, or a duration from now. Throws a readable error. */
export function instantOf(text: string, now: number): number {
  const instant = parseDatetime(text) ?? (/^\d+[smhd]$/.test(text) ? now + duration(0, '').read(text) : undefined);
  if (instant === undefined)
    throw new Error('--until must be an instant such as 2027-01-31T12:00Z, or a duration such as 30d');
  if (instant <= now) throw new Error('--until must be in the future');
  return instant;
}
