import type { App } from '../../kernel/app.ts';
import { hour, isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { clockDoubts } from '../../kernel/jobs/clock-watch.ts';

import { fenceTroubles } from '../replication/fence.ts';

/* What fails outside of the data: there is nothing to repair here, and the data is healthy. */

/** A mail that waits for so long, after an attempt that failed, does not get out by itself. */
const patience = hour;

interface StuckMail {
  readonly kind: string;
  readonly to: string;
  readonly attempts: number;
  readonly created: number;
  readonly error: string;
}

/** Mails of invitations and email hooks that still wait an hour after they were made, whose last attempt failed. */
function stuckMails({ clock, db }: App): string[] {
  const before = clock.now() - patience;
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
        `mail of ${kind === 'invitation' ? 'an invitation' : 'an email hook'} to ${to} waits since ${isoTime(created)}, ${attempts} attempts: ${error}`,
    );
}

/** Provider accounts in state Erred, with what the provider said last. */
const erredAccounts = ({ db }: App): string[] =>
  db
    .all<{ name: string; type: string; error: string }>(
      sql`SELECT name, type, error_message AS error FROM service_settings WHERE state = 'Erred' ORDER BY type, name, id`,
    )
    .map(({ error, name, type }) => `${type} account ${name} is Erred: ${error}`);

/** So many lines of each are told. */
const most = 20;

/** One line each for mails that do not get out, for provider accounts that failed, for a clock that has jumped, and for a server in this one's place. */
export const outsideTroubles = (app: App): string[] =>
  [stuckMails(app), erredAccounts(app), clockDoubts(app), fenceTroubles(app.db)].flatMap((lines) =>
    lines.length <= most ? lines : [...lines.slice(0, most), `and ${lines.length - most} more like this`],
  );
