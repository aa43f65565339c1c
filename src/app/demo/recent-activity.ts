import { minute, second } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import { setOptions } from './accounts.ts';
import type { DemoResource, Inventory } from './inventory.ts';
import { droplet } from './machines.ts';
import type { Project } from './world.ts';

/**
 * The last hour: a provider stops answering, another has lost machines, operations fail; and what has been asked for in the
 * last seconds is under way now, so that every state of a resource is there.
 */
export function planLastHour(estate: Inventory): void {
  const {
    accounts,
    story: { plan },
  } = estate;
  const { droplets, galwayDroplets, trondheimDroplets } = accounts;
  const ago = (minutes: number): number => plan.now - minutes * minute;
  plan.at(ago(50), (past) => {
    setOptions(past, trondheimDroplets, { simulator_failures: 'ping' });
    setOptions(past, galwayDroplets, { simulator_failures: 'vanish=0.6' });
  });
  plan.at(ago(25), (past) => past.synchronise());
  const resting = restingDroplets(estate);
  plan.at(ago(20), (past) => setOptions(past, droplets, { simulator_failures: 'Droplet.create,Droplet.stop' }));
  const [host] = hosts(estate);
  for (const n of [1, 2, 3]) droplet(estate, droplets, host, { name: `node-${n}`, at: ago(19), size: 's-4vcpu-8gb' });
  for (const machine of resting.splice(0, 2)) estate.act(machine, ago(18), 'stop');
  plan.at(ago(10), (past) => {
    const keeps = trondheimDroplets;
    for (const account of Object.values(accounts))
      setOptions(past, account, { simulator_latency: null, ...(account !== keeps && { simulator_failures: null }) });
  });
  underWay(estate, resting);
}

/** What was asked for a moment ago is being worked on, four calls at once as ever; the rest waits for the worker's next look. */
function underWay(estate: Inventory, resting: DemoResource[]): void {
  const {
    accounts: { droplets },
    story: { plan },
  } = estate;
  const [host, other] = hosts(estate);
  const begun = plan.now - 1.5 * second;
  droplet(estate, droplets, host, { name: 'batch-1', at: begun, size: 's-1vcpu-1gb' });
  for (const machine of resting.splice(0, 1)) estate.act(machine, begun, 'restart');
  for (const machine of resting.splice(0, 2)) estate.remove(machine, begun);
  const asked = plan.now - 0.5 * second;
  for (const n of [2, 3]) droplet(estate, droplets, other, { name: `batch-${n}`, at: asked, size: 's-1vcpu-1gb' });
  for (const machine of resting.splice(0, 2)) estate.act(machine, asked, 'restart');
  for (const machine of resting.splice(0, 1)) estate.remove(machine, asked);
}

/** Two projects with droplets. */
const hosts = ({ story: { world } }: Inventory): readonly [Project, Project] => {
  const [first, , second] = world.organisations;
  return [present(first?.projects[1]), present(second?.projects[1])];
};

/** Droplets of the shared account that run undisturbed, one of each project in turn. */
function restingDroplets({ accounts, things }: Inventory): DemoResource[] {
  const resting = things.filter(
    ({ account, path, rests }) => rests && account === accounts.droplets && path === 'digitalocean-droplets',
  );
  const places = new Map<Project, number>();
  const rank = (thing: DemoResource): number => {
    const place = places.get(thing.project) ?? 0;
    places.set(thing.project, place + 1);
    return place;
  };
  return resting
    .map((thing) => ({ thing, place: rank(thing) }))
    .sort((a, b) => a.place - b.place)
    .map(({ thing }) => thing);
}
