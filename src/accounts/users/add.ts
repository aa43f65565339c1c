import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { type Context, type Deployment, newUuid, ownContext } from '../../kernel/access/deployment.ts';
import type { Request } from '../../kernel/access/request.ts';
import { FieldError, type Input } from '../../kernel/collection/field.ts';
import { fold, sql } from '../../kernel/db/sql.ts';
import { passwordField } from './actions.ts';
import { type UserRow, userOf, users } from './users.ts';

export interface NewUser {
  readonly username: string;
  readonly email?: string;
  readonly isStaff?: boolean;
  readonly isSupport?: boolean;
  readonly password?: string;
}

/** Creates a user for the operator, by the rules of POST /api/users/. Rejects with a sentence when one is broken. */
export async function addUser(deployment: Deployment, user: NewUser): Promise<void> {
  const { db, passwords } = deployment;
  const password =
    user.password === undefined ? undefined : parsed('password', passwordField.input as Input<string>, user.password);
  const hash = password === undefined ? null : await passwords.hash(password);
  db.write(() => createUser(ownContext(deployment), user, hash));
  db.commit();
}

/** The part of `addUser` inside a write, with the password hashed already. Throws with a sentence when a rule is broken. */
export function createUser(context: Context, user: Omit<NewUser, 'password'>, passwordHash: string | null): UserRow {
  const { db } = context.deployment;
  const username = parsed('username', users.spec.fields.username.input as Input<string>, user.username);
  const email = parsed('email', users.spec.fields.email.input as Input<string>, user.email ?? '');
  if (db.value(sql`SELECT 1 FROM user WHERE username_folded = ${fold(username)}`))
    throw new Error('username: user with this username already exists.');
  if (email !== '' && db.value(sql`SELECT 1 FROM user WHERE email_folded = ${fold(email)}`)) {
    throw new Error(`email: User with email "${email}" already exists.`);
  }
  const id = db.insert('user', {
    uuid: newUuid(context.deployment),
    username,
    username_folded: fold(username),
    email,
    email_folded: fold(email),
    is_staff: Number(user.isStaff ?? false),
    is_support: Number(user.isSupport ?? false),
    date_joined: context.now,
    password_hash: passwordHash,
  });
  const created = userOf({ db }, id);
  record(context, 'user_creation_succeeded', affectedUser(created));
  return created;
}

function parsed(name: string, input: Input<string>, value: string): string {
  try {
    // These fields depend on nothing but the value.
    return input.parse(value, undefined as unknown as Request, false);
  } catch (error) {
    throw error instanceof FieldError ? new Error(`${name}: ${error.messages.join(' ')}`) : error;
  }
}
