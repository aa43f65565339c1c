import { invitationInstants } from '../../accounts/invitations/expiry.ts';
import { invitationMailInstants } from '../../accounts/invitations/mails.ts';
import { codeLockInstants } from '../../accounts/session/factors/code-lock.ts';
import { expiringEnrolments } from '../../accounts/session/factors/enrolment.ts';
import { expiringChallenges } from '../../accounts/session/factors/passkey-challenges.ts';
import { expiringLogins } from '../../accounts/session/factors/pending-logins.ts';
import { totpInstants } from '../../accounts/session/factors/totp.ts';
import { usedLogoutTokens } from '../../accounts/session/oidc/backchannel-logout.ts';
import { expiringRequests } from '../../accounts/session/oidc/requests.ts';
import { invalidateExpiredLinks, linkInstants } from '../../accounts/session/password-resets.ts';
import { expiringRecoveryLinks } from '../../accounts/session/recovery.ts';
import { requestInstants } from '../../accounts/session/saml/requests.ts';
import { noticeInstants } from '../../accounts/users/notices.ts';
import { alertInstants } from '../../activity/alerts/alert-store.ts';
import { hookInstants } from '../../activity/hooks/hooks-web.ts';
import { notificationInstants } from '../../activity/notifications/daily-mails.ts';
import { jobInstants } from '../../cloud/operations/worker.ts';
import { memberInstants } from '../../cloud/people/follow.ts';
import { syncInstants } from '../../cloud/sync/sync.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { ClockRules } from '../../kernel/jobs/clock-watch.ts';
import { apiKeyInstants } from '../../kernel/security/api-keys.ts';
import { lockInstants } from '../../kernel/security/lockout.ts';
import { endExpiredTokens, tokenInstants } from '../../kernel/security/tokens.ts';
import { backupInstants } from '../operation/scheduled-backups.ts';

/**
 * The stored instants to correct after a jump of the machine's clock. Ends chosen by users (of roles, API keys and snapshots)
 * stay unchanged, as do the times of events and quota history, which record the clock as it was.
 */
export const clockRules = (config: Config): ClockRules => ({
  instants: [
    ...tokenInstants,
    ...apiKeyInstants,
    ...lockInstants,
    ...linkInstants,
    ...codeLockInstants,
    expiringEnrolments.instants,
    expiringLogins.instants,
    expiringChallenges.instants,
    totpInstants,
    expiringRecoveryLinks.instants,
    ...backupInstants,
    ...noticeInstants,
    requestInstants,
    expiringRequests.instants,
    usedLogoutTokens.instants,
    invitationInstants(config),
    ...invitationMailInstants,
    alertInstants,
    ...notificationInstants,
    ...hookInstants,
    ...jobInstants(config),
    syncInstants,
    memberInstants,
  ],
  endExpired: [
    endExpiredTokens,
    invalidateExpiredLinks,
    expiringLogins.end,
    expiringChallenges.end,
    expiringEnrolments.end,
    expiringRecoveryLinks.end,
  ],
});
