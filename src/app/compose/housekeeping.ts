import { remindOfApiKeys } from '../../accounts/api-keys/reminders.ts';
import { expireInvitations } from '../../accounts/invitations/expiry.ts';
import { removeLeftMails } from '../../accounts/invitations/mails.ts';
import { expireRoles, remindOfRoles } from '../../accounts/roles/roles.ts';
import { removeOldFactorFailures } from '../../accounts/session/factors/code-lock.ts';
import { expiringEnrolments } from '../../accounts/session/factors/enrolment.ts';
import { expiringChallenges } from '../../accounts/session/factors/passkey-challenges.ts';
import { expiringLogins } from '../../accounts/session/factors/pending-logins.ts';
import { logSkippedFailures } from '../../accounts/session/failed-logins.ts';
import { usedLogoutTokens } from '../../accounts/session/oidc/backchannel-logout.ts';
import { expiringRequests } from '../../accounts/session/oidc/requests.ts';
import { removeOldResets } from '../../accounts/session/password-resets.ts';
import { expiringRecoveryLinks } from '../../accounts/session/recovery.ts';
import { removeOldMessages } from '../../accounts/session/saml/requests.ts';
import { removeOldNotices } from '../../accounts/users/notices.ts';
import { removeClosedAlerts } from '../../activity/alerts/alert-store.ts';
import { appendRecord, authorOf, ofService } from '../../activity/audit/append.ts';
import { auditHousekeeping } from '../../activity/audit/events.ts';
import { signingHeads } from '../../activity/audit/heads.ts';
import { removingOldRecords } from '../../activity/audit/retention.ts';
import { removeOldEvents, removeOldFailedLogins } from '../../activity/events/retention.ts';
import { indexSome } from '../../activity/events/search.ts';
import { removeOldConfirmations } from '../../activity/hooks/confirmation.ts';
import { removeLeftDeliveries, removeOldDeliveries } from '../../activity/hooks/retention.ts';
import {
  queueDailyMails,
  removeOldNotificationMails,
  removeOldNotifications,
} from '../../activity/notifications/daily-mails.ts';
import { reminding } from '../../activity/notifications/notify.ts';
import { foldOldVersions } from '../../activity/quotas/usage.ts';
import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { syncMembers } from '../../cloud/people/follow.ts';
import { measuring } from '../../cloud/resources/measuring.ts';
import { scheduleSyncs } from '../../cloud/sync/sync.ts';
import { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute, second } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import { type ApiKeyNetwork, expireApiKeys, removeEndedApiKeys } from '../../kernel/security/api-keys.ts';
import { removeOldFailures } from '../../kernel/security/lockout.ts';
import { removeEndedTokens } from '../../kernel/security/tokens.ts';
import { remindOfCertificate, watchDisk } from '../operation/warnings.ts';
import { placesOf } from './audit-places.ts';

/** A task that runs in one transaction. */
const task = (name: string, every: number, run: Task['run']): Task => ({
  name,
  every,
  run: (context) => context.app.db.write(() => run(context)),
});

/**
 * A task whose work can be repeated if a power failure undoes it. Its transaction does not wait for the disk. See
 * src/decisions/durability.md.
 */
const repeatable = (name: string, every: number, run: Task['run']): Task => ({
  name,
  every,
  run: (context) => context.app.db.writeRelaxed(() => run(context)),
});

/** A repeatable task that removes old rows. */
const removal = (name: string, every: number, run: Task['run']): Task => ({
  ...counted(repeatable(name, every, run)),
  removes: true,
});

/** Adds an audit record of the number of removed rows to a task, at most once an hour. */
function counted(task: Task): Task {
  let count = 0;
  let last = -Infinity;
  return {
    ...task,
    run: (context) => {
      const { db } = context.app;
      const before = db.totalChanges;
      const hasMore = task.run(context);
      count += db.totalChanges - before;
      // Use a separate transaction: a power failure may undo the one above.
      if (count > 0 && hasMore !== true && Math.abs(context.now - last) >= hour) {
        db.write(() => auditHousekeeping(context, task.name, count));
        db.onceStored(() => {
          count = 0;
          last = context.now;
        });
      }
      return hasMore === true;
    },
  };
}

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

/** The periodic tasks of a deployment. */
export const housekeeping = ({ types }: Catalogue): readonly Task[] => [
  {
    name: 'retry storing after a failure',
    every: second,
    run: ({ app: { db } }) => {
      if (db.trouble) db.write(() => db.run(sql`UPDATE deployment SET id = id`));
    },
  },
  task('expire roles', second, expireRoles),
  task('expire invitations', hour, expireInvitations),
  reminding('remind of roles', remindOfRoles),
  reminding('remind of API keys', remindOfApiKeys),
  reminding('remind of the certificate', remindOfCertificate),
  task('watch the disk', minute, watchDisk),
  removal('remove mails of deleted invitations', hour, removeLeftMails),
  {
    name: 'save token use',
    every: second,
    run: ({ app: { db, tokenUse }, now }) => {
      if (tokenUse.isDue(now)) db.write(() => tokenUse.save(db, now));
    },
  },
  task('expire API keys', second, expireApiKeys),
  {
    name: 'save API key use',
    every: second,
    run: ({ app }) => {
      if (app.apiKeyUse.isDue) app.db.write(() => saveApiKeyUse(app));
    },
  },
  removal('remove ended API keys', hour, removeEndedApiKeys),
  removal('remove old notices', hour, removeOldNotices),
  repeatable('remove old login failures', minute, removeOldFailures),
  repeatable('remove old failures of second factors', minute, removeOldFactorFailures),
  repeatable('remove expired logins', minute, expiringLogins.removeBatch),
  repeatable('remove expired challenges of passkeys', minute, expiringChallenges.removeBatch),
  repeatable('remove expired recovery links', minute, expiringRecoveryLinks.removeBatch),
  repeatable('remove expired secrets of authenticator apps', minute, expiringEnrolments.removeBatch),
  { name: 'log the number of skipped failed logins', every: minute, run: logSkippedFailures },
  repeatable('remove old SAML messages', minute, removeOldMessages),
  repeatable('remove old OpenID Connect logins', minute, expiringRequests.removeBatch),
  repeatable('remove used logout tokens', minute, usedLogoutTokens.removeBatch),
  removal('remove ended tokens', hour, removeEndedTokens),
  removal('remove old links that set passwords', hour, removeOldResets),
  removal('remove closed alerts', hour, removeClosedAlerts),
  task('queue daily mails', minute, queueDailyMails),
  removal('remove old notifications', hour, removeOldNotifications),
  removal('remove old notification mails', hour, removeOldNotificationMails),
  removal('fold old quota versions', second, foldOldVersions),
  signingHeads,
  removingOldRecords,
  task('schedule synchronisations', second, scheduleSyncs),
  syncMembers(),
  measuring,
  { ...repeatable('index events', second, ({ app: { db } }) => indexSome(db)), isOnDemand: true },
  removal('remove old events', second, removeOldEvents),
  removal('remove old failed logins', second, removeOldFailedLogins),
  removal('remove old deliveries', second, removeOldDeliveries),
  repeatable('remove deliveries of deleted hooks', second, removeLeftDeliveries),
  removal('remove old confirmations of hooks', hour, removeOldConfirmations),
  ...types.flatMap(({ tasks = [] }) => tasks),
];
