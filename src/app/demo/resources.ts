import { day, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import accountFacts from './accounts.json' with { type: 'json' };
import estate from './estate.json' with { type: 'json' };
import { planMeasurements } from './measurements.ts';
import type { SampleData } from './sample-data.ts';
import type { Account, Resource, Story } from './script.ts';

/** Plans the resources of customers at providers, and adds the provider accounts to those of the scripts. */
export function planResources(story: Story, data: SampleData, accounts: Record<string, Account>): void {
  const { plan } = story;
  for (const [n, [key, facts]] of Object.entries(accountFacts).entries()) {
    const account = accountOf(story, data, facts, n + 1);
    accounts[key] = account;
    story.play('new account', { account });
  }
  story.play('certifications');
  story.play('deploy keys');
  for (const [projectName = '', accountName = '', script = '', key] of estate) {
    const [project, account] = [present(data.projects[projectName]), present(accounts[accountName])];
    const from = Math.max(account.begins, project.begins) + 3 * day;
    const until = plan.latest - 2 * day;
    story.play(script, { project, account, key, from, until, third: from + (until - from) / 3 });
  }
  planMeasurements(story, present(data.team[1]));
  plan.at(plan.now - 25 * minute, (past) => past.synchronise());
  const { droplets } = accounts;
  story.play('last hour', { resting: restingDroplets(story.resources.filter(({ account }) => account === droplets)) });
}

interface AccountFacts {
  readonly type: string;
  readonly prefix: string;
  readonly name: string;
  /** The customer that owns it; undefined for a shared account. */
  readonly customer?: string;
  /** When a shared account is created. */
  readonly created?: string;
  readonly options?: object;
}

/**
 * Returns a simulated account without latency. A number seeds its inventory, because the default seed, the uuid, contains the
 * time.
 */
function accountOf(story: Story, data: SampleData, facts: AccountFacts, simulator_seed: number): Account {
  const customer = facts.customer === undefined ? undefined : present(data.organisations[facts.customer]);
  const account = {
    ...facts,
    customer,
    body: { name: facts.name, simulator_latency: '0', simulator_seed, ...facts.options },
    by: present((customer?.people ?? data.team)[0]),
    begins: story.instant(facts.created ?? 'customer/begins + 10d .. customer/begins + 40d', { customer }),
    url: '',
    response: { settings: '' },
    get settings(): string {
      return customer ? this.response.settings : this.url;
    },
  };
  return account;
}

/** Returns running droplets without further plans, alternating between projects. */
function restingDroplets(resources: readonly Resource[]): Resource[] {
  const resting = resources.filter(({ isUntouched, path }) => isUntouched && path === 'digitalocean-droplets');
  const rank = (droplet: Resource): number =>
    resting.filter(({ project }) => project === droplet.project).indexOf(droplet);
  return resting.sort((a, b) => rank(a) - rank(b));
}
