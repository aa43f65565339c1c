/** Makes and verifies the backups of the setting backup_schedule while the server runs (core.md 14.10). */
import { notify, staffUsers } from '../../activity/notifications/notify.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { day, isoTime, minute, second } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import { errorOf } from '../../kernel/present.ts';
import { lastBackups, overdueBackups, verificationIntervals } from '../backup/ages.ts';
import { lastDue, parseSchedule } from '../backup/schedule.ts';
import { failureOf, runCommand } from './program.ts';

/** Delay after the start before making a backup that was missed while no server ran. */
const missedDelay = 5 * minute;
/** Retries of a failed backup, and the delay before each. */
const maxRetries = 2;
const retryDelay = 20 * minute;

/** Maximum delay before repeating a failed verification. */
const verificationRetry = day;

/** Corrected after a clock jump: otherwise, a schedule handled under a wrong clock would pause until that time. */
export const backupInstants: readonly StoredInstants[] = ['backup_handled', 'verification_at'].map((column) => ({
  table: 'deployment',
  column,
  ahead: 0,
}));

interface State {
  readonly handled: number | null;
  readonly verificationAt: number | null;
  readonly verificationError: string;
  readonly overdue: number | null;
}

const stateOf = ({ db }: App): State =>
  db.one(sql`
    SELECT backup_handled AS handled, verification_at AS verificationAt, verification_error AS verificationError,
      backup_overdue AS overdue
    FROM deployment`);

export class ScheduledBackups {
  /** Start time of the server by the deployment's clock. */
  #started: number | undefined;
  #retry: { readonly at: number; readonly count: number } | undefined;
  /** Earliest time to repeat a verification whose failure could not be stored. */
  #verificationAfter = 0;
  /** The command in progress. */
  #running: { readonly kind: 'backup' | 'verification'; readonly stop: () => void } | undefined;
  /** The due time of the last backup that this server has started. It counts as handled once it has succeeded or is given up. */
  #attempted: number | undefined;
  #isClosed = false;

  /** Starts due backups and verifications. Runs every few seconds. */
  tick(context: Context): void {
    const { app, now } = context;
    const { backup_schedule: text } = app.config;
    // Data in memory has no backups, and embedding programs make their own.
    if (text === null || app.deployment.backups === undefined || app.deployment.program === undefined) return;
    if (app.lease?.problem() !== undefined) return;
    this.#started ??= now;
    const schedule = parseSchedule(text);
    const due = lastDue(schedule, now);
    const state = stateOf(app);
    this.#reportOverdue(context, text, state);
    if (due === undefined) return;
    // Skip backups that were due before the schedule was set.
    if (state.handled === null) this.#markHandled(context, due);
    // A verification can take hours: a due backup follows it.
    else if (this.#running?.kind === 'verification') return;
    else if (due > state.handled && due !== this.#attempted) {
      const isMissed = due < this.#started;
      if (isMissed && now < this.#started + missedDelay) return;
      this.#retry = undefined;
      if (this.#running) {
        this.#markHandled(context, due);
        app.log.warn({ due: isoTime(due) }, 'skipped a scheduled backup: the last one is still being made');
      } else this.#start(context, due, 0);
    } else if (this.#retry && now >= this.#retry.at) {
      const { count } = this.#retry;
      this.#retry = undefined;
      if (this.#attempted !== undefined) this.#start(context, this.#attempted, count);
    } else this.#verify(context, state);
  }

  /** Stops the command in progress. The next start of the server makes a backup that this interrupts. */
  close(): void {
    this.#isClosed = true;
    this.#running?.stop();
  }

  #markHandled({ app: { db } }: Pick<Context, 'app'>, due: number): void {
    db.write(() => db.run(sql`UPDATE deployment SET backup_handled = max(ifnull(backup_handled, ${due}), ${due})`));
  }

  /** Outside of the timer, an error would end the server. Without the mark, the next start repeats the backup. */
  #tryToMarkHandled(app: App, due: number): void {
    try {
      this.#markHandled({ app }, due);
    } catch (error) {
      app.log.warn({ reason: errorOf(error).message }, 'failed to store that a scheduled backup has ended');
    }
  }

  /** Makes the backup that is due at an instant. */
  #start({ app }: Context, due: number, retries: number): void {
    this.#attempted = due;
    this.#run(app, 'backup', ['backups', 'now', '--quiet'], (reason) => {
      const isRetried = reason !== undefined && retries < maxRetries;
      if (isRetried) this.#retry = { at: app.clock.now() + retryDelay, count: retries + 1 };
      else this.#tryToMarkHandled(app, due);
      if (reason === undefined) app.log.info('scheduled backup made');
      else app.log.error({ reason }, 'failed to make a scheduled backup');
    });
  }

  /** Verifies the newest backup if the last verification is old enough. */
  #verify({ app, now }: Context, { verificationAt, verificationError }: State): void {
    const interval = verificationIntervals[app.config.backup_verify];
    if (interval === undefined || this.#running || now < this.#verificationAfter) return;
    const pause = verificationError === '' ? interval : Math.min(interval, verificationRetry);
    const { complete } = lastBackups(app);
    if (complete === null || (verificationAt !== null && now < verificationAt + pause)) return;
    this.#verificationAfter = now + retryDelay;
    this.#run(app, 'verification', ['backups', 'verify', '--quiet'], (reason) => {
      if (reason === undefined) app.log.info('newest backup verified');
      else app.log.error({ reason }, 'failed to verify a backup');
    });
  }

  #run(
    { deployment: { program } }: App,
    kind: 'backup' | 'verification',
    command: readonly string[],
    done: (failure: string | undefined) => void,
  ): void {
    if (!program || this.#isClosed) return;
    const { result, stop } = runCommand(program, command);
    this.#running = { kind, stop };
    void result.then((exit) => {
      this.#running = undefined;
      // The database is closed by then.
      if (!this.#isClosed) done(exit.code === 0 ? undefined : failureOf(exit));
    });
  }

  /** Notifies staff once when the newest complete or the newest verified backup is too old. */
  #reportOverdue(context: Context, schedule: string, { overdue: reported }: State): void {
    const { complete, last, verified } = overdueBackups(context.app, schedule);
    const since = complete ?? verified;
    if (since === undefined || since === reported) return;
    const { db } = context.app;
    const text = (at: number | null): string => (at === null ? '-' : isoTime(at));
    db.write(() => {
      db.update('deployment', 1, { backup_overdue: since });
      notify(context, 'backup_overdue', {
        context: { last_backup: text(last.complete), last_verified_backup: text(last.verified) },
        users: staffUsers,
        about: 'backups',
      });
    });
  }
}

/** Time between two checks of the schedule. */
export const backupTick = 10 * second;
