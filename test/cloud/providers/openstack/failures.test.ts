import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { collectStates, setOptions, step, usages, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import {
  act,
  type Cloud,
  created,
  destroy,
  first,
  flavor,
  instance,
  instanceBody,
  messages,
  names,
  post,
  present,
  startCloud,
  volume,
} from './cloud.ts';

const { test, fixture } = suiteWithServer('OpenStack: failures (providers.md 3.1, 4.8)');
let cloud: Cloud;
let web: Json;
let disk: Json;

test.before(async () => {
  cloud = await startCloud(fixture);
  web = await instance(cloud);
  disk = await volume(cloud);
  cloud.fixture.events();
});

const failing = (operations: string): Promise<void> =>
  setOptions(cloud.fixture, cloud.settings, { simulator_failures: operations });
const counted = async (): Promise<Json[]> => [
  await usages(cloud.fixture, cloud.people.project),
  await usages(cloud.fixture, cloud.link),
  await usages(cloud.fixture, cloud.tenant),
];
const volumes = async (name: string): Promise<Json[]> =>
  (await cloud.fixture.staff.get(`/api/openstack-volumes/?name=${name}&o=name`)).body;

test('a failed tenant is Erred, without parts and without an id', async () => {
  await failing('Tenant.create');
  const [, body] = await post(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Broken',
  });
  assert.equal(await collectStates(cloud.fixture, body.url), ['Creation Scheduled', 'Creating', 'Erred']);
  const { backend_id, error_message } = await present(cloud, body);
  assert.equal([backend_id, error_message], ['', 'Simulated failure of create']);
  assert.equal(await names(cloud, `openstack-networks/?tenant_uuid=${body.uuid}`), []);
  assert.equal(messages(cloud), [
    'Resource Broken creation has been scheduled.',
    'Resource Broken creation has failed.',
  ]);
  assert.equal(await destroy(cloud, body), [202, { detail: 'Deletion was scheduled.' }]);
  assert.is((await cloud.fixture.staff.get(body.url)).status, 404);
  cloud.fixture.events();
});

test('marks volumes of a failed instance as Erred and releases its floating IPs', async () => {
  const free = await created(cloud, `${cloud.tenant.url}create_floating_ip/`);
  const before = await counted();
  await failing('Instance.create');
  cloud.fixture.events();
  const addresses = [{ subnet: cloud.subnet.url, url: free.url }, { subnet: cloud.subnet.url }];
  const [, body] = await post(
    cloud,
    '/api/openstack-instances/',
    await instanceBody(cloud, { name: 'broken', data_volume_size: 1024, floating_ips: addresses }),
  );
  assert.equal(await collectStates(cloud.fixture, body.url), ['Creation Scheduled', 'Creating BUILDING', 'Erred']);
  assert.equal(
    (await volumes('broken')).map(({ backend_id, error_message, name, runtime_state, state }: Json) => [
      name,
      state,
      runtime_state,
      backend_id,
      error_message,
    ]),
    [
      ['broken-data', 'Erred', '', '', 'Simulated failure of create'],
      ['broken-system', 'Erred', '', '', 'Simulated failure of create'],
    ],
  );
  assert.equal(
    (await cloud.fixture.staff.get('/api/openstack-floating-ips/')).body.map(({ address, instance: used }: Json) => [
      address,
      used,
    ]),
    [[free.address, null]],
  );
  const reports = cloud.fixture
    .events()
    .slice(4)
    .map(({ context, level, message }) => [level, message, context.error_message]);
  assert.equal(reports, [
    ['error', 'Resource broken creation has failed.', 'Simulated failure of create'],
    ['error', 'Resource broken-system creation has failed.', 'Simulated failure of create'],
    ['error', 'Resource broken-data creation has failed.', 'Simulated failure of create'],
    ['info', 'OpenStack FloatingIP Floating IP of Lab has been deleted.', undefined],
  ]);
  await destroy(cloud, body);
  assert.equal(await volumes('broken'), []);
  assert.equal(await counted(), before);
  await destroy(cloud, free);
  cloud.fixture.events();
});

test('removes volumes of an instance whose creation never started', async () => {
  await failing('');
  const [, body] = await post(
    cloud,
    '/api/openstack-instances/',
    await instanceBody(cloud, { name: 'late', floating_ips: [{ subnet: cloud.subnet.url }] }),
  );
  // The process was down for longer than the timeout of a creation.
  const { db } = cloud.fixture.server.app;
  db.write(() => db.run({ text: "UPDATE job SET started = 0, due = 0 WHERE operation = 'create'", values: [] }));
  await step(cloud.fixture);
  const { error_message, state } = await present(cloud, body);
  assert.equal([state, error_message], ['Erred', 'Provisioning is timed out.']);
  assert.equal(await volumes('late'), []);
  assert.equal(await names(cloud, 'openstack-floating-ips/'), []);
  await destroy(cloud, body);
  cloud.fixture.events();
});

test('a failed action leaves instance and quotas unchanged', async () => {
  await act(cloud, web, 'stop');
  const before = await counted();
  cloud.fixture.events();
  for (const [action, body, reports] of [
    ['start', undefined, ['Resource web has been scheduled to start.', 'Resource web start has failed.']],
    ['change_flavor', { flavor: (await flavor(cloud, 'm1.large')).url }, []],
    [
      'update_floating_ips',
      { floating_ips: [{ subnet: cloud.subnet.url }] },
      [
        'Resource Floating IP of Lab creation has been scheduled.',
        'OpenStack FloatingIP Floating IP of Lab has been deleted.',
      ],
    ],
  ] as [string, Json, string[]][]) {
    await failing(action);
    await post(cloud, `${web.url}${action}/`, body);
    assert.is((await collectStates(cloud.fixture, web.url)).at(-1), 'Erred SHUTOFF', action);
    const { cores, error_message, external_ips } = await present(cloud, web);
    assert.equal([cores, error_message, external_ips], [1, `Simulated failure of ${action}`, []]);
    assert.equal(messages(cloud), reports);
    await failing('');
    await act(cloud, web, 'pull');
    assert.is((await present(cloud, web)).state, 'OK');
  }
  assert.equal(await counted(), before);
});

test('an attached volume that fails to grow also makes its instance Erred', async () => {
  await act(cloud, disk, 'attach', { instance: web.url });
  await failing('Volume.extend');
  await post(cloud, `${disk.url}extend/`, { disk_size: 10_240 });
  await work(cloud.fixture);
  for (const object of [disk, web]) {
    const { error_message, state } = await present(cloud, object);
    assert.equal([state, error_message], ['Erred', 'Simulated failure of extend']);
  }
  assert.equal([(await present(cloud, disk)).size, (await present(cloud, disk)).runtime_state], [2048, 'in-use']);
  await failing('');
  for (const object of [disk, web]) await act(cloud, object, 'pull');
  await act(cloud, disk, 'detach');
  cloud.fixture.events();
});

test('attach, snapshot and delete of a volume fail', async () => {
  await failing('Volume.attach,Snapshot.create,Volume.delete');
  await act(cloud, disk, 'attach', { instance: web.url });
  const erred = await present(cloud, disk);
  assert.equal([erred.state, erred.runtime_state, erred.instance], ['Erred', 'available', null]);
  await act(cloud, disk, 'pull');
  const [, snapshot] = await post(cloud, `${disk.url}snapshot/`, { name: 'broken' });
  assert.is((await collectStates(cloud.fixture, snapshot.url)).at(-1), 'Erred');
  await destroy(cloud, snapshot);
  cloud.fixture.events();
  await destroy(cloud, disk);
  assert.equal(
    [(await present(cloud, disk)).state, messages(cloud)],
    ['Erred', ['Resource disk deletion has been scheduled.', 'Resource disk deletion has failed.']],
  );
  await destroy(cloud, disk);
  assert.is(
    (await cloud.fixture.staff.get(disk.url)).status,
    404,
    'from Erred the row goes whatever the provider says',
  );
  cloud.fixture.events();
});

test('a tenant whose deletion fails keeps its parts', async () => {
  const other = await created(cloud, '/api/openstack-tenants/', {
    service_project_link: cloud.link.url,
    name: 'Sticky',
  });
  await failing('Tenant.delete');
  await destroy(cloud, other);
  assert.is((await present(cloud, other)).state, 'Erred');
  assert.is((await names(cloud, `openstack-security-groups/?tenant_uuid=${other.uuid}`)).length, 5);
  await failing('');
  await destroy(cloud, other);
  assert.is((await cloud.fixture.staff.get(other.url)).status, 404);
  cloud.fixture.events();
});

test('a failed set_rules restores the rules', async () => {
  const before = await counted();
  const ssh = await first(cloud, 'openstack-security-groups/?name_exact=ssh');
  await failing('set_rules');
  await act(cloud, ssh, 'set_rules', {
    rules: [
      { protocol: 'tcp', from_port: 1, to_port: 2, cidr: '0.0.0.0/0' },
      { protocol: '', cidr: '0.0.0.0/0' },
    ],
  });
  const { rules, state } = await present(cloud, ssh);
  assert.equal([state, rules.length, await counted()], ['Erred', 1, before]);
  await failing('');
  await act(cloud, ssh, 'pull');
});

test('marks resources that vanished at the provider as Erred at the next synchronisation', async () => {
  await setOptions(cloud.fixture, cloud.settings, { simulator_failures: 'Instance.vanish' });
  cloud.fixture.clock.advance(1800);
  await work(cloud.fixture);
  const { error_message, runtime_state, state } = await present(cloud, web);
  assert.equal([state, runtime_state, error_message], ['Erred', '', 'Does not exist at backend.']);
  assert.equal(
    (await cloud.fixture.staff.get('/api/alerts/?opened&alert_type=resource_disappeared_from_backend')).body
      .map(({ scope }: Json) => scope)
      .sort(),
    [web.url, web.volumes[0].url],
  );
});

test.run();
