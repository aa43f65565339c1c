/** What the operator does to users and their roles: by the rules of the API and with its events, on nobody's behalf. */
import { grantRole, type RoleScope, revokeRole, roleNames } from '../../accounts/roles/roles.ts';
import { requirePassword } from '../../accounts/users/add.ts';
import { changePassword } from '../../accounts/users/password-change.ts';
import { type UserRow, type UserValues, updateUser } from '../../accounts/users/users.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { parseDatetime } from '../../kernel/clock.ts';
import { duration } from '../../kernel/config/setting.ts';
import { caseFold, raw, sql } from '../../kernel/db/sql.ts';
import { HttpError } from '../../kernel/http/error.ts';
import { present } from '../../kernel/present.ts';

/** What a user may be everywhere, and the field that says so. */
const globalRights = { staff: 'is_staff', support: 'is_support' } as const;
type GlobalRight = keyof typeof globalRights;

/** Where a role is held: a customer or project, by uuid or by a name that only one has. */
interface Place {
  readonly structure: RoleScope;
  readonly named: string;
}

/** A role somewhere, or, without a place, everywhere. */
export interface RoleWanted {
  readonly role: string;
  readonly place: Place | undefined;
}

/** A user by name, whatever the case. Throws with a sentence. */
export function userNamed({ db }: App, username: string): UserRow {
  const user = db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${caseFold(username)}`);
  if (!user) throw new Error(`there is no user "${username}"`);
  return user;
}

/** Gives a user another password, which ends all of their tokens. Rejects with a sentence when it breaks a rule. */
export async function setPassword(app: App, username: string, password: string): Promise<void> {
  const user = userNamed(app, username);
  await requirePassword(app, user, password);
  const hash = await app.passwords.hash(password);
  stored(app, () => changePassword(systemContext(app), userNamed(app, username), hash));
}

/** Lets a user in, or keeps them out, which ends all of their tokens. Answers whether that changed anything. */
export function setActive(app: App, username: string, isActive: boolean): boolean {
  return change(app, userNamed(app, username), { is_active: isActive });
}

/**
 * Gives a user a role, until an ISO 8601 instant or for so long where `until` says so. Answers whether that changed anything.
 * Throws with a sentence.
 */
export function grant(app: App, username: string, wanted: RoleWanted, until?: string): boolean {
  const user = userNamed(app, username);
  const { place, role } = wanted;
  if (!place) {
    if (until !== undefined) throw new Error('--until is for roles in a customer or project');
    return change(app, user, { [globalRights[globalRight(role)]]: true });
  }
  requireRole(wanted);
  const scope = idOf(app, place);
  const expires = until === undefined ? null : instantOf(until, app.clock.now());
  const { structure } = place;
  stored(app, () => grantRole(systemContext(app), { structure, scope, user: user.id, role, expires, author: null }));
  return true;
}

/** Takes a role away. Answers whether the user had it. Throws with a sentence. */
export function revoke(app: App, username: string, wanted: RoleWanted): boolean {
  const { db } = app;
  const user = userNamed(app, username);
  const { place, role } = wanted;
  if (!place) return change(app, user, { [globalRights[globalRight(role)]]: false });
  requireRole(wanted);
  const scope = idOf(app, place);
  const { structure } = place;
  const held = db.get<{ id: number; user_id: number; role: string }>(sql`
    SELECT id, user_id, role FROM ${raw(`active_${structure}_role`)}
    WHERE ${raw(`${structure}_id`)} = ${scope} AND user_id = ${user.id} AND role = ${role}`);
  if (!held) return false;
  stored(app, () => revokeRole(systemContext(app), structure, { ...held, scope }));
  return true;
}

function change(app: App, user: UserRow, values: UserValues): boolean {
  const isNew = Object.entries(values).some(
    ([name, value]) => Number(value) !== Number(present(user)[name as 'is_staff']),
  );
  if (isNew) stored(app, () => updateUser(systemContext(app), user, values, true));
  return isNew;
}

/** Does it and waits until it is on the disk. Throws with a sentence when a rule is broken or nothing can be stored. */
function stored(app: App, work: () => unknown): void {
  try {
    app.db.write(work);
    app.db.store();
  } catch (error) {
    throw error instanceof HttpError ? new Error(sentenceOf(error.body), { cause: error }) : error;
  }
}

/** What the body of a refused request says (core.md 1.3). */
function sentenceOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return String(body);
  return Object.values(body).flat(2).map(String).join(' ');
}

function globalRight(role: string): GlobalRight {
  if (role === 'staff' || role === 'support') return role;
  throw new Error(`${role} is held in a customer or project: name it with --customer or --project`);
}

function requireRole({ place, role }: RoleWanted): void {
  const { structure } = present(place);
  const roles = Object.keys(roleNames[structure]);
  if (!roles.includes(role)) throw new Error(`the roles in a ${structure} are ${roles.join(', ')}; not ${role}`);
}

/** Throws with a sentence when there is none, or more than one of that name. */
function idOf({ db }: App, { named, structure }: Place): number {
  const table = raw(structure);
  const uuid = named.replaceAll('-', '').toLowerCase();
  const byUuid = db.value<number>(sql`SELECT id FROM ${table} WHERE uuid = ${uuid}`);
  if (byUuid !== undefined) return byUuid;
  const [id, another] = db.values<number>(sql`SELECT id FROM ${table} WHERE name = ${named} LIMIT 2`);
  if (id === undefined) throw new Error(`there is no ${structure} "${named}"`);
  if (another !== undefined) throw new Error(`several ${structure}s are named "${named}": give a uuid`);
  return id;
}

/** An instant, or so long from now. Throws with a sentence. */
function instantOf(text: string, now: number): number {
  const instant = parseDatetime(text) ?? (/^\d+[smhd]$/.test(text) ? now + duration(0, '').read(text) : undefined);
  if (instant === undefined)
    throw new Error('--until must be an instant such as 2027-01-31T12:00Z, or a duration such as 30d');
  if (instant <= now) throw new Error('--until must lie ahead');
  return instant;
}
