import { expireInvitations, nextInvitationExpiry } from '../../accounts/invitations/expiry.ts';
import { expireRoles, nextExpiry } from '../../accounts/roles/roles.ts';
import { type App, systemContext } from '../../kernel/access/app.ts';

/** What ends by itself: the next instant at which something does, and the change. */
const expiries = [
  { next: nextExpiry, end: expireRoles },
  { next: nextInvitationExpiry, end: expireInvitations },
];

/** Ends roles and invitations at their instant, before anything is served; costs one comparison while none is due. */
export function dueExpiries(app: App): (now: number) => void {
  const { db } = app;
  let next = Infinity;
  let seen = -1;
  return (now) => {
    if (db.writes !== seen) {
      next = Math.min(...expiries.map((expiry) => expiry.next(db) ?? Infinity));
      seen = db.writes;
    }
    if (now < next) return;
    db.write(() => {
      for (const { end } of expiries) end({ ...systemContext(app), now });
    });
  };
}
