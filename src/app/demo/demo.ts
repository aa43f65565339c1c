import type { Deployment } from '../../kernel/access/deployment.ts';
import { day, isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { planAccounts } from './accounts.ts';
import { planApps } from './apps.ts';
import { Estate } from './estate.ts';
import { planHistory } from './history.ts';
import { planLastHour } from './last-hour.ts';
import { planMachines } from './machines.ts';
import { planMeasurements } from './measurements.ts';
import type { Story } from './memberships.ts';
import { Past } from './past.ts';
import { span } from './plan.ts';
import { Seed } from './seed.ts';
import { buildWorld, type Organisation, type Person, type World } from './world.ts';

/** The password of everybody in the demonstration world. */
export const demoPassword = 'demo-world-1';

/**
 * Fills a database without customers with a believable world and its two years of history; answers what to tell the
 * operator. The same seed at the same instant gives the same data, uuids included. Rejects with a sentence, and changes
 * nothing, when there are customers already.
 */
export async function demo(deployment: Deployment, seed = 'tenantry'): Promise<string> {
  const { clock, db, passwords } = deployment;
  if (db.value(sql`SELECT 1 FROM customer`) !== undefined)
    throw new Error('there are customers already; the demonstration world needs a database without any');
  const passwordHash = await passwords.hash(demoPassword);
  const now = clock.now();
  const world = buildWorld(new Seed(`${seed} world`));
  const plan = planHistory(world, now, new Seed(`${seed} history`), passwordHash);
  planEstate({ world, plan, seed: new Seed(`${seed} services`) });
  await db.whole(async () => {
    const past = new Past(deployment, new Seed(`${seed} uuids`), now - (span + 1) * day);
    await plan.run(past);
    db.write(() => past.close(world.people));
  });
  return report(deployment, world);
}

/** Plans what customers have at providers. */
function planEstate(story: Story): void {
  const estate = new Estate(story, planAccounts(story));
  planMachines(estate);
  planApps(estate);
  planMeasurements(estate);
  planLastHour(estate);
}

function report({ db }: Deployment, world: World): string {
  const count = (table: keyof typeof counts): number => db.value<number>(counts[table]) as number;
  const since = isoTime(db.value<number>(sql`SELECT min(at) FROM event`) as number).slice(0, 10);
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

const counts = {
  customer: sql`SELECT count(*) FROM customer`,
  project: sql`SELECT count(*) FROM project`,
  user: sql`SELECT count(*) FROM user`,
  service_settings: sql`SELECT count(*) FROM service_settings`,
  resource: sql`SELECT count(*) FROM resource WHERE NOT is_part`,
  ssh_key: sql`SELECT count(*) FROM ssh_key`,
  event: sql`SELECT count(*) FROM event`,
};

function loginsToTry({ organisations, partners, team }: World): (readonly [Person, string])[] {
  const [company] = organisations as [Organisation];
  const [owner, , support, manager, administrator] = company.people as [Person, Person, Person, Person, Person];
  const [consultant, freelancer, guest] = partners as [Person, Person, Person];
  const [name, project] = [company.facts.fields.name, company.facts.projects[0]?.name];
  return [
    [team[0] as Person, 'staff: sees and does everything'],
    [team[2] as Person, 'global support: sees everything'],
    [consultant, 'owner of three customers'],
    [owner, `owner of ${name}`],
    [support, `support of ${name}`],
    [manager, `manager of the project ${project}`],
    [administrator, `administrator of the project ${project}`],
    [freelancer, 'member of three projects of three customers'],
    [guest, 'support of a project, for three more days'],
    [partners[8] as Person, 'no role anywhere'],
  ];
}
