import { day, hour } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import type { Scenario } from './memberships.ts';
import type { Answer, TimeMachine } from './time-machine.ts';
import { ownerOf, type Person, type Project } from './world.ts';

interface AccountFacts {
  readonly type: string;
  /** What its paths begin with. */
  readonly prefix: string;
  readonly name: string;
  /** Index of the customer that has it alone; absent: it is shared with all. */
  readonly owner?: number;
  /** Days ago, of shared ones. */
  readonly age?: number;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The accounts at providers, all on the simulator, by what the rest of the story calls them. */
const accountFacts = {
  cloud: {
    type: 'OpenStack',
    prefix: 'openstack',
    name: 'Baltic Cloud',
    age: 700,
    options: {
      latitude: 59.44,
      longitude: 24.75,
      access_url: 'https://cloud.tenantry.example/dashboard',
      external_network_id: 'public',
    },
  },
  droplets: { type: 'DigitalOcean', prefix: 'digitalocean', name: 'DigitalOcean', age: 640 },
  kielMachines: { type: 'Amazon', prefix: 'aws', name: 'AWS Frankfurt', owner: 1, options: { simulator_inventory: 2 } },
  athensMachines: { type: 'Amazon', prefix: 'aws', name: 'AWS of Helios', owner: 3 },
  trondheimDroplets: { type: 'DigitalOcean', prefix: 'digitalocean', name: 'Field droplets', owner: 6 },
  galwayDroplets: { type: 'DigitalOcean', prefix: 'digitalocean', name: 'Aoife at DigitalOcean', owner: 9 },
  maarduCode: { type: 'GitLab', prefix: 'gitlab', name: 'Source code', owner: 0 },
  krakowCode: { type: 'GitLab', prefix: 'gitlab', name: 'GitLab of the institute', owner: 4 },
  maarduIssues: { type: 'JIRA', prefix: 'jira', name: 'Service desk', owner: 0 },
  osakaIssues: { type: 'JIRA', prefix: 'jira', name: 'Tickets', owner: 8 },
  rigaDatabases: { type: 'Oracle', prefix: 'oracle', name: 'Oracle in Riga', owner: 2 },
  dniproDatabases: { type: 'Oracle', prefix: 'oracle', name: 'Warehouse databases', owner: 7 },
} as const satisfies Readonly<Record<string, AccountFacts>>;

/** An account at a provider. */
export interface Account extends AccountFacts {
  /** Who writes it: its owner, or staff. */
  readonly by: Person;
  readonly begins: number;
  /** Link of its settings. */
  settings: string;
}

export type Accounts = Readonly<Record<keyof typeof accountFacts, Account>>;

const certifications = [
  {
    name: 'ISO 27001',
    description: 'Information security management.',
    link: 'https://certificates.example/iso-27001',
  },
  { name: 'GDPR', description: 'Data stays in the European Union.', link: 'https://certificates.example/gdpr' },
  {
    name: 'SOC 2',
    description: 'Controls over security and availability.',
    link: 'https://certificates.example/soc-2',
  },
];

/** The project with the strictest demands; only the cloud meets them. */
export const strictProject = 'Payroll';

/** Plans every account, without latencies while history is made, and what providers are certified for. */
export function planAccounts(story: Scenario): Accounts {
  const planned = Object.entries(accountFacts).map(([key, facts], n) => [key, planAccount(story, facts, n + 1)]);
  // The names are those of the facts, which the compiler forgets on the way.
  const accounts: Accounts = Object.fromEntries(planned);
  planCertifications(story, accounts);
  return accounts;
}

/** Plans an account whose simulated world comes from a number: by default it would come from the uuid, which has the time in it. */
function planAccount({ plan, world }: Scenario, facts: AccountFacts, simulator_seed: number): Account {
  const staff = present(world.team[0]);
  const organisation = facts.owner === undefined ? undefined : present(world.organisations[facts.owner]);
  const account: Account = {
    ...facts,
    by: organisation?.people[0] ?? staff,
    begins: organisation
      ? plan.between(organisation.begins + 10 * day, organisation.begins + 40 * day)
      : plan.daysAgo(facts.age ?? 0),
    settings: '',
  };
  plan.at(account.begins, (past) => {
    const body = { name: account.name, simulator_latency: '0', simulator_seed, ...account.options };
    account.settings = organisation
      ? String(
          past.send('POST', `/api/${account.prefix}/`, {
            by: account.by,
            body: { ...body, customer: organisation.url, available_for_all: true },
          }).settings,
        )
      : past.send('POST', '/api/service-settings/', { by: staff, body: { ...body, type: account.type, shared: true } })
          .url;
  });
  return account;
}

function planCertifications({ plan, world }: Scenario, { cloud, droplets }: Accounts): void {
  const staff = present(world.team[0]);
  const urls = new Map<string, string>();
  const chosen = (names: readonly string[]): Readonly<Record<string, unknown>> => ({
    certifications: names.map((name) => ({ url: urls.get(name) })),
  });
  plan.at(cloud.begins - hour, (past) => {
    for (const body of certifications)
      urls.set(body.name, past.send('POST', '/api/service-certifications/', { by: staff, body }).url);
  });
  for (const [account, names] of [
    [cloud, ['ISO 27001', 'GDPR']],
    [droplets, ['GDPR']],
  ] as const) {
    plan.at(
      account.begins + hour,
      (past) => void past.send('POST', `${account.settings}update_certifications/`, { by: staff, body: chosen(names) }),
    );
  }
  for (const [name, demands] of [
    [strictProject, ['ISO 27001', 'GDPR']],
    ['Wind model', ['GDPR']],
  ] as const) {
    const project = present(world.projects.find(({ facts }) => facts.name === name));
    plan.at(
      project.begins + day,
      (past) =>
        void past.send('POST', `${project.url}update_certifications/`, { by: ownerOf(project), body: chosen(demands) }),
    );
  }
}

/** Changes options of an account. */
export const setOptions = (
  past: TimeMachine,
  { by, settings }: Account,
  body: Readonly<Record<string, unknown>>,
): void => void past.send('PATCH', settings, { by, body });

/** The key in a link. */
const uuidIn = (link: string): string => present(link.split('/').at(-2));

/** Finds what an account's provider offers, and what lets projects use it, and remembers it. */
export class Offers {
  readonly #known = new Map<string, readonly Answer[]>();

  /** The link of the service-project link that lets a project use an account. */
  linkTo(past: TimeMachine, { by, name, prefix }: Account, project: Project): string {
    const links = this.#list(past, `/api/${prefix}-service-project-link/?project_uuid=${uuidIn(project.url)}`, by);
    return present(links.find(({ service_name: service }) => service === name)).url;
  }

  /** The link of the property with this name; `query` narrows the list. */
  find(past: TimeMachine, { by, settings }: Account, path: string, name: string, query = ''): string {
    const list = `/api/${path}/?settings_uuid=${uuidIn(settings)}${query}`;
    const item = this.#list(past, list, by).find((each) => each.name === name);
    if (!item) throw new Error(`There is no ${name} in ${list}`);
    return item.url;
  }

  #list(past: TimeMachine, path: string, by: Person): readonly Answer[] {
    const items = this.#known.get(path) ?? past.list(path, by);
    this.#known.set(path, items);
    return items;
  }
}
