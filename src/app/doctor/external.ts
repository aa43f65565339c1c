import { storedFailures } from '../../accounts/session/oidc/failures.ts';
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

/* Problems outside the data. They cannot be repaired and do not count as damage. */

/** A mail that has failed and been pending for longer counts as stuck. */
const maxPendingTime = hour;

interface StuckMail {
  readonly kind: string;
  readonly to: string;
  readonly attempts: number;
  readonly created: number;
  readonly error: string;
}

/** Returns a line for each stuck mail of invitations and email hooks. */
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

/** Returns a line for each provider account in state Erred, with its last error. */
const failedAccounts = ({ db }: App): string[] =>
  db
    .all<{ name: string; type: string; error: string }>(
      sql`SELECT name, type, error_message AS error FROM service_settings WHERE state = 'Erred' ORDER BY type, name, id`,
    )
    .map(({ error, name, type }) => `${type} account ${name} is Erred: ${error}`);

/** Returns the reasons why this server rejects writes: promotion of another server, or an expired lease. */
function writeProblems({ db, lease }: App): readonly string[] {
  const fences = fenceProblems(db);
  const problem = lease?.problem();
  return fences.length > 0 || problem === undefined ? fences : [problem];
}

/** Returns a line for each SAML metadata source whose last read failed. `doctor` treats these as findings about the data. */
export const metadataProblems = (db: Database): string[] =>
  failedSources(db).map(
    ({ error, name }) => `metadata of identity providers ${withoutCredentials(name)} could not be read: ${error}`,
  );

/**
 * Returns a line for each OpenID Connect provider that failed at its last use. A command without the settings of the server knows
 * only the issuers.
 */
function failingProviders({ db, oidcClients }: App): string[] {
  const clients = [...oidcClients.values()];
  const known = new Set(clients.map(({ provider }) => provider.issuer));
  const failures = [
    ...clients.flatMap(({ failure, provider: { name } }) => (failure ? [{ ...failure, name }] : [])),
    ...storedFailures(db).flatMap(({ issuer, ...failure }) =>
      known.has(issuer) ? [] : [{ ...failure, name: issuer }],
    ),
  ];
  return failures.map(
    ({ message, name, since }) => `identity provider ${name} has failed since ${isoTime(since)}: ${message}`,
  );
}

/** Maximum number of lines per kind. */
const maxLines = 20;

/**
 * Returns a line for each stuck mail, failed provider account, failing identity provider, clock jump, promotion of another
 * server, expired lease, overdue or damaged backup, and delayed sink of the audit trail.
 */
export const externalProblems = (app: App): string[] =>
  [
    stuckMails(app),
    failedAccounts(app),
    failingProviders(app),
    clockDoubts(app),
    writeProblems(app),
    backupProblems(app),
    sinkProblems(app),
  ].flatMap((lines) =>
    lines.length <= maxLines ? lines : [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more like this`],
  );
