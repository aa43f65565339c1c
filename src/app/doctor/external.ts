import { failedSources } from '../../accounts/session/saml/identity-providers.ts';
import { sinkProblems } from '../../activity/audit/sinks/lag.ts';
import type { App } from '../../kernel/app.ts';
import { hour, isoTime } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { clockDoubts } from '../../kernel/jobs/clock-watch.ts';
import { withoutCredentials } from '../../kernel/url.ts';
import { backupProblems } from '../backup/ages.ts';
import { fenceProblems } from '../replication/fence.ts';

/* Problems outside of the data. There is nothing to repair, and they do not count as damage. */

/** A mail that is pending for this time after a failed attempt counts as stuck. */
const maxPendingTime = hour;

interface StuckMail {
  readonly kind: string;
  readonly to: string;
  readonly attempts: number;
  readonly created: number;
  readonly error: string;
}

/** Mails of invitations and email hooks that are pending for an hour and have failed at least once. */
function stuckMails({ clock, db }: App): string[] {
  const before = clock.now() - maxPendingTime;
  return db
    .all<StuckMail>(sql`
      SELECT 'invitation' AS kind, i.email AS "to", m.attempts, m.created AS created, m.error_message AS error
      FROM invitation_mail m JOIN invitation i ON i.id = m.invitation_id
      WHERE m.status = 'pending' AND m.attempts > 0 AND m.created < ${before}
      UNION ALL
      SELECT 'email hook', h.email, d.attempts, d.created, d.error_message
      FROM delivery d JOIN hook h ON h.id = d.hook_id
      WHERE d.status = 'pending' AND d.attempts > 0 AND d.created < ${before} AND h.kind = 'email'
      ORDER BY created`)
    .map(
      ({ attempts, created, error, kind, to }) =>
        `mail of ${kind === 'invitation' ? 'an invitation' : 'an email hook'} to ${to} has been pending since ${isoTime(created)}, ${attempts} attempts: ${error}`,
    );
}

/** Provider accounts in state Erred, with their last error. */
const erredAccounts = ({ db }: App): string[] =>
  db
    .all<{ name: string; type: string; error: string }>(
      sql`SELECT name, type, error_message AS error FROM service_settings WHERE state = 'Erred' ORDER BY type, name, id`,
    )
    .map(({ error, name, type }) => `${type} account ${name} is Erred: ${error}`);

/** Why this server stores no changes: the promotion of another server, or a lease that has expired. */
function writeProblems({ db, lease }: App): readonly string[] {
  const fences = fenceProblems(db);
  const problem = lease?.problem();
  return fences.length > 0 || problem === undefined ? fences : [problem];
}

/** Returns a line for each source of SAML metadata whose last read failed. For `doctor` they are findings about the data. */
export const metadataProblems = (db: Database): string[] =>
  failedSources(db).map(
    ({ error, name }) => `metadata of identity providers ${withoutCredentials(name)} could not be read: ${error}`,
  );

/** OpenID Connect providers that failed when a login last needed them. */
const failingProviders = ({ oidcClients }: App): string[] =>
  [...oidcClients.values()].flatMap(({ failure, provider }) =>
    failure
      ? [`identity provider ${provider.name} has failed since ${isoTime(failure.since)}: ${failure.message}`]
      : [],
  );

/** Maximum number of lines of each kind. */
const maxLines = 20;

/**
 * Returns a line for each stuck mail, each failed provider account, each failing identity provider, a clock that has jumped, a
 * promoted other server or an expired lease, backups that are too old or damaged, and sinks of the audit trail that are behind.
 */
export const externalProblems = (app: App): string[] =>
  [
    stuckMails(app),
    erredAccounts(app),
    failingProviders(app),
    clockDoubts(app),
    writeProblems(app),
    backupProblems(app),
    sinkProblems(app),
  ].flatMap((lines) =>
    lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more like this`],
  );
