import { day, hour } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import { type Account, strictProject } from './accounts.ts';
import { type DemoResource, type Inventory, slug } from './inventory.ts';
import type { TimeMachine } from './time-machine.ts';
import type { Organisation, Project } from './world.ts';

const roles = ['web', 'db', 'cache', 'worker', 'build', 'proxy'] as const;

/** The project that moves to another customer takes nothing along: until then it has no machines. */
const movingProject = 'Build farm';

/** Every project gets virtual machines: in a private cloud, or as droplets; some customers have Amazon as well. */
export function planMachines(estate: Inventory): void {
  const { accounts, story } = estate;
  const own = new Map<number, Account>(
    Object.values(accounts).flatMap((account) =>
      account.owner === undefined ? [] : [[account.owner, account] as const],
    ),
  );
  story.world.organisations.forEach((organisation, index) => {
    organisation.projects.forEach((project, position) => {
      const { name } = project.facts;
      if (name === movingProject) return;
      const account = own.get(index);
      if (account?.type === 'Amazon') amazon(estate, account, project);
      const isCloudy = organisation.facts.fields.is_company && position % 2 === 0;
      if (isCloudy || name === strictProject) cloud(estate, organisation, project);
      else
        droplets(
          estate,
          account?.type === 'DigitalOcean' ? account : accounts.droplets,
          project,
          organisation.facts.fields.is_company ? 4 : 2,
        );
    });
  });
  imported(estate, accounts.kielMachines);
}

/** A private cloud, made by staff, with instances and their volumes. */
function cloud(estate: Inventory, organisation: Organisation, project: Project): void {
  const {
    accounts: { cloud: account },
    story: { plan, seed, world },
  } = estate;
  const [from, until] = estate.era(account, project);
  const name = `${slug(organisation.facts.fields.abbreviation ?? 'cloud')}-${slug(project.facts.name)}`;
  const start = plan.between(from, from + (until - from) / 3);
  const [staff] = world.team;
  const tenant = estate.make({
    account,
    project,
    path: 'openstack-tenants',
    name,
    at: start,
    ...(staff && { by: staff }),
    fields: () => ({ description: project.facts.description }),
  });
  for (let n = 0; n < 2; n++) {
    const at = plan.between(start + 3 * hour, until - 10 * day);
    const flavor = seed.pick(['m1.small', 'm1.small', 'm1.medium']);
    const image = seed.pick(['CentOS 7', 'Ubuntu 16.04']);
    const machine = estate.make({
      account,
      project,
      path: 'openstack-instances',
      name: `${present(roles[n])}-${slug(project.facts.name)}`,
      at,
      isMachine: true,
      fields: (past) => ({
        tenant: tenant.url,
        flavor: estate.offered(past, account, 'flavors', flavor),
        image: estate.offered(past, account, 'images', image),
        system_volume_size: 20_480,
        ...(n === 0 && { data_volume_size: 51_200 }),
        ssh_public_key: estate.keyOf(project),
      }),
    });
    if (n === 0) snapshot(estate, machine);
    life(estate, machine);
  }
}

/** A snapshot of the first volume of an instance. */
function snapshot({ story: { plan } }: Inventory, machine: DemoResource): void {
  const { by } = machine.account;
  plan.at(plan.between(machine.made + day, machine.made + 8 * day), (past) => {
    const [volume] = past.list(`/api/openstack-volumes/?instance=${encodeURIComponent(machine.url)}`, by);
    if (volume) past.send('POST', `${volume.url}snapshot/`, { by, body: { name: `${machine.name}-before-upgrade` } });
  });
}

function droplets(estate: Inventory, account: Account, project: Project, count: number): void {
  const { plan, seed } = estate.story;
  const [from, until] = estate.era(account, project);
  for (let n = 0; n < count; n++) {
    const at = plan.between(from, until - 10 * day);
    const machine = droplet(estate, account, project, {
      name: `${present(roles[n])}-${slug(project.facts.name)}`,
      at,
      size: seed.pick(['s-1vcpu-1gb', 's-1vcpu-2gb', 's-2vcpu-4gb']),
    });
    life(estate, machine);
  }
  if (seed.below(2) === 0) {
    const trial = droplet(estate, account, project, {
      name: `trial-${slug(project.facts.name)}`,
      at: plan.between(from, until - 20 * day),
      size: 's-1vcpu-1gb',
    });
    estate.remove(trial, plan.between(trial.made + 2 * day, trial.made + 15 * day));
  }
}

/** Plans a droplet. */
export const droplet = (
  estate: Inventory,
  account: Account,
  project: Project,
  { at, name, size }: { name: string; at: number; size: string },
): DemoResource =>
  estate.make({
    account,
    project,
    path: 'digitalocean-droplets',
    name,
    at,
    isMachine: true,
    fields: (past) => ({
      region: estate.offered(past, account, 'regions', 'Frankfurt 1'),
      image: estate.offered(past, account, 'images', 'Debian 9 x64'),
      size: estate.offered(past, account, 'sizes', size),
      ssh_public_key: estate.keyOf(project),
    }),
  });

function amazon(estate: Inventory, account: Account, project: Project): void {
  const { plan, seed } = estate.story;
  const [from, until] = estate.era(account, project);
  const region = (past: TimeMachine): string => estate.offered(past, account, 'regions', 'EU (Frankfurt)');
  for (let n = 0; n < 3; n++) {
    const size = seed.pick(['t2.micro', 't2.medium', 'm4.large']);
    const machine = estate.make({
      account,
      project,
      path: 'aws-instances',
      name: `${present(roles[n])}-${slug(project.facts.name)}`,
      at: plan.between(from, until - 10 * day),
      isMachine: true,
      fields: (past) => ({
        region: region(past),
        image: estate.offered(past, account, 'images', 'Amazon Linux 2', `&region=${region(past).split('/').at(-2)}`),
        size: estate.offered(past, account, 'sizes', size),
        ssh_public_key: estate.keyOf(project),
      }),
    });
    life(estate, machine);
  }
  estate.make({
    account,
    project,
    path: 'aws-volumes',
    name: `archive-${slug(project.facts.name)}`,
    at: plan.between(from, until),
    fields: (past) => ({ region: region(past), size: 102_400, volume_type: 'standard' }),
  });
}

/** One machine was there before its account was connected. */
function imported({ story: { plan, world } }: Inventory, { begins, by, name, prefix }: Account): void {
  const project = present(world.organisations[1]?.projects[0]);
  plan.at(Math.max(begins, project.begins) + 2 * day, (past) => {
    const service = past.list(`/api/${prefix}/`, by).find((each) => each.name === name);
    const found = past.list(`${service?.url}link/?resource_type=Amazon.Instance`, by)[0];
    past.send('POST', `${service?.url}link/`, {
      by,
      body: { backend_id: found?.backend_id, resource_type: 'Amazon.Instance', project: project.url },
    });
  });
}

const fates = ['runs', 'restarted', 'runs', 'maintained', 'runs', 'stopped', 'runs'] as const;

/** What happens to a machine in its time; most run on. */
function life(estate: Inventory, machine: DemoResource): void {
  const { plan, seed } = estate.story;
  const fate = seed.pick(fates);
  const at = plan.between(machine.made + day, plan.latest - day);
  if (fate === 'restarted') estate.act(machine, at, 'restart');
  if (fate === 'stopped' || fate === 'maintained') estate.act(machine, at, 'stop');
  if (fate === 'maintained') {
    if (machine.path === 'digitalocean-droplets') {
      estate.act(machine, at + 2 * hour, 'resize', (past) => ({
        size: estate.offered(past, machine.account, 'sizes', 's-4vcpu-8gb'),
        disk: true,
      }));
    }
    estate.act(machine, at + 4 * hour, 'start');
  }
}
