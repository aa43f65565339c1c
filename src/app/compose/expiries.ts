import { expireInvitations, nextInvitationExpiry } from '../../accounts/invitations/expiry.ts';
import { expireRoles, nextExpiry as nextRoleExpiry } from '../../accounts/roles/roles.ts';
import { systemContext } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { DerivedValue } from '../../kernel/cache/versioned-cache.ts';
import type { Database } from '../../kernel/db/database.ts';

/** What ends by itself: the next instant at which something does, and the change. */
const expiries = [
  { next: nextRoleExpiry, end: expireRoles },
  { next: nextInvitationExpiry, end: expireInvitations },
];

/** The next instant at which something ends by itself; infinite when nothing does. */
export const nextExpiry = (db: Database): number => Math.min(...expiries.map((expiry) => expiry.next(db) ?? Infinity));

/** Ends roles and invitations at their instant, before anything is served; costs one comparison while none is due. */
export function dueExpiries(app: App): (now: number) => void {
  const { db } = app;
  const next = new DerivedValue(db.versions, () => nextExpiry(db));
  return (now) => {
    if (now < next.value) return;
    db.write(() => {
      for (const { end } of expiries) end({ ...systemContext(app), now });
    });
  };
}
