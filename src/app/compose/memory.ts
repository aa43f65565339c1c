import { newInvitationCheckLimit } from '../../accounts/invitations/check.ts';
import { newPasskeyLimit } from '../../accounts/session/factors/passkey-login.ts';
import { newPasswordResetLimit } from '../../accounts/session/forgotten-password.ts';
import { newRejectedSignOnLimit, newSignOnLimit } from '../../accounts/session/sso/outcome.ts';
import { NextFailures } from '../../cloud/catalogue/next-failures.ts';
import { newWebhookFailureLimit } from '../../cloud/providers/jira/webhook.ts';
import type { App } from '../../kernel/app.ts';
import type { RateLimits } from '../../kernel/security/rate-limit.ts';
import { saveApiKeyUse } from './housekeeping.ts';

/** Returns the rate limits of a new deployment. */
export const rateLimits = (): RateLimits => ({
  invitationChecks: newInvitationCheckLimit(),
  passwordResets: newPasswordResetLimit(),
  passkeys: newPasskeyLimit(),
  signOns: newSignOnLimit(),
  rejectedSignOns: newRejectedSignOnLimit(),
  webhookFailures: newWebhookFailureLimit(),
});

/** Copies rate limits with their counts. */
export const copyOf = (limits: RateLimits): RateLimits => ({
  invitationChecks: limits.invitationChecks.copy(),
  passwordResets: limits.passwordResets.copy(),
  passkeys: limits.passkeys.copy(),
  signOns: limits.signOns.copy(),
  rejectedSignOns: limits.rejectedSignOns.copy(),
  webhookFailures: limits.webhookFailures.copy(),
});

/**
 * The state of a deployment without a folder: its database, and state that exists only in memory. Excludes derived values.
 */
export interface Memory extends Pick<App, 'secrets' | 'nextFailures'> {
  readonly database: Buffer;
  readonly limits: RateLimits;
}

/** Copies the current state of a deployment, after committing pending writes. */
export function memoryOf(app: App): Memory {
  saveTokenUse(app);
  return {
    database: app.db.serialize(),
    secrets: app.secrets,
    limits: copyOf(app.limits),
    nextFailures: new NextFailures(app.catalogue, app.nextFailures),
  };
}

/** Stores the last uses of tokens and API keys. Throws on failure. */
export function saveTokenUse(app: App): void {
  const { db, tokenUse } = app;
  db.write(() => {
    tokenUse.save(db);
    saveApiKeyUse(app);
  });
  db.store();
}
