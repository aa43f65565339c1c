/** Kills the program's process while it runs operations of every sort at the vendor. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { Amazon } from '../../../vendors/amazon/stand-in.ts';
import { KillTest } from '../../../vendors/kill.ts';

const kill = new KillTest('kill -9 with Amazon', Amazon.start);
const { ask, server, test } = kill;
const offer = async (path: string, query: string): Promise<Json> => (await ask('GET', `/api/aws-${path}/?${query}`))[0];
const lists = ['aws-instances', 'aws-volumes'];
const act = ({ url }: Json, action: string, body?: unknown): Promise<Json> => ask('POST', `${url}${action}/`, body);

/** Creates a machine in an account. */
async function machine(name: string, link: Json): Promise<Json> {
  const settings = `settings_uuid=${(await ask('GET', link.service)).settings_uuid}`;
  const region = await offer('regions', `${settings}&name=Ireland`);
  return ask('POST', '/api/aws-instances/', {
    name,
    service_project_link: link.url,
    region: region.url,
    image: (await offer('images', `${settings}&region=${region.uuid}&name=amzn2`)).url,
    size: (await offer('sizes', `${settings}&name_exact=t2.micro`)).url,
  });
}

async function volume(name: string, link: Json): Promise<Json> {
  const settings = `settings_uuid=${(await ask('GET', link.service)).settings_uuid}`;
  const region = (await offer('regions', `${settings}&name=Ireland`)).url;
  return ask('POST', '/api/aws-volumes/', {
    name,
    service_project_link: link.url,
    region,
    size: 1024,
    volume_type: 'gp2',
  });
}

/** Creates this many objects of a kind. */
type Tuple<T, N extends number, All extends T[] = []> = All['length'] extends N ? All : Tuple<T, N, [...All, T]>;

/** Creates two machines and two volumes of an account, before the operation of that account. */
const numbers = [1, 2];

test('a kill during any operation neither loses nor repeats it', async () => {
  const { vendor } = kill;
  const [username, keys] = [...vendor.accessKeys][0] ?? [];
  const links = await server.connect('aws', 11, { backend_url: vendor.url, username, token: keys?.secret });
  const [run, make, attach, detach, resize, end, stop, remove, start, restart, retype] = links as Tuple<Json, 11>;
  const things: Record<string, Json> = {};
  for (const [what, link] of Object.entries({ attach, detach, resize, end, stop, start, restart, retype }))
    for (const n of numbers) things[`${what}-${n}`] = await machine(`${what}-${n}`, link);
  for (const [what, link] of Object.entries({ attach, detach, remove }))
    for (const n of numbers) things[`${what}-volume-${n}`] = await volume(`${what}-volume-${n}`, link);
  await kill.waitForOperations(...lists);
  for (const what of ['attach', 'detach', 'resize', 'start', 'retype'])
    for (const n of numbers) await act(things[`${what}-${n}`], 'stop');
  await kill.waitForOperations('aws-instances');
  const place = (n: number, what: string): Json => ({ instance: things[`${what}-${n}`].url, device: '/dev/sdf' });
  for (const n of numbers) await act(things[`detach-volume-${n}`], 'attach', place(n, 'detach'));
  await kill.waitForOperations('aws-volumes');
  const sizeAt = async (link: Json, name: string): Promise<Json> =>
    offer('sizes', `settings_uuid=${(await ask('GET', link.service)).settings_uuid}&name_exact=${name}`);
  const size = await sizeAt(resize, 'c4.large');
  // If the disk size stays the same, only the type changes.
  const type = await sizeAt(retype, 't2.small');

  // Of every two calls, one is executed without a response, and one is not executed.
  const actions = [
    'RunInstances',
    'CreateVolume',
    'AttachVolume',
    'DetachVolume',
    'ModifyVolume',
    'TerminateInstances',
    'StopInstances',
    'DeleteVolume',
    'StartInstances',
    'RebootInstances',
    'ModifyInstanceAttribute',
  ];
  kill.injectFaults(actions);
  for (const n of numbers) {
    await machine(`run-${n}`, run);
    await volume(`make-${n}`, make);
    await act(things[`attach-volume-${n}`], 'attach', place(n, 'attach'));
    await act(things[`detach-volume-${n}`], 'detach');
    await act(things[`resize-${n}`], 'resize', { size: size.url });
    await act(things[`stop-${n}`], 'stop');
    await act(things[`start-${n}`], 'start');
    await act(things[`restart-${n}`], 'restart');
    await act(things[`retype-${n}`], 'resize', { size: type.url });
    await ask('DELETE', things[`end-${n}`].url);
    await ask('DELETE', things[`remove-volume-${n}`].url);
  }
  await kill.waitForCalls(actions, 2);

  await kill.kill();
  await kill.waitForOperations(...lists);

  const [instances, volumes] = [await kill.rows('aws-instances'), await kill.rows('aws-volumes')];
  assert.equal(
    [...instances, ...volumes].filter(({ state }) => state === 'Erred').map((row) => [row.name, row.error_message]),
    [],
  );
  assert.equal(
    instances.map(({ cores, name, runtime_state: state }) => `${name} ${state} ${cores}`),
    [
      ...['attach-1 stopped 1', 'attach-2 stopped 1', 'detach-1 stopped 1', 'detach-2 stopped 1'],
      ...['resize-1 stopped 2', 'resize-2 stopped 2', 'restart-1 running 1', 'restart-2 running 1'],
      ...['retype-1 stopped 1', 'retype-2 stopped 1', 'run-1 running 1', 'run-2 running 1'],
      ...['start-1 running 1', 'start-2 running 1', 'stop-1 stopped 1', 'stop-2 stopped 1'],
    ],
  );
  assert.equal(
    instances.filter(({ name }) => name.startsWith('retype')).map(({ ram }) => ram),
    [2048, 2048],
  );
  assert.equal(
    volumes
      .filter(({ name }) => !name.startsWith('volume-'))
      .map(({ name, runtime_state: state }) => `${name} ${state}`),
    [
      ...['attach-volume-1 inuse', 'attach-volume-2 inuse', 'detach-volume-1 available', 'detach-volume-2 available'],
      ...['make-1 available', 'make-2 available'],
    ],
  );
  // The vendor has every object exactly once, and no others.
  const there = [...vendor.contents.instances.values()].filter(({ state }) => state !== 'terminated');
  const ids = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id).sort();
  const known = (list: readonly Json[]): string[] => list.map(({ backend_id: id }) => id).sort();
  assert.equal(ids(there), known(instances));
  assert.equal(ids([...vendor.contents.volumes.values()]), known(volumes));
  // Every operation was reported exactly once.
  assert.equal(
    [
      await server.countEvents('resource_creation_succeeded'),
      await server.countEvents('resource_stop_succeeded'),
      await server.countEvents('resource_deletion_succeeded'),
      await server.countEvents('resource_creation_failed'),
    ],
    [
      // Machines with their root volumes, and volumes.
      2 * 18 + 8,
      12,
      // Two machines with root volumes, and two volumes.
      6,
      0,
    ],
  );
});

test.run();
