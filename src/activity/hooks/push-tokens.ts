/** Tokens of push hooks, encrypted in the database and recognised by a digest (events.md 5.2 "device_id, token"). */

import type { App } from '../../kernel/app.ts';
import type { Value } from '../../kernel/db/sql.ts';
import { sql } from '../../kernel/db/sql.ts';
import { digestOf, knownDigestOf } from '../../kernel/security/digests.ts';

const purpose = 'push token';

/** Returns the columns of a token for the hook with this uuid. */
const columnsOf = (
  app: App,
  token: string,
  uuid: string,
): { readonly token: Buffer; readonly token_digest: Buffer } => ({
  token: app.secrets.seal(token, uuid),
  token_digest: digestOf(app, purpose, token),
});

/** Returns the columns for the token in a body; none if the hook already has it. */
export function tokenColumns(
  app: App,
  token: Value,
  uuid: string,
  stored: Uint8Array | null | undefined,
): Readonly<Record<string, Value>> {
  if (typeof token !== 'string') return { token: null, token_digest: null };
  const columns = columnsOf(app, token, uuid);
  return stored && columns.token_digest.equals(stored) ? {} : columns;
}

/** Returns the digest of a known token, or null, which equals no value in SQL. */
export const knownToken = (app: App, token: string): Buffer | null => knownDigestOf(app, purpose, token) ?? null;

/** Encrypts plain-text tokens from earlier versions and overwrites them in the file. */
export function sealPlainTokens(app: App): void {
  const { db } = app;
  const plain = db.all<{ id: number; uuid: string; plain_token: string }>(
    sql`SELECT id, uuid, plain_token FROM hook WHERE plain_token IS NOT NULL`,
  );
  if (plain.length === 0) return;
  db.pragma('secure_delete = ON');
  try {
    db.write(() => {
      for (const { id, plain_token: token, uuid } of plain)
        db.update('hook', id, { plain_token: null, ...columnsOf(app, token, uuid) });
    });
    db.store();
  } finally {
    db.pragma('secure_delete = OFF');
  }
}
