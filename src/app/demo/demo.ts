import type { App } from '../../kernel/app.ts';
import { day, isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { present } from '../../kernel/present.ts';
import { planAccounts } from './accounts.ts';
import { planApps } from './apps.ts';
import { planContacts, settlePastMails } from './contacts.ts';
import { planHistory } from './history.ts';
import { Inventory } from './inventory.ts';
import { planMachines } from './machines.ts';
import { planMeasurements } from './measurements.ts';
import type { Scenario } from './memberships.ts';
import { span } from './plan.ts';
import { planLastHour } from './recent-activity.ts';
import { Seed } from './seed.ts';
import { fillFrom, fittingSnapshot } from './snapshot.ts';
import { TimeMachine } from './time-machine.ts';
import { buildWorld, type Person, type World } from './world.ts';

/** What the world comes from unless a command names another text. */
const defaultSeed = 'tenantry';

/** The password of everybody in the demonstration world. */
export const demoPassword = 'demo-world-1';

/**
 * Fills a database without customers with a believable world and its two years of history; answers what to tell the
 * operator. The same seed at the same instant gives the same data, uuids included. Rejects with a sentence, and changes
 * nothing, when there are customers already.
 */
export async function demo(app: App, seed = defaultSeed): Promise<string> {
  const { db, log, passwords } = app;
  if (hasCustomers(app))
    throw new Error('there are customers already; the demonstration world needs a database without any');
  const hash = await passwords.hash(demoPassword);
  const snapshot = seed === defaultSeed ? fittingSnapshot(app) : undefined;
  if (snapshot) {
    db.write(() => fillFrom(snapshot, app, hash));
    db.store();
  } else await seedByHistory(app, hash, seed);
  log.debug({ source: snapshot ? 'snapshot' : 'history' }, 'sample data stored');
  return demoReport(app, seed);
}

/** Fills a database by the requests of two years, each at its instant; `hash` is that of the password. */
export async function seedByHistory(app: App, hash: string, seed = defaultSeed): Promise<void> {
  const { clock, db } = app;
  const password = { text: demoPassword, hash };
  const now = clock.now();
  const world = buildWorld(new Seed(`${seed} world`));
  const plan = planHistory(world, now, new Seed(`${seed} history`), password);
  planEstate({ world, plan, seed: new Seed(`${seed} services`) });
  planContacts({ world, plan, seed: new Seed(`${seed} contacts`) });
  await db.whole(async () => {
    const past = new TimeMachine(app, new Seed(`${seed} uuids`), now - (span + 1) * day);
    await plan.run(past);
    db.write(() => {
      settlePastMails(app, now);
      past.close(world.people);
    });
  });
}

/** Whether there is anything that the demonstration world would be mixed with. */
export const hasCustomers = ({ db }: App): boolean => db.value(sql`SELECT 1 FROM customer`) !== undefined;

/** Plans what customers have at providers. */
function planEstate(story: Scenario): void {
  const estate = new Inventory(story, planAccounts(story));
  planMachines(estate);
  planApps(estate);
  planMeasurements(estate);
  planLastHour(estate);
}

/** What to tell whoever looks around in the world of a seed: what there is, and logins to try. */
export function demoReport({ db }: App, seed = defaultSeed): string {
  const world = buildWorld(new Seed(`${seed} world`));
  const count = (table: keyof typeof counts): number => db.scalar<number>(counts[table]);
  const since = isoTime(db.scalar<number>(sql`SELECT min(at) FROM event`)).slice(0, 10);
  const lines = loginsToTry(world).map(([person, who]) => `  ${person.username.padEnd(22)} ${who}`);
  return `${[
    `The demonstration world is ready: ${count('customer')} customers, ${count('project')} projects, ${count('user')} users, ${count('ssh_key')} SSH keys,`,
    `${count('service_settings')} provider accounts, ${count('resource')} resources and ${count('event')} events since ${since}.`,
    '',
    `Logins to try, all with the password ${demoPassword}`,
    '',
    ...lines,
  ].join('\n')}\n`;
}

/** Logins to try in the world of a seed, for programs. */
export const demoLogins = (
  seed = defaultSeed,
): { readonly password: string; readonly logins: readonly { readonly username: string; readonly role: string }[] } => ({
  password: demoPassword,
  logins: loginsToTry(buildWorld(new Seed(`${seed} world`))).map(([{ username }, role]) => ({ username, role })),
});

const counts = {
  customer: sql`SELECT count(*) FROM customer`,
  project: sql`SELECT count(*) FROM project`,
  user: sql`SELECT count(*) FROM user`,
  service_settings: sql`SELECT count(*) FROM service_settings`,
  // What is being deleted is gone by the time that anyone counts.
  resource: sql`SELECT count(*) FROM resource WHERE NOT is_part AND state NOT IN ('Deletion Scheduled', 'Deleting')`,
  ssh_key: sql`SELECT count(*) FROM ssh_key`,
  event: sql`SELECT count(*) FROM event`,
};

function loginsToTry({ organisations, partners, team }: World): (readonly [Person, string])[] {
  const { facts, people } = present(organisations[0]);
  const { name } = facts.fields;
  const project = facts.projects[0]?.name;
  return [
    [present(team[0]), 'staff: sees and does everything'],
    [present(team[2]), 'global support: sees everything'],
    [present(partners[0]), 'owner of three customers'],
    [present(people[0]), `owner of ${name}`],
    [present(people[2]), `support of ${name}`],
    [present(people[3]), `manager of the project ${project}`],
    [present(people[4]), `administrator of the project ${project}`],
    [present(partners[1]), 'member of three projects of three customers'],
    [present(partners[2]), 'support of a project, for three more days'],
    [present(partners[8]), 'no role anywhere'],
  ];
}
