import { expireInvitations, nextInvitationExpiry } from '../../accounts/invitations/expiry.ts';
import { expireRoles, nextExpiry } from '../../accounts/roles/roles.ts';
import { type Deployment, ownContext } from '../../kernel/access/deployment.ts';

/** What ends by itself: the next instant at which something does, and the change. */
const expiries = [
  { next: nextExpiry, end: expireRoles },
  { next: nextInvitationExpiry, end: expireInvitations },
];

/** Ends roles and invitations at their instant, before anything is served; costs one comparison while none is due. */
export function dueExpiries(deployment: Deployment): (now: number) => void {
  const { db } = deployment;
  let next = Infinity;
  let seen = -1;
  return (now) => {
    if (db.writes !== seen) {
      next = Math.min(...expiries.map((expiry) => expiry.next(db) ?? Infinity));
      seen = db.writes;
    }
    if (now < next) return;
    db.write(() => {
      for (const { end } of expiries) end({ ...ownContext(deployment), now });
    });
  };
}
