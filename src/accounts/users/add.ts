import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { type Context, systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { check, FieldError, type Input } from '../../kernel/collection/field.ts';
import { hasEmail } from '../../kernel/db/email-address.ts';
import { sql } from '../../kernel/db/sql.ts';
import { loadCommonPasswords, passwordMessages, weaknessMessages } from './passwords.ts';
import { insertUser, isUsernameTaken, type UserRow, userOf, users } from './users.ts';

interface NewUser {
  readonly username: string;
  readonly email?: string;
  readonly isStaff?: boolean;
  readonly isSupport?: boolean;
  readonly password?: string;
}

/** Creates a user for the operator by the rules of POST /api/users/. Rejects with a readable error. */
export async function addUser(app: App, user: NewUser): Promise<void> {
  const { db, passwords } = app;
  if (user.password !== undefined) await requirePassword(app, user, user.password);
  const hash = user.password === undefined ? null : await passwords.hash(user.password);
  db.write(() => createUser(systemContext(app), user, hash));
  db.store();
}

/** Rejects with a readable error if a password breaks a rule (core.md 4.4). */
export async function requirePassword(
  { config }: App,
  { email = '', username }: Pick<NewUser, 'email' | 'username'>,
  password: string,
): Promise<void> {
  if (config.password_refuse_weak) await loadCommonPasswords();
  const violations = passwordMessages(config, password);
  const messages = violations.length > 0 ? violations : weaknessMessages(config, password, { email, username });
  if (messages.length > 0) throw new Error(`password: ${messages.join(' ')}`);
}

/** Creates a user with a hashed password. Must run inside a write. Throws a readable error. */
export function createUser(context: Context, user: Omit<NewUser, 'password'>, passwordHash: string | null): UserRow {
  const { db } = context.app;
  const username = parsed('username', users.spec.fields.username.input, user.username);
  const email = parsed('email', users.spec.fields.email.input, user.email ?? '');
  if (isUsernameTaken(db, username)) throw new Error('username: user with this username already exists.');
  if (db.value(sql`SELECT 1 FROM user WHERE ${hasEmail(email)}`))
    throw new Error(`email: User with email "${email}" already exists.`);
  const values = { username, email, is_staff: user.isStaff ?? false, is_support: user.isSupport ?? false };
  const { id } = insertUser(context, values, 'default', passwordHash);
  const created = userOf({ db }, id);
  context.app.trail.current?.about('users', created.uuid, created.username);
  record(context, 'user_creation_succeeded', affectedUser(created));
  return created;
}

/** Validates a text field by its schema. */
function parsed(name: string, { schema }: Input<string>, value: string): string {
  try {
    return String(check(schema, value));
  } catch (error) {
    throw error instanceof FieldError ? new Error(`${name}: ${error.messages.join(' ')}`) : error;
  }
}
