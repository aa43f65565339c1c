import { appendRecord, authorOf, ofService } from '../../activity/audit/append.ts';
import { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { ApiKeyNetwork } from '../../kernel/security/api-keys.ts';
import { placesOf } from './audit-places.ts';

/** Stores API key uses, and records the first use from each network (audit.md 2). Must run inside a write. */
export const saveApiKeyUse = (app: App): void => app.apiKeyUse.save(app.db, (use) => recordNetwork(app, use));

function recordNetwork(app: App, { address, at, caller, network }: ApiKeyNetwork): void {
  const { db } = app;
  const draft = new AuditDraft();
  // The key of a service account belongs to the account's customer or project.
  const account = db.value<number>(sql`SELECT id FROM service_account WHERE user_id = ${caller.userId}`);
  if (account !== undefined) draft.rows.push({ table: 'service_account', id: account });
  appendRecord(app, {
    ...ofService,
    ...authorOf(caller),
    at,
    operation: 'api_key.new_network',
    object: { type: 'api-keys', uuid: caller.credential },
    ...placesOf(app, draft),
    objectName: db.scalar<string>(sql`SELECT name FROM api_key WHERE uuid = ${caller.credential}`),
    address,
    changes: [{ field: 'network', from: null, to: network }],
  });
}
