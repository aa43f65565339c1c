import { NextFailures } from '../cloud/catalogue/next-failures.ts';
import type { App } from '../kernel/access/app.ts';
import { RateLimit } from '../kernel/access/rate-limit.ts';
import { hour, minute } from '../kernel/clock.ts';

/** How often a minute an address may call the open check of invitations. */
const checksPerMinute = 60;

/** How often an hour a network may ask for a link that sets a password. */
const passwordResetsPerHour = 20;

/** How often a minute an address may start to log in by single sign-on; a whole organisation may share one. */
const samlLoginsPerMinute = 120;

/** After how many refused messages of single sign-on a minute no further ones are looked at from a prefix. */
const refusedMessagesPerMinute = 60;

/** After how many wrong secrets a minute the receiver of webhooks looks at no further ones from a prefix. */
const wrongWebhookSecretsPerMinute = 20;

/** How often who may do what. */
type RateLimits = Pick<App, 'invitationChecks' | 'passwordResets' | 'samlLogins' | 'samlRefusals' | 'webhookFailures'>;

/** Those of a deployment that begins. */
export const rateLimits = (): RateLimits => ({
  invitationChecks: new RateLimit(checksPerMinute, minute),
  passwordResets: new RateLimit(passwordResetsPerHour, hour),
  samlLogins: new RateLimit(samlLoginsPerMinute, minute),
  samlRefusals: new RateLimit(refusedMessagesPerMinute, minute),
  webhookFailures: new RateLimit(wrongWebhookSecretsPerMinute, minute),
});

/** Others that have counted the same. */
export const copyOf = (limits: RateLimits): RateLimits => ({
  invitationChecks: limits.invitationChecks.copy(),
  passwordResets: limits.passwordResets.copy(),
  samlLogins: limits.samlLogins.copy(),
  samlRefusals: limits.samlRefusals.copy(),
  webhookFailures: limits.webhookFailures.copy(),
});

/**
 * All that a deployment without a folder consists of and that is not made anew from it: its database, and what stands beside
 * that in memory alone.
 */
export interface Memory extends Pick<App, 'secrets' | 'nextFailures'> {
  readonly database: Buffer;
  readonly limits: RateLimits;
}

/** That of a deployment as it is now, as a copy. Commits what is pending. */
export function memoryOf(app: App): Memory {
  saveTokenUse(app);
  return {
    database: app.db.serialize(),
    secrets: app.secrets,
    limits: copyOf(app),
    nextFailures: new NextFailures(app.catalogue, app.nextFailures),
  };
}

/** Throws when the last uses of tokens cannot be stored. */
export function saveTokenUse({ db, tokenUse }: App): void {
  db.write(() => tokenUse.save(db));
  db.store();
}
