import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { Part } from '../../kernel/cache/access.ts';
import type { Basis } from '../../kernel/cache/versions.ts';
import { hour, minute, second } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { StoredInstants } from '../../kernel/jobs/clock-watch.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import type { Membership } from '../catalogue/driver.ts';
import { type ErrorClass, ProviderError } from '../catalogue/provider-error.ts';
import type { JobHandler } from '../operations/job-handler.ts';
import { type Job, postpone, queueJob, removeJob } from '../operations/jobs.ts';
import { type Differences, differencesOf, differing, type MemberRow } from './differences.ts';

/*
 * Makes members at providers follow the roles here: a task finds differences, and one job per resource applies them. Failures are
 * logged and retried later, and never make a resource Erred.
 */

const operation = 'follow_members';

/** Delay before another attempt to add a member. */
const additionPause = hour;
/** Delay before another attempt to remove a member. */
const removalPause = 5 * minute;

export const memberInstants: StoredInstants = {
  table: 'backend_member',
  column: 'due',
  ahead: additionPause,
  isDue: true,
};

/** Interval of comparisons without a known change. */
const comparisonInterval = minute;

/** Queues a job for every resource whose members differ from the roles. Compares a batch at a time, and only after changes. */
export function syncMembers(): Task {
  let after = 0;
  let startedAt = 0;
  let reads = new Set<readonly Part[]>();
  let compared: Basis | undefined;
  return {
    name: 'follow members',
    every: 5 * second,
    run: ({ app, ...context }) => {
      const { versions } = app.db;
      const { now } = context;
      if (after === 0) {
        if (compared && versions.isCurrent(compared) && now >= startedAt && now - startedAt < comparisonInterval)
          return false;
        startedAt = now;
        reads = new Set();
      }
      const { reads: some, result } = versions.observe(() => differing(app, now, after));
      for (const parts of some) reads.add(parts);
      after = result.last ?? 0;
      if (result.resources.length > 0) app.db.write(() => queueFollowing({ app, ...context }, result.resources));
      compared = after === 0 && result.resources.length === 0 ? versions.basis([...reads]) : undefined;
      return after !== 0;
    },
  };
}

function queueFollowing(
  context: Context,
  resources: readonly { readonly id: number; readonly settings_id: number }[],
): void {
  const { db } = context.app;
  for (const { id, settings_id: settings } of resources) {
    const parameters = { resource: id };
    const queued = db.value(sql`
      SELECT 1 FROM job
      WHERE settings_id = ${settings} AND operation = ${operation} AND parameters = ${JSON.stringify(parameters)}`);
    if (queued === undefined) queueJob(context, { settings, operation, parameters });
  }
}

/** Changes that a job applies. */
function differencesFor(app: App, job: Job, now: number): Differences | undefined {
  const { resource }: { readonly resource: number } = JSON.parse(job.parameters);
  return differencesOf(app, resource, now);
}

/** The outcome for a person: the state to store, or that they are no longer a member. */
interface Outcome extends Pick<MemberRow, 'email' | 'account'> {
  readonly state: MemberRow['state'] | 'gone';
  /** Microseconds until the next call about them. */
  readonly pause?: number;
  /** The vendor's reason for the rejection. */
  readonly reason?: string;
}

/** Errors that concern one person. Others concern the account or the provider. */
const personErrors: readonly ErrorClass[] = ['unauthorized', 'invalid', 'conflict', 'not_found'];

async function attempt(failed: Outcome, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderError && personErrors.includes(error.type))
      return { ...failed, reason: error.message };
    throw error;
  }
}

/** Applies the differences. Stores a person before adding them at the provider, to know that they are managed here. */
async function follow(
  membership: Membership,
  { requested, missing, object, surplusMembers }: Differences,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { account, email, state } of surplusMembers)
    outcomes.push(
      await attempt({ email, account, state, pause: removalPause }, async () => {
        if (state === 'added' || state === 'asked') await membership.remove(object, account);
        return { email, account, state: 'gone' };
      }),
    );
  for (const { account, email } of requested)
    outcomes.push(
      await attempt({ email, account, state: 'refused', pause: additionPause }, async () => ({
        email,
        account,
        state: (await membership.add(object, account)) ? 'added' : 'found',
      })),
    );
  const members = missing.length > 0 ? await membership.members(object) : new Set();
  for (const { folded: email, ...person } of missing)
    outcomes.push(
      await attempt({ email, account: '', state: 'refused', pause: additionPause }, async () => {
        const account = await membership.account(person);
        return { email, account, state: members.has(account) ? 'found' : 'asked' };
      }),
    );
  return outcomes;
}

function store({ app: { db }, now }: Context, resource: number, outcomes: readonly Outcome[]): void {
  // The resource may have been removed meanwhile, with its rows.
  if (db.value(sql`SELECT 1 FROM resource WHERE id = ${resource}`) === undefined) return;
  for (const { account, email, pause = 0, state } of outcomes) {
    if (state === 'gone') forget(db, resource, email);
    else
      db.run(sql`
        INSERT INTO backend_member (resource_id, email, account, state, due)
        VALUES (${resource}, ${email}, ${account}, ${state}, ${now + pause})
        ON CONFLICT DO UPDATE SET account = excluded.account, state = excluded.state, due = excluded.due`);
  }
}

const forget = (db: Database, resource: number, email: string): void =>
  void db.run(sql`DELETE FROM backend_member WHERE resource_id = ${resource} AND email = ${email}`);

/** Postpones all members of a job after a failure of the account or the provider. */
const postponeAll = ({ requested, missing, surplusMembers }: Differences): Outcome[] => [
  ...missing.map(({ folded }): Outcome => ({ email: folded, account: '', state: 'refused', pause: removalPause })),
  ...[...requested, ...surplusMembers].map((row): Outcome => ({ ...row, pause: removalPause })),
];

/** Continues with the next request, including new changes. */
const continueJob = (app: App, job: Job, now: number): void => postpone(app, job, now, { retries: 0 });

/** Members of a resource. */
export const membersHandler: JobHandler = {
  call: async (app, job, { membership }) => {
    const differences = differencesFor(app, job, app.clock.now());
    if (!differences || !membership) return () => removeJob(app.db, job.id);
    const outcomes = await follow(membership, differences);
    return (context) => {
      store(context, differences.resource, outcomes);
      for (const { reason } of outcomes) if (reason !== undefined) warn(app, differences, reason);
      continueJob(app, job, context.now);
    };
  },
  fail: (context, job, text) => {
    const { app, now } = context;
    const differences = differencesFor(app, job, now);
    if (!differences) return removeJob(app.db, job.id);
    store(context, differences.resource, postponeAll(differences));
    warn(app, differences, text);
    continueJob(app, job, now);
  },
};

const warn = ({ db, log }: App, { object: { kind }, uuid }: Differences, reason: string): void =>
  db.onceStored(() => log.warn({ resource: uuid, kind, reason }, 'members could not follow the roles'));
