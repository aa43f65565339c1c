import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { Program } from '../../support/program.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { Caller, until } from '../caller.ts';
import { runPythonOf } from '../python.ts';
import type { Steps } from '../steps.ts';
import { startMoto } from './server.ts';

/** Any value works: the server does not verify signatures. */
const credentials = { username: 'AKIDEXAMPLE', token: 'secret-key' };

const region = 'EU (Ireland)';

/** Instances and volumes as boto3 sees them: id, name, state, then the type of instances, the size and devices of volumes. */
interface Seen {
  readonly instances: readonly Json[];
  readonly volumes: readonly Json[];
  readonly keys: readonly string[];
}

/** The Amazon driver of the built program runs all of its operations at moto, an independent implementation of EC2. */
export async function moto(steps: Steps): Promise<void> {
  const { end, programs, url: address } = await steps.step('moto is installed and starts', startMoto);
  const program = new Program(undefined);
  try {
    const serving = await program.serve(['--ephemeral', '--provider-allowed-networks', '127.0.0.0/8']);
    const staff = new Caller(serving.url, String(serving.startup.token));
    const python = (script: string): Promise<Json> =>
      runPythonOf(`${programs}/python`, script, address, credentials.username, credentials.token);
    await live(steps, staff, address, python);
    await steps.step('the log has no warning', async () => assert.is(serving.errors(), ''));
    assert.is(await serving.stop(), 0);
  } finally {
    await program.end();
    await end();
  }
}

async function live(
  steps: Steps,
  staff: Caller,
  address: string,
  python: (script: string) => Promise<Json>,
): Promise<void> {
  const look = (): Promise<Seen> => python('amazon/look.py');
  const idle = await look();

  const { link, service } = await steps.step('an account at moto synchronises', async () => {
    const customer = await staff.post('/api/customers/', { name: 'Alice' });
    const project = await staff.post('/api/projects/', { name: 'Rocket', customer: customer.url });
    const created = await staff.post('/api/aws/', {
      name: 'Moto',
      customer: customer.url,
      project: project.url,
      backend_url: address,
      // All regions together would have more images than an account may offer.
      images_regex: '^amzn',
      ...credentials,
    });
    await synchronised(staff, created);
    return { service: created, link: await staff.only(`/api/aws-service-project-link/?service_uuid=${created.uuid}`) };
  });
  const matches = await staff.only(`/api/aws-regions/?name=${encodeURIComponent(region)}`);
  const offer = async (kind: string, query: string): Promise<string> =>
    (await staff.get(`/api/aws-${kind}/?${query}`))[0].url;

  const key = await staff.post('/api/keys/', { name: 'laptop', public_key: publicKeys.rsa });
  const web = await steps.step('an instance with a key and user data runs', async () => {
    const created = await staff.make('/api/aws-instances/', {
      name: 'web & <shop>',
      service_project_link: link.url,
      region: matches.url,
      image: await offer('images', `region=${matches.uuid}`),
      size: await offer('sizes', 'name=t2.micro'),
      ssh_public_key: key.url,
      user_data: '#cloud-config',
    });
    assert.is(created.runtime_state, 'running');
    const { instances, keys } = await look();
    assert.equal(instances, [[created.backend_id, created.name, 'running', 't2.micro']]);
    assert.equal(keys, [`tenantry-${key.fingerprint.replaceAll(':', '')}`]);
    return created;
  });
  await steps.step('its root volume exists', async () => {
    const root = await staff.only(`/api/aws-volumes/?instance_uuid=${web.uuid}`);
    const { volumes } = await look();
    assert.ok(volumes.some(([id, , state]) => id === root.backend_id && state === 'in-use'));
  });

  const act = (action: string, state: string): Promise<void> =>
    steps.step(`${action}: it is ${state}`, async () => {
      assert.is((await staff.act(web, action)).runtime_state, state);
      assert.is((await look()).instances[0]?.[2], state);
    });
  await act('stop', 'stopped');
  await steps.step('resize: type and disk grow', async () => {
    const resized = await staff.act(web, 'resize', { size: await offer('sizes', 'name=c4.large') });
    assert.equal([resized.cores, resized.ram, resized.disk], [2, 3840, 16_384]);
    const { instances, volumes } = await look();
    assert.is(instances[0]?.[3], 'c4.large');
    const root = await staff.only(`/api/aws-volumes/?instance_uuid=${web.uuid}`);
    assert.is(volumes.find(([id]) => id === root.backend_id)?.[3], 16);
  });

  const data = await steps.step('a volume is created, attached and detached', async () => {
    const created = await staff.make('/api/aws-volumes/', {
      name: 'data',
      service_project_link: link.url,
      region: matches.url,
      size: 10_240,
      volume_type: 'gp2',
    });
    const seen = async (): Promise<Json> => (await look()).volumes.find(([id]) => id === created.backend_id);
    assert.equal(await seen(), [created.backend_id, 'data', 'available', 10]);
    await staff.act(created, 'attach', { instance: web.url, device: '/dev/sdf' });
    assert.equal(await seen(), [created.backend_id, 'data', 'in-use', 10, '/dev/sdf']);
    await staff.act(created, 'detach');
    assert.equal(await seen(), [created.backend_id, 'data', 'available', 10]);
    return created;
  });
  await steps.step('a volume of type io1 gets the operations that its type requires', async () => {
    const fields = { service_project_link: link.url, region: matches.url, size: 10_240, volume_type: 'io1' };
    await staff.remove(await staff.make('/api/aws-volumes/', { name: 'fast', ...fields }));
  });
  await act('start', 'running');
  await act('restart', 'running');
  await steps.step('pull updates both', async () => {
    for (const object of [web, data]) await staff.act(object, 'pull');
  });

  await steps.step('an import restores unlinked objects, and imports those created by others', async () => {
    const foreign = await python('moto/import.py');
    for (const { url } of [data, web]) await staff.ask(204, 'POST', `${url}unlink/`);
    await staff.post(`${service.settings}pull/`, undefined, 202);
    const items = await until('everything can be imported', async () => {
      const all: Json[] = await staff.get(`${service.url}link/`);
      const wanted = [web.backend_id, data.backend_id, foreign.instance, foreign.volume];
      const listed = wanted.map((id) => all.find(({ backend_id }) => backend_id === id));
      return listed.every((item) => item !== undefined) ? listed : undefined;
    });
    for (const { backend_id, resource_type } of items)
      await staff.ask(200, 'POST', `${service.url}link/`, { backend_id, resource_type, project: link.project });
    const names = async (path: string): Promise<string[]> =>
      (await staff.get(path)).map(({ name }: Json) => name).sort();
    assert.equal(await names('/api/aws-instances/'), ['foreign', web.name]);
    assert.ok((await names('/api/aws-volumes/')).includes('foreign-data'));
  });

  await steps.step('all objects are destroyed, and none is left there', async () => {
    for (const path of ['/api/aws-instances/', '/api/aws-volumes/'])
      await Promise.all((await staff.get(path)).map((object: Json) => staff.remove(object)));
    const { instances, volumes } = await look();
    assert.equal([...new Set(instances.map(([, , state]) => state))], ['terminated']);
    assert.equal(volumes, idle.volumes);
  });
}

/** Waits until an account's settings have been synchronised. */
const synchronised = (staff: Caller, service: Json): Promise<Json> =>
  until('the account is synchronised', async () => {
    const settings = await staff.get(service.settings);
    if (settings.state === 'Erred') throw new Error(settings.error_message);
    return settings.state === 'In Sync' ? settings : undefined;
  });
