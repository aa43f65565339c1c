import { removeOldFailures } from '../access/lockout.ts';
import { removeEndedTokens } from '../access/tokens.ts';
import { hour, minute, second } from '../clock.ts';
import { removeClosedAlerts } from '../alerts/raise.ts';
import { removeOldEvents } from '../events/retention.ts';
import { removeLeftDeliveries, removeOldDeliveries } from '../hooks/retention.ts';
import { expireInvitations } from '../invitations/expiry.ts';
import { removeLeftMails } from '../invitations/mails.ts';
import { expireRoles } from '../permissions/roles.ts';
import { foldOldVersions } from '../quotas/usage.ts';
import type { Task } from './timer.ts';

/** What a deployment does by itself. */
export const housekeeping: readonly Task[] = [
  { name: 'expire roles', every: second, run: (context) => context.deployment.db.write(() => expireRoles(context)) },
  { name: 'expire invitations', every: hour, run: (context) => context.deployment.db.write(() => expireInvitations(context)) },
  { name: 'remove mails of deleted invitations', every: hour, run: (context) => context.deployment.db.write(() => removeLeftMails(context)) },
  {
    name: 'save token use',
    every: second,
    run: ({ deployment: { db, tokenUse }, now }) => {
      if (tokenUse.isDue(now)) db.write(() => tokenUse.save(db, now));
    },
  },
  { name: 'remove old login failures', every: minute, run: ({ deployment, now }) => deployment.db.write(() => removeOldFailures(deployment.db, now)) },
  { name: 'remove closed alerts', every: hour, run: (context) => context.deployment.db.write(() => removeClosedAlerts(context)) },
  { name: 'fold old quota versions', every: second, run: (context) => void context.deployment.db.write(() => foldOldVersions(context)) },
  { name: 'remove old events', every: second, run: (context) => void context.deployment.db.write(() => removeOldEvents(context)) },
  { name: 'remove old deliveries', every: second, run: (context) => context.deployment.db.write(() => removeOldDeliveries(context)) },
  { name: 'remove deliveries of deleted hooks', every: second, run: (context) => context.deployment.db.write(() => removeLeftDeliveries(context)) },
  { name: 'remove ended tokens', every: hour, run: (context) => void context.deployment.db.write(() => removeEndedTokens(context)) },
];
