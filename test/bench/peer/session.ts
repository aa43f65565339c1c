import { randomBytes } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import type { Database } from 'better-sqlite3';
import { digestOf } from './callers.ts';
import { now } from './database.ts';
import { eventRecorder } from './events.ts';

interface UserRow {
  readonly id: number;
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
  readonly password_hash: string | null;
}

/** Login by password. */
export function sessionsOf(db: Database) {
  const find = db.prepare<[string], UserRow>('SELECT * FROM user WHERE username_folded = ? AND is_active');
  const insert = db.prepare('INSERT INTO token (digest, user_id, created, last_used) VALUES (?, ?, ?, ?)');
  const record = eventRecorder(db);
  const issue = db.transaction((user: UserRow): string => {
    const token = randomBytes(20).toString('hex');
    insert.run(digestOf(token), user.id, now(), now());
    const context = {
      user_uuid: user.uuid,
      user_username: user.username,
      user_full_name: user.full_name,
      user_native_name: user.native_name,
    };
    record('token_created', `Token has been updated for ${user.username}`, context);
    record(
      'auth_logged_in_with_username',
      `User ${user.username} with full name ${user.full_name} authenticated successfully with username and password.`,
      context,
    );
    return token;
  });
  return {
    /** A new token; undefined for a wrong name or password. */
    logIn: async (username: string, password: string): Promise<string | undefined> => {
      const user = find.get(username.normalize('NFKC').toLowerCase());
      if (!user?.password_hash || !(await verify(user.password_hash, password))) return undefined;
      return issue(user);
    },
  };
}
