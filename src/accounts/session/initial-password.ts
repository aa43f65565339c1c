import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type App, newUuid } from '../../kernel/app.ts';
import { caseFold, sql } from '../../kernel/db/sql.ts';
import { syncFolder } from '../../kernel/files.ts';
import { newTokenLifetime } from '../users/users.ts';

export const firstUser = 'admin';

/** Returns the path of the file with the first user's password. */
export const initialPasswordFile = (folder: string): string => join(folder, 'initial-password');

/**
 * Creates the staff user `admin` in an empty database, with a random password in a file that only the operator can read. Returns
 * the path of the file. Without a folder (data in memory), the user has no password: the embedding program creates tokens
 * directly.
 */
export async function createFirstUser(app: App, folder: string | undefined): Promise<string | undefined> {
  const { clock, db, passwords, random } = app;
  if (db.value(sql`SELECT 1 FROM user`) !== undefined) return undefined;
  // The suffix satisfies the rule that a password has a digit and a letter.
  const password = `${random(15).toString('base64url')}7a`;
  const hash = folder === undefined ? null : await passwords.hash(password);
  const file = folder === undefined ? undefined : initialPasswordFile(folder);
  if (file) {
    writeFileSync(file, `${password}\n`, { mode: 0o600, flush: true });
    chmodSync(file, 0o600);
    syncFolder(dirname(file));
  }
  db.write(() =>
    db.insert('user', {
      uuid: newUuid(app),
      username: firstUser,
      username_folded: caseFold(firstUser),
      is_staff: 1,
      date_joined: clock.now(),
      token_lifetime: newTokenLifetime(app),
      password_hash: hash,
    }),
  );
  db.store();
  return file;
}

/** Removes the file once the first user's password has changed. */
export function forgetInitialPassword(folder: string | undefined, username: string): void {
  if (folder !== undefined && caseFold(username) === firstUser && existsSync(initialPasswordFile(folder))) {
    rmSync(initialPasswordFile(folder), { force: true });
  }
}
