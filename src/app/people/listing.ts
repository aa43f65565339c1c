/** Tables of users and provider accounts for commands. */
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { withoutControls } from '../../kernel/control-characters.ts';
import { sql } from '../../kernel/db/sql.ts';
import { findUser } from './people.ts';

/** A row to print, by column name. */
export type DisplayRow = Readonly<Record<string, string | boolean | null>>;

const instant = (at: number | null): string | null => (at === null ? null : isoTime(at));

interface UserColumns {
  readonly username: string;
  readonly full_name: string;
  readonly email: string;
  readonly is_active: number;
  readonly is_staff: number;
  readonly is_support: number;
  readonly has_password: number;
  readonly date_joined: number;
  readonly last_used: number | null;
}

const columns = sql`
  u.username, u.full_name, u.email, u.is_active, u.is_staff, u.is_support, u.password_hash IS NOT NULL AS has_password,
  u.date_joined, (SELECT max(last_used) FROM token WHERE user_id = u.id) AS last_used`;

const displayRow = (user: UserColumns): DisplayRow => ({
  username: user.username,
  full_name: user.full_name,
  email: user.email,
  active: Boolean(user.is_active),
  staff: Boolean(user.is_staff),
  support: Boolean(user.is_support),
  password: Boolean(user.has_password),
  joined: instant(user.date_joined),
  last_seen: instant(user.last_used),
});

/** Returns all users, sorted by username. */
export const listUsers = ({ db }: App): DisplayRow[] =>
  db.all<UserColumns>(sql`SELECT ${columns} FROM user u ORDER BY u.username COLLATE NOCASE, u.id`).map(displayRow);

/** Returns a user and a row for each of their roles. Throws a readable error if the user does not exist. */
export function showUser(app: App, username: string): { user: DisplayRow; roles: DisplayRow[] } {
  const { db } = app;
  const { id } = findUser(app, username);
  const roles = db.all<{ role: string; customer: string; project: string | null; expires: number | null }>(sql`
    SELECT r.role, c.name AS customer, NULL AS project, r.expires
    FROM active_customer_role r JOIN customer c ON c.id = r.customer_id WHERE r.user_id = ${id}
    UNION ALL
    SELECT r.role, c.name, p.name, r.expires
    FROM active_project_role r JOIN project p ON p.id = r.project_id JOIN customer c ON c.id = p.customer_id
    WHERE r.user_id = ${id}
    ORDER BY customer COLLATE NOCASE, project COLLATE NOCASE`);
  return {
    user: displayRow(db.one<UserColumns>(sql`SELECT ${columns} FROM user u WHERE u.id = ${id}`)),
    roles: roles.map(({ expires, ...role }) => ({ ...role, expires: instant(expires) })),
  };
}

/** Returns all provider accounts with their state and last error. */
export const listAccounts = ({ db }: App): DisplayRow[] =>
  db
    .all<{
      name: string;
      type: string;
      state: string;
      shared: number;
      customer: string | null;
      synced: number | null;
      error: string;
    }>(sql`
      SELECT s.name, s.type, s.state, s.shared, c.name AS customer, nullif(s.synced, 0) AS synced, s.error_message AS error
      FROM service_settings s LEFT JOIN customer c ON c.id = s.customer_id
      ORDER BY s.type, s.name COLLATE NOCASE, s.id`)
    .map(({ shared, synced, ...account }) => ({ ...account, shared: Boolean(shared), synced: instant(synced) }));

/** Formats rows as an aligned table with a header. Escapes line breaks and control characters in values. */
export function tableOf(rows: readonly DisplayRow[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cellText(row[name])))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

const cellText = (value: string | boolean | null | undefined): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : withoutControls(value ?? '').replace(/\s+/g, ' ') || '-';
