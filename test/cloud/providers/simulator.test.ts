import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { collectStates, setOptions, simulatedService, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('the simulator (providers.md 3)');
let place: { readonly customer: Json; readonly project: Json };

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  place = { customer, project: await fixture.project('Rocket', customer) };
});

const ocean = (options: Readonly<Record<string, unknown>> = {}): Promise<Droplets> =>
  dropletService(fixture, place, options);
const present = async ({ url }: Json): Promise<Json> => (await fixture.staff.get(url)).body;
const droplets = async (cloud: Droplets): Promise<Json[]> =>
  (await fixture.staff.get(`/api/digitalocean-droplets/?page_size=300&o=created&service_uuid=${cloud.service.uuid}`))
    .body;
const setup = (): Json[] => fixture.server.app.db.all(sql`SELECT * FROM simulated_object ORDER BY id`);
const synchronise = async (): Promise<void> => {
  fixture.clock.advance(30 * 60);
  await work(fixture);
};
const rejection = async (options: Readonly<Record<string, unknown>>): Promise<unknown[]> => {
  const { body, status } = await fixture.staff.post('/api/service-settings/', {
    name: 'Ocean',
    type: 'DigitalOcean',
    ...options,
  });
  return [status, status === 201 ? 'accepted' : body];
};

test('serves settings of every type without a backend_url or with simulator://, and checks no credentials', async () => {
  for (const backend_url of [null, '', 'simulator://anything/at all', 'SIMULATOR://x']) {
    const { settings } = await simulatedService(fixture, 'digitalocean', place, { backend_url, token: 'wrong' });
    assert.is(settings.state, 'In Sync', String(backend_url));
  }
  for (const prefix of ['aws', 'digitalocean', 'gitlab', 'jira', 'openstack', 'oracle']) {
    assert.is((await simulatedService(fixture, prefix, place, { name: prefix })).settings.state, 'In Sync', prefix);
  }
});

test('each provider account has separate simulated objects, with ids and addresses from the start', async () => {
  const [one, two] = [await ocean({ name: 'One' }), await ocean({ name: 'Two' })];
  const created = [await one.make({ name: 'a' }), await two.make({ name: 'b' }), await one.make({ name: 'c' })];
  assert.equal(
    created.map(({ backend_id }) => backend_id),
    ['1000001', '1000001', '1000002'],
  );
  assert.equal(
    created.map(({ external_ips }) => external_ips),
    [['198.18.0.1'], ['198.18.0.1'], ['198.18.0.2']],
  );
  assert.equal(
    created.map(({ internal_ips }) => internal_ips),
    [['10.0.0.1'], ['10.0.0.1'], ['10.0.0.2']],
  );
});

test('keeps simulated objects after unlinking until the settings are deleted', async () => {
  const cloud = await ocean();
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.is(setup().length, 1);
  await synchronise();
  const again = await fixture.staff.post(`${cloud.service.url}link/`, {
    backend_id: droplet.backend_id,
    project: place.project.url,
  });
  const { cores, external_ips, name, runtime_state } = await present(again.body);
  assert.equal([name, runtime_state, cores, external_ips], ['web', 'online', 1, droplet.external_ips]);
  await fixture.staff.post(`${cloud.service.url}unlink/`);
  assert.equal([setup(), fixture.server.app.db.value(sql`SELECT count(*) FROM simulated_counter`)], [[], 0]);
});

test('a row passes through Scheduled, then …ing with the interim runtime state, then OK, even with latency 0', async () => {
  const cloud = await ocean();
  const droplet = await cloud.begin();
  assert.equal(await collectStates(fixture, droplet.url), ['Creation Scheduled', 'Creating provisioning', 'OK online']);
  const after = async (action: string, body?: unknown): Promise<string[]> => {
    assert.is((await fixture.staff.post(`${droplet.url}${action}/`, body)).status, 202);
    return collectStates(fixture, droplet.url);
  };
  assert.equal(await after('restart'), ['Update Scheduled online', 'Updating online', 'OK online']);
  assert.equal(await after('stop'), ['Update Scheduled online', 'Updating online', 'OK offline']);
  assert.equal(await after('resize', { size: cloud.catalogue.large, disk: true }), [
    'Update Scheduled offline',
    'Updating resizing',
    'OK offline',
  ]);
  assert.equal(await after('start'), ['Update Scheduled offline', 'Updating offline', 'OK online']);
});

test('resizes the disk only on request', async () => {
  const cloud = await ocean();
  const [soft, hard] = [await cloud.make({ name: 'soft' }), await cloud.make({ name: 'hard' })];
  for (const droplet of [soft, hard]) await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  await fixture.staff.post(`${soft.url}resize/`, { size: cloud.catalogue.large, disk: false });
  await fixture.staff.post(`${hard.url}resize/`, { size: cloud.catalogue.large, disk: true });
  await work(fixture);
  const sizes = async (droplet: Json): Promise<number[]> => {
    const { cores, disk, ram } = await present(droplet);
    return [cores, ram, disk];
  };
  assert.equal(
    [await sizes(soft), await sizes(hard)],
    [
      [2, 4096, 25600],
      [2, 4096, 81920],
    ],
  );
});

test('the catalogue of DigitalOcean', async () => {
  await ocean();
  const get = async (path: string): Promise<Json[]> => (await fixture.staff.get(`/api/digitalocean-${path}/`)).body;
  assert.equal(
    (await get('regions')).map(({ name }) => name),
    ['Amsterdam 3', 'Frankfurt 1', 'New York 3', 'Singapore 1'],
  );
  assert.equal(
    (await get('images')).map(({ distribution, is_official, min_disk_size, name, regions, type }) => [
      name,
      distribution,
      type,
      is_official,
      min_disk_size,
      regions.length,
    ]),
    [
      ['CentOS 7 x64', 'CentOS', 'snapshot', true, 20480, 4],
      ['CoreOS stable', 'CoreOS', 'snapshot', true, 20480, 3],
      ['Debian 9 x64', 'Debian', 'snapshot', true, 20480, 4],
      ['FreeBSD 11 x64', 'FreeBSD', 'snapshot', true, 40960, 4],
      ['Ubuntu 16.04 x64', 'Ubuntu', 'snapshot', true, 20480, 4],
    ],
  );
  assert.equal(
    (await get('sizes')).map(({ cores, disk, name, ram, regions, transfer }) => [
      name,
      cores,
      ram,
      disk,
      transfer,
      regions.length,
    ]),
    [
      ['s-1vcpu-1gb', 1, 1024, 25600, 1048576, 4],
      ['s-1vcpu-2gb', 1, 2048, 51200, 2097152, 4],
      ['s-2vcpu-4gb', 2, 4096, 81920, 4194304, 4],
      ['s-4vcpu-8gb', 4, 8192, 163840, 5242880, 4],
      ['s-8vcpu-32gb', 8, 32768, 655360, 7340032, 2],
    ],
  );
});

test('the catalogue of JIRA', async () => {
  await simulatedService(fixture, 'jira', place);
  const names = async (path: string): Promise<string[]> =>
    (await fixture.staff.get(`/api/jira-${path}/`)).body.map(({ name }: Json) => name);
  assert.equal(await names('project-templates'), [
    'Basic software development',
    'Kanban software development',
    'Project management',
    'Scrum software development',
    'Task management',
  ]);
  assert.equal(await names('issue-types'), ['Bug', 'Epic', 'Story', 'Sub-task', 'Task']);
  assert.equal(await names('priorities'), ['High', 'Highest', 'Low', 'Lowest', 'Medium']);
  assert.equal((await fixture.staff.get('/api/jira-issue-types/?name=Sub-task')).body[0].subtask, true);
});

test('ids of JIRA objects are their keys', async () => {
  const office = await simulatedService(fixture, 'jira', place);
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  const project = (
    await fixture.staff.post('/api/jira-projects/', {
      service_project_link: office.link.url,
      name: 'Plan',
      key: 'PLAN',
      template,
    })
  ).body;
  await work(fixture);
  assert.is((await present(project)).backend_id, 'PLAN');
});

/* Determinism. */

test('reproduces ids, addresses and failures from the seed regardless of timing', async () => {
  const outcomes: Json[] = [];
  for (const [name, latency, seed] of [
    ['One', '0', 42],
    ['Two', 'create=3000,sync=0,ping=0,*=7000', 42],
    ['Three', '0', 43],
  ] as const) {
    const cloud = await ocean({
      name,
      simulator_seed: seed,
      simulator_latency: latency,
      simulator_failures: 'create=0.4,stop=0.5',
    });
    for (let n = 0; n < 12; n++) await cloud.begin({ name: `web-${n}` });
    for (let i = 0; i < 40; i++) await step(fixture);
    for (const { state, url } of await droplets(cloud)) if (state === 'OK') await fixture.staff.post(`${url}stop/`);
    for (let i = 0; i < 40; i++) await step(fixture);
    outcomes.push(
      (await droplets(cloud))
        .map(({ backend_id, error_message, external_ips, internal_ips, name, state }) => [
          name,
          state,
          error_message,
          backend_id,
          external_ips,
          internal_ips,
        ])
        .sort(),
    );
  }
  const [one, two, three] = outcomes as [Json, Json, Json];
  assert.equal(one, two);
  assert.not.equal(one, three, 'another seed, another world');
  const errors = one.map(([, , message]: string[]) => message);
  assert.equal(
    [...new Set(errors)].sort(),
    ['', 'Simulated failure of create', 'Simulated failure of stop'],
    'some succeed and some fail',
  );
});

test('a random value depends on the number of earlier runs of the operation on the object', async () => {
  const cloud = await ocean({ simulator_seed: 5, simulator_failures: 'restart=0.5' });
  const droplet = await cloud.make();
  const outcomes: string[] = [];
  for (let n = 0; n < 12; n++) {
    await fixture.staff.post(`${droplet.url}restart/`);
    await work(fixture);
    outcomes.push((await present(droplet)).state);
    await fixture.staff.post(`${droplet.url}pull/`);
    await work(fixture);
  }
  assert.equal([...new Set(outcomes)].sort(), ['Erred', 'OK']);
});

test("without a seed it is the first eight hexadecimal digits of the settings' uuid", async () => {
  const ids = async (seed: number | null): Promise<string> => {
    const { service, settings } = await simulatedService(fixture, 'aws', place, {
      simulator_seed: seed,
      simulator_inventory: 1,
    });
    const matches = (await fixture.staff.get(`${service.url}link/?resource_type=Amazon.Instance`)).body[0].backend_id;
    await fixture.staff.delete(service.url);
    return `${matches} ${seed === null ? await ids(Number.parseInt(settings.uuid.slice(0, 8), 16)) : ''}`;
  };
  const [own, input] = (await ids(null)).trim().split(' ');
  assert.match(own ?? '', /^i-[0-9a-f]{17}$/);
  assert.is(own, input);
});

/* Failures. */

test('a failed creation leaves no object, a failed action or deletion leaves it unchanged', async () => {
  const cloud = await ocean({ simulator_failures: 'create' });
  const failed = await cloud.make();
  assert.equal(
    [failed.state, failed.backend_id, failed.error_message, setup()],
    ['Erred', '', 'Simulated failure of create', []],
  );
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  const droplet = await cloud.make({ name: 'kept' });
  const before = setup();
  await setOptions(fixture, cloud.settings, { simulator_failures: 'stop,delete' });
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  assert.equal([(await present(droplet)).runtime_state, setup()], ['online', before]);
  await fixture.staff.post(`${droplet.url}pull/`);
  await work(fixture);
  await fixture.staff.delete(droplet.url);
  await work(fixture);
  assert.equal([(await present(droplet)).error_message, setup()], ['Simulated failure of delete', before]);
});

test('decides on a failure at the end of the latency', async () => {
  const cloud = await ocean({ simulator_failures: 'create', simulator_latency: 'create=5000,*=0' });
  const droplet = await cloud.begin();
  for (let second = 0; second < 5; second++) {
    await step(fixture);
    assert.is((await present(droplet)).state, 'Creating');
  }
  await step(fixture);
  assert.is((await present(droplet)).state, 'Erred');
});

test('the failure <Kind>.<operation> overrides <operation>, which overrides *', async () => {
  const cloud = await ocean();
  const outcome = async (failures: string): Promise<string> => {
    await setOptions(fixture, cloud.settings, { simulator_failures: failures });
    const { state, url } = await cloud.make();
    await fixture.staff.post(`${url}unlink/`);
    return state;
  };
  assert.equal(
    [
      await outcome('*'),
      await outcome('*,create=0'),
      await outcome('create,Droplet.create=0'),
      await outcome('create=0,Droplet.create'),
      await outcome('Droplet.stop'),
      await outcome('*,Droplet.*=0'),
      await outcome('create,Droplet.*=0'),
    ],
    ['Erred', 'OK', 'OK', 'Erred', 'OK', 'OK', 'Erred'],
  );
});

test('ping and sync fail if configured, and make the settings Erred', async () => {
  const cloud = await ocean();
  for (const operation of ['ping', 'sync']) {
    await setOptions(fixture, cloud.settings, { simulator_failures: operation });
    await synchronise();
    assert.is((await present(cloud.settings)).error_message, `Simulated failure of ${operation}`);
  }
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await synchronise();
  assert.is((await present(cloud.settings)).state, 'In Sync');
});

test('vanish removes the object at random in background pulls; * does not include it', async () => {
  const cloud = await ocean({ simulator_failures: '*=0' });
  const droplet = await cloud.make();
  await setOptions(fixture, cloud.settings, { simulator_failures: 'vanish=0' });
  await synchronise();
  assert.is(setup().length, 1);
  await setOptions(fixture, cloud.settings, { simulator_failures: 'vanish' });
  await synchronise();
  const gone = await present(droplet);
  assert.equal([setup(), gone.state, gone.error_message], [[], 'Erred', 'Does not exist at backend.']);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  const next = await cloud.make({ name: 'next' });
  assert.is(next.backend_id, '1000002', 'ids are not given again');
});

test('everything fails with *, but nothing vanishes', async () => {
  const cloud = await ocean();
  const droplet = await cloud.make();
  await setOptions(fixture, cloud.settings, { simulator_failures: '*,ping=0,sync=0' });
  await synchronise();
  assert.equal([(await present(droplet)).state, setup().length], ['OK', 1]);
  for (const [action, needed] of [
    ['restart', 'OK'],
    ['pull', 'Erred'],
  ] as const) {
    assert.is((await present(droplet)).state, needed);
    await fixture.staff.post(`${droplet.url}${action}/`);
    await work(fixture);
    assert.is((await present(droplet)).error_message, `Simulated failure of ${action}`);
  }
});

/* Latency. */

test('latencies: one number for all, or a list; <Kind>.<operation> before <operation> before *', async () => {
  const seconds = async (latency: string | null): Promise<number> => {
    const cloud = await ocean({ simulator_latency: `sync=0,ping=0${latency === null ? '' : `,${latency}`}` });
    const droplet = await cloud.begin();
    await step(fixture);
    let passed = 0;
    while ((await present(droplet)).state === 'Creating') {
      await step(fixture);
      passed++;
    }
    await fixture.staff.post(`${cloud.service.url}unlink/`);
    return passed;
  };
  assert.is(await seconds(null), 3, 'by default three seconds');
  assert.is(await seconds('create=5000'), 5);
  assert.is(await seconds('*=2000'), 2);
  assert.is(await seconds('*=2000,create=4000'), 4);
  assert.is(await seconds('create=4000,Droplet.create=1000'), 1);
  assert.is(await seconds('Droplet.stop=9000,*=1000'), 1);
  assert.is(await seconds('Droplet.*=2000,*=9000'), 2);
});

test('one number is the latency of every operation', async () => {
  const cloud = await ocean();
  await setOptions(fixture, cloud.settings, { simulator_latency: '2000' });
  const droplet = await cloud.begin();
  for (let i = 0; i < 3; i++) await step(fixture);
  await fixture.staff.post(`${droplet.url}restart/`);
  await step(fixture);
  await step(fixture);
  assert.is((await present(droplet)).state, 'Updating');
  await step(fixture);
  assert.is((await present(droplet)).state, 'OK');
});

/* Options. */

test('validates options on write', async () => {
  const latency = [400, { simulator_latency: ['Enter milliseconds or a list of <operation>=<milliseconds>.'] }];
  for (const wrong of [
    'fast',
    '-1',
    '600001',
    'create',
    'create=fast',
    'create=600001',
    'create=1,2',
    'a.b.c=1',
    'create=1.5',
  ])
    assert.equal(await rejection({ simulator_latency: wrong }), latency, wrong);
  const failures = [400, { simulator_failures: ['Enter a list of <operation> or <operation>=<probability>.'] }];
  for (const wrong of ['create=2', 'create=-1', 'create=often', 'a.b.c', 'create=1.5', '=1'])
    assert.equal(await rejection({ simulator_failures: wrong }), failures, wrong);
  for (const unknown of [
    'creat',
    'boot',
    'Volume.create',
    'droplet.create',
    'Droplet.boot',
    'Droplet.ping',
    'Volume.*',
  ]) {
    assert.equal(await rejection({ simulator_latency: `create=1,${unknown}=1` }), latency, unknown);
    assert.equal(await rejection({ simulator_failures: `create,${unknown}` }), failures, unknown);
  }
  assert.equal(await rejection({ simulator_inventory: 51 }), [
    400,
    { simulator_inventory: ['Ensure this value is less than or equal to 50.'] },
  ]);
  assert.equal(await rejection({ simulator_inventory: -1 }), [
    400,
    { simulator_inventory: ['Ensure this value is greater than or equal to 0.'] },
  ]);
  assert.equal(await rejection({ simulator_seed: 'x' }), [400, { simulator_seed: ['A valid integer is required.'] }]);
  for (const good of [
    { simulator_latency: '0' },
    { simulator_latency: '600000' },
    { simulator_latency: 'create=1, Droplet.stop=2,*=3' },
    { simulator_failures: 'create, stop=.5,Droplet.resize=1,vanish=0.01,*=0' },
    { simulator_failures: '' },
    {
      simulator_failures: 'ping,sync,update,Droplet.pull,Droplet.vanish=.1,Droplet.*=.2',
      simulator_latency: 'sync=1,*=2',
    },
    { simulator_seed: 0, simulator_inventory: 50 },
  ]) {
    assert.equal(await rejection(good), [201, 'accepted'], JSON.stringify(good));
  }
});

test('operations in options must exist in the type, in changes of settings and in new services', async () => {
  const failures = { simulator_failures: ['Enter a list of <operation> or <operation>=<probability>.'] };
  const cloud = await ocean();
  const changed = await fixture.staff.patch(cloud.settings.url, { simulator_failures: 'Instance.create' });
  assert.equal([changed.status, changed.body], [400, failures]);
  for (const [prefix, good, wrong] of [
    ['openstack', 'change_flavor,SubNet.create,Tenant.set_quotas', 'Tenant.change_flavor'],
    ['jira', 'Issue.create,Comment.delete,Project.create', 'Issue.vanish'],
    ['aws', 'Volume.attach,Instance.resize', 'Volume.resize'],
  ]) {
    const make = (simulator_failures: string | undefined) =>
      fixture.staff.post(`/api/${prefix}/`, { name: 'Cloud', customer: place.customer.url, simulator_failures });
    const denial = await make(wrong);
    assert.equal([denial.status, denial.body], [400, failures], wrong);
    assert.is((await make(good)).status, 201, good);
  }
});

test('a real driver stores the options and does not use them', async () => {
  const { body } = await fixture.staff.post('/api/service-settings/', {
    name: 'Ocean',
    type: 'DigitalOcean',
    backend_url: 'https://ocean.example.com/v2',
    token: 'x',
    simulator_failures: 'ping',
  });
  assert.is(body.simulator_failures, 'ping');
});

/* Inventory. */

test('simulator_inventory creates unmanaged objects of each importable kind, once', async () => {
  const cloud = await ocean({ simulator_inventory: 2 });
  const names = async (): Promise<string[]> =>
    (await fixture.staff.get(`${cloud.service.url}link/`)).body.map(({ name }: Json) => name);
  assert.equal(await names(), ['unmanaged-droplet-1', 'unmanaged-droplet-2']);
  await synchronise();
  assert.equal(await names(), ['unmanaged-droplet-1', 'unmanaged-droplet-2']);
  await setOptions(fixture, cloud.settings, { simulator_inventory: 3 });
  await synchronise();
  assert.equal(await names(), ['unmanaged-droplet-1', 'unmanaged-droplet-2', 'unmanaged-droplet-3']);
  await setOptions(fixture, cloud.settings, { simulator_inventory: 0 });
  await synchronise();
  assert.is((await names()).length, 3, 'what is there stays');
  const created = await cloud.make();
  assert.is(created.backend_id, '1000004', 'and has its ids');
});

test('every type with imports has unmanaged objects of every importable kind', async () => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    aws: ['Amazon.Instance', 'Amazon.Volume'],
    digitalocean: ['DigitalOcean.Droplet'],
    gitlab: ['GitLab.Group', 'GitLab.Project'],
    jira: ['JIRA.Project'],
    openstack: ['OpenStack.Instance', 'OpenStack.Tenant', 'OpenStack.Volume'],
  };
  for (const [prefix, expected] of Object.entries(kinds)) {
    const { service } = await simulatedService(fixture, prefix, place, { name: prefix, simulator_inventory: 1 });
    const { db } = fixture.server.app;
    const matches = db.values<string>(sql`SELECT i.kind FROM inventory i JOIN service v ON v.settings_id = i.settings_id
      WHERE v.uuid = ${service.uuid} AND i.name LIKE 'unmanaged-%' ORDER BY i.kind`);
    for (const kind of expected) assert.is(matches.filter((one) => one === kind).length, 1, kind);
  }
});

test('the simulator makes no connections: its settings work without a resolver', async () => {
  const offline = await Fixture.start({
    resolve: () => {
      throw new Error('somebody asked for an address');
    },
  });
  try {
    const customer = await offline.customer('Alice');
    const cloud = await dropletService(
      offline,
      { customer, project: await offline.project('Rocket', customer) },
      { backend_url: 'simulator://cloud.example.com' },
    );
    assert.is((await cloud.make()).state, 'OK');
  } finally {
    await offline.close();
  }
});

test.run();
