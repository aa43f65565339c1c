import { expireInvitations, nextInvitationExpiry } from '../../accounts/invitations/expiry.ts';
import { expireRoles, nextExpiry as nextRoleExpiry } from '../../accounts/roles/roles.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { DerivedValue } from '../../kernel/cache/versioned-cache.ts';
import type { Database } from '../../kernel/db/database.ts';
import { expireApiKeys, nextApiKeyExpiry } from '../../kernel/security/api-keys.ts';

/** Everything that expires: the next expiry, and the change that it causes. */
const expiries = [
  { next: nextRoleExpiry, end: expireRoles },
  { next: nextInvitationExpiry, end: expireInvitations },
  { next: nextApiKeyExpiry, end: expireApiKeys },
];

/** Returns the next expiry; Infinity if there is none. */
export const nextExpiry = (db: Database): number => Math.min(...expiries.map((expiry) => expiry.next(db) ?? Infinity));

/**
 * Returns a function that ends expired roles, invitations and API keys. Every request calls it first; if nothing has expired, it
 * costs one comparison.
 */
export function dueExpiries(app: App): (now: number) => void {
  const { db } = app;
  const next = new DerivedValue(db.versions, () => nextExpiry(db));
  return (now) => {
    if (now < next.value) return;
    db.write(() => {
      for (const { end } of expiries) end({ ...systemContext(app), job: 'expire', now });
    });
  };
}
