import { linkTemplateProblem } from '../../accounts/invitations/link-template.ts';
import { notificationLifetime } from '../../activity/notifications/daily-mails.ts';
import type { App } from '../../kernel/app.ts';
import { day, hour, isoTime } from '../../kernel/clock.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { DemoLogins } from '../operation/program.ts';
import history from './history.json' with { type: 'json' };
import { planHistory } from './history.ts';
import people from './people.json' with { type: 'json' };
import { Plan, span } from './plan.ts';
import scripts from './resources.json' with { type: 'json' };
import { planResources } from './resources.ts';
import { buildSampleData } from './sample-data.ts';
import { type Account, Story } from './script.ts';
import { Seed } from './seed.ts';
import { fits, loadSnapshot, storeSnapshot } from './snapshot.ts';
import { TimeMachine } from './time-machine.ts';

/** Default seed of the random data. */
const defaultSeed = 'tenantry';

/** The password of every user in the sample data. */
export const demoPassword = 'demo-world-1';

/**
 * Fills a database without customers with sample data and its two-year history. Resolves with a report for the operator. The
 * same seed at the same instant yields the same data, including uuids. Rejects with a readable error, and changes nothing, if
 * customers exist.
 */
export async function demo(app: App, seed = defaultSeed, loading?: ReturnType<typeof loadSnapshot>): Promise<string> {
  const { log, passwords } = app;
  if (hasCustomers(app)) throw new Error('the database already has customers: sample data needs an empty one');
  const snapshot = seed === defaultSeed ? await (loading ?? loadSnapshot()) : undefined;
  const isStored = snapshot && fits(snapshot, app) && storeSnapshot(snapshot, app);
  if (!isStored) await seedByHistory(app, await passwords.hash(demoPassword), seed);
  log.debug({ source: isStored ? 'snapshot' : 'history' }, 'sample data stored');
  return demoReport(app);
}

/** Unpacks the snapshot in another thread. Its errors are those of the call of `demo` that gets the result. */
export function prepareDemo(): ReturnType<typeof loadSnapshot> {
  const loading = loadSnapshot();
  // A start that fails never awaits it.
  loading.catch(() => undefined);
  return loading;
}

/** Fills a database by replaying the requests of two years, each at its instant. `hash` is the password hash. */
export async function seedByHistory(app: App, hash: string, seed = defaultSeed): Promise<void> {
  const { clock, db, trail } = app;
  const now = clock.now();
  const data = buildSampleData(new Seed(`${seed} world`));
  const historySeed = new Seed(`${seed} history`);
  const plan = new Plan(now, historySeed);
  const accounts: Record<string, Account> = {};
  const root = { ...data, accounts, now, latest: plan.latest, linkTemplate: linkTemplateOf(app) };
  const story = new Story(plan, historySeed, root, history);
  planHistory(story, data, { text: demoPassword, hash });
  planResources(new Story(plan, new Seed(`${seed} services`), root, scripts), data, accounts);
  story.play('contacts');
  // Requests of fictitious users need no audit records.
  trail.isPaused = true;
  try {
    await db.whole(async () => {
      const past = new TimeMachine(app, new Seed(`${seed} uuids`), now - (span + 1) * day);
      await plan.run(past);
      db.write(() => {
        settlePastMails(app, now);
        settlePastNotifications(app, now);
        past.close(Object.values(data.people));
      });
    });
  } finally {
    trail.isPaused = false;
  }
}

/** The link template of invitations; undefined if the settings restrict its hosts, because no suitable page is known then. */
function linkTemplateOf({ config }: App): string | undefined {
  const template = `${config.base_url ?? 'https://console.tenantry.example'}/#/invitation/{uuid}/`;
  return linkTemplateProblem(template, config) === undefined ? template : undefined;
}

/** Marks the mails of the history as sent, because its users do not exist. */
function settlePastMails({ db }: App, now: number): void {
  db.run(sql`
    UPDATE invitation_mail SET status = 'delivered', attempts = 1, next_attempt = NULL, finished = created, secret = NULL
    WHERE status = 'pending' AND created <= ${now - hour}`);
}

/**
 * Removes notifications that are past their retention, belong to users who did not exist at the time (such as the first
 * administrator), or have dates in their texts, which cannot follow the clock. Marks the mails about the others as sent, and
 * reminders of roles that end soon as delivered.
 */
function settlePastNotifications({ db }: App, now: number): void {
  db.run(sql`
    DELETE FROM notification WHERE created < ${now - notificationLifetime} OR kind = 'role_expiring'
      OR created < (SELECT u.date_joined FROM user u WHERE u.id = user_id)`);
  db.run(sql`UPDATE notification SET waits = 0, mail_id = NULL`);
  db.run(sql`DELETE FROM notification_mail`);
  for (const table of ['customer_role', 'project_role'])
    db.run(sql`UPDATE ${raw(table)} SET reminded = ${now} WHERE expires > ${now} AND ended IS NULL`);
}

/** Whether the database has data that must not be mixed with sample data. */
export const hasCustomers = ({ db }: App): boolean => db.value(sql`SELECT 1 FROM customer`) !== undefined;

/** Reports the amount of sample data and the logins to try. */
export function demoReport({ db }: App): string {
  const count = (table: keyof typeof counts): number => db.scalar<number>(counts[table]);
  const since = isoTime(db.scalar<number>(sql`SELECT min(at) FROM event`)).slice(0, 10);
  return `${[
    `The sample data is ready: ${count('customer')} customers, ${count('project')} projects, ${count('user')} users, ${count('ssh_key')} SSH keys,`,
    `${count('service_settings')} provider accounts, ${count('resource')} resources and ${count('event')} events since ${since}.`,
    '',
    `Logins to try, all with the password ${demoPassword}`,
    '',
    ...Object.entries(people.logins).map(([username, role]) => `  ${username.padEnd(22)} ${role}`),
  ].join('\n')}\n`;
}

/** The logins to try, in machine-readable form. */
export const demoLogins = (): DemoLogins => ({
  password: demoPassword,
  logins: Object.entries(people.logins).map(([username, role]) => ({ username, role })),
});

const counts = {
  customer: sql`SELECT count(*) FROM customer`,
  project: sql`SELECT count(*) FROM project`,
  user: sql`SELECT count(*) FROM user`,
  service_settings: sql`SELECT count(*) FROM service_settings`,
  // Pending deletions finish before anyone counts.
  resource: sql`SELECT count(*) FROM resource WHERE NOT is_part AND state NOT IN ('Deletion Scheduled', 'Deleting')`,
  ssh_key: sql`SELECT count(*) FROM ssh_key`,
  event: sql`SELECT count(*) FROM event`,
};
