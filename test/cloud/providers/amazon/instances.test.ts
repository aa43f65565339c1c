import * as assert from 'uvu/assert';
import { by, expectedEvent, inJobOf, inProject } from '../../../support/expected-event.ts';
import type { Client, Json, RecordedEvent } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import {
  collectStates,
  type SimulatedService,
  setOptions,
  simulatedService,
  step,
  usages,
  work,
} from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';

const { test, fixture } = suiteWithServer('Amazon: instances (providers.md 6.3)');
let people: Personas;
let cloud: SimulatedService;
let admin: Client;
let region: Json;
let image: Json;
let web: Json;
let launched: RecordedEvent[];

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await simulatedService(fixture, 'aws', people);
  admin = people.clients.admin;
  region = await first('aws-regions/?name=Ireland');
  image = await first(`aws-images/?name=Ubuntu&region=${region.uuid}`);
});

const first = async (path: string): Promise<Json> => (await fixture.staff.get(`/api/${path}`)).body[0];
const size = (name: string): Promise<Json> => first(`aws-sizes/?name_exact=${name}`);
const present = async (object: Json): Promise<Json> => (await fixture.staff.get(object.url)).body;
const messages = (): string[] => fixture.events().map(({ message }) => message);

async function body(fields: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
  return {
    service_project_link: cloud.link.url,
    name: 'web',
    region: region.url,
    image: image.url,
    size: (await size('t2.micro')).url,
    ...fields,
  };
}

const create = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  admin.post('/api/aws-instances/', await body(fields));
const act = async (action: string, values?: unknown): Promise<unknown[]> => {
  const response = await (action === 'unlink' ? people.clients.owner : admin).post(`${web.url}${action}/`, values);
  return [response.status, response.body];
};

test('region, image, size, name and link are required', async () => {
  const required = ['This field is required.'];
  const rejection = await admin.post('/api/aws-instances/', {});
  assert.equal(
    [rejection.status, rejection.body],
    [400, { name: required, service_project_link: required, region: required, image: required, size: required }],
  );
});

test('rejects an image of another region', async () => {
  const tokyo = await first('aws-regions/?name=Tokyo');
  const rejection = await create({ region: tokyo.url });
  assert.equal(
    [rejection.status, rejection.body],
    [400, { non_field_errors: ['Image is missing in region Asia Pacific (Tokyo)'] }],
  );
});

test('rejects a size that is unavailable in the region', async () => {
  const mumbai = await first('aws-regions/?name=Mumbai');
  const local = await first(`aws-images/?name=Ubuntu&region=${mumbai.uuid}`);
  const rejection = await create({ region: mumbai.url, image: local.url, size: (await size('m3.large')).url });
  assert.equal(
    [rejection.status, rejection.body],
    [400, { non_field_errors: ['Size is missing in region Asia Pacific (Mumbai)'] }],
  );
});

test('accepts a creation with the values of size, image, region and key', async () => {
  const key = (await admin.post('/api/keys/', { name: 'laptop', public_key: publicKeys.ed25519 })).body;
  fixture.events();
  const created = await create({
    ssh_public_key: key.url,
    user_data: '#!/bin/sh',
    description: 'Front',
    tags: ['env:prod'],
  });
  assert.is(created.status, 201);
  web = created.body;
  const {
    access_url,
    cores,
    description,
    disk,
    image_name,
    key_name,
    ram,
    region_name,
    resource_type,
    runtime_state,
    start_time,
    state,
    tags,
    user_data,
  } = web;
  assert.equal(
    {
      access_url,
      cores,
      description,
      disk,
      image_name,
      key_name,
      ram,
      region_name,
      resource_type,
      runtime_state,
      start_time,
      state,
      tags,
      user_data,
    },
    {
      access_url: null,
      cores: 1,
      description: 'Front',
      disk: 8192,
      image_name: 'Ubuntu Server 16.04',
      key_name: 'laptop',
      ram: 1024,
      region_name: 'EU (Ireland)',
      resource_type: 'Amazon.Instance',
      runtime_state: '',
      start_time: null,
      state: 'Creation Scheduled',
      tags: ['env:prod'],
      user_data: '#!/bin/sh',
    },
  );
  assert.not.ok(
    ['region', 'image', 'size', 'ssh_public_key'].some((name) => name in web),
    'write-only fields are not shown',
  );
  assert.equal(await usages(fixture, cloud.link), { ram: 1024, storage: 8192, vcpu: 1 });
  assert.equal(await usages(fixture, cloud.service), { instance_count: 1 });
});

test('launches the instance: pending, then running, with id, addresses and start time', async () => {
  assert.equal(await collectStates(fixture, web.url), ['Creation Scheduled', 'Creating pending', 'OK running']);
  const { access_url, backend_id, external_ips, internal_ips, start_time } = await present(web);
  assert.match(backend_id, /^i-[0-9a-f]{17}$/);
  assert.equal([access_url, external_ips, internal_ips], [['198.18.0.1'], ['198.18.0.1'], ['10.0.0.1']]);
  assert.is(start_time, new Date(fixture.clock.now() / 1000).toISOString().replace('.000', ''));
});

test('creates the root volume with the instance and counts its storage once', async () => {
  const [volume, ...others] = (await admin.get('/api/aws-volumes/')).body;
  assert.equal(others, []);
  const {
    backend_id,
    device,
    instance,
    name,
    region_name,
    resource_type,
    runtime_state,
    size: gigabytes,
    state,
    volume_type,
  } = volume;
  assert.match(backend_id, /^vol-[0-9a-f]{17}$/);
  assert.equal(
    { device, instance, name, region_name, resource_type, runtime_state, size: gigabytes, state, volume_type },
    {
      device: '/dev/sda1',
      instance: web.url,
      name: 'volume-web',
      region_name: 'EU (Ireland)',
      resource_type: 'Amazon.Volume',
      runtime_state: 'inuse',
      size: 8192,
      state: 'OK',
      volume_type: 'gp2',
    },
  );
  const related = {
    url: volume.url,
    uuid: volume.uuid,
    name: 'volume-web',
    resource_type: 'Amazon.Volume',
    state: 'OK',
  };
  assert.equal((await present(web)).related_resources, [related]);
  assert.equal((await present(volume)).related_resources, [
    { url: web.url, uuid: web.uuid, name: 'web', resource_type: 'Amazon.Instance', state: 'OK' },
  ]);
  assert.equal(await usages(fixture, cloud.link), { ram: 1024, storage: 8192, vcpu: 1 });
  assert.equal(await usages(fixture, cloud.service), { instance_count: 1, volume_count: 1 });
  assert.equal(await usages(fixture, people.project), {
    nc_resource_count: 2,
    nc_service_project_link_count: 1,
    nc_storage_count: 1,
    nc_vm_count: 1,
    nc_volume_count: 1,
    nc_volume_size: 8192,
  });
  launched = fixture.events();
});

test('records the caller in events, without the address in those of jobs', async () => {
  const { backend_id: _, ...volume } = (await admin.get('/api/aws-volumes/')).body[0];
  const place = {
    ...inProject(people.project, people.customer),
    service_uuid: cloud.service.uuid,
    service_name: 'Cloud',
    service_type: 'Amazon',
    settings_uuid: cloud.settings.uuid,
    settings_name: 'Cloud',
    service_settings_type: 'Amazon',
  };
  const about = (kind: string, object: Json): Record<string, string> => ({
    resource_uuid: object.uuid,
    resource_name: object.name,
    resource_full_name: `Amazon ${kind} ${object.name}`,
    resource_type: `Amazon.${kind}`,
    ...place,
  });
  assert.equal(launched, [
    expectedEvent(
      'resource_creation_scheduled',
      'Resource web creation has been scheduled.',
      by(people.users.admin),
      about('Instance', web),
    ),
    expectedEvent(
      'resource_creation_succeeded',
      'Resource volume-web has been created.',
      inJobOf(people.users.admin),
      about('Volume', volume),
    ),
    expectedEvent(
      'resource_creation_succeeded',
      'Resource web has been created.',
      inJobOf(people.users.admin),
      about('Instance', web),
    ),
  ]);
});

test('rejects starting a running instance', async () => {
  assert.equal(await act('start'), [409, { detail: 'Valid runtime states for operation: stopped.' }]);
});

test('rejects resizing a running instance', async () => {
  assert.equal(await act('resize', { size: (await size('m4.large')).url }), [
    409,
    { detail: 'Instance runtime state must be in one of offline states.' },
  ]);
});

test('restart keeps it running', async () => {
  assert.equal(await act('restart'), [202, { status: 'restart was scheduled' }]);
  assert.equal(await collectStates(fixture, web.url), ['Update Scheduled running', 'Updating running', 'OK running']);
  assert.equal(messages(), ['Resource web has been scheduled to restart.', 'Resource web has been restarted.']);
});

test('stop: stopping, then stopped, without a start time', async () => {
  assert.equal(await act('stop'), [202, { status: 'stop was scheduled' }]);
  assert.equal(await collectStates(fixture, web.url), ['Update Scheduled running', 'Updating stopping', 'OK stopped']);
  assert.is((await present(web)).start_time, null);
  assert.equal(messages(), ['Resource web has been scheduled to stop.', 'Resource web has been stopped.']);
});

test('rejects stopping or restarting a stopped instance', async () => {
  for (const action of ['stop', 'restart'])
    assert.equal(await act(action), [409, { detail: 'Valid runtime states for operation: running.' }]);
});

test('resize rejects the current size, a smaller disk, and a size that is unavailable in the region', async () => {
  assert.equal(await act('resize', {}), [400, { size: ['This field is required.'] }]);
  assert.equal(await act('resize', { size: (await size('t2.micro')).url }), [
    400,
    { size: ['New size is the same as current.'] },
  ]);
  assert.equal(await act('resize', { size: (await size('m3.medium')).url }), [
    400,
    { size: ['New disk size should be greater than the previous value'] },
  ]);
});

test('resize keeps it stopped, and updates cores, ram, disk, the root volume and the link', async () => {
  assert.equal(await act('resize', { size: (await size('m4.large')).url }), [202, { status: 'resize was scheduled' }]);
  assert.equal(await usages(fixture, cloud.link), { ram: 8192, storage: 16384, vcpu: 2 });
  await step(fixture);
  const { action, action_details } = await present(web);
  assert.equal([action, action_details], ['resize', { size: 'm4.large' }]);
  assert.equal(await collectStates(fixture, web.url), ['Updating stopped', 'OK stopped']);
  const { cores, disk, ram } = await present(web);
  assert.equal([cores, ram, disk], [2, 8192, 16384]);
  assert.is((await first('aws-volumes/')).size, 16384);
  assert.equal(await usages(fixture, cloud.link), { ram: 8192, storage: 16384, vcpu: 2 });
  assert.equal(messages(), ['Amazon Instance web has been updated.']);
});

test('reverts the quotas of a failed resize', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'resize' });
  assert.equal(await act('resize', { size: (await size('m4.2xlarge')).url }), [
    202,
    { status: 'resize was scheduled' },
  ]);
  assert.equal(await usages(fixture, cloud.link), { ram: 32768, storage: 16384, vcpu: 8 });
  assert.equal((await collectStates(fixture, web.url)).at(-1), 'Erred stopped');
  assert.is((await present(web)).error_message, 'Simulated failure of resize');
  assert.equal(await usages(fixture, cloud.link), { ram: 8192, storage: 16384, vcpu: 2 });
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  fixture.events();
});

test('accepts only pull for an Erred instance, which recovers it', async () => {
  assert.equal(await act('start'), [409, { detail: 'Valid states for operation: OK.' }]);
  assert.equal(await act('pull'), [202, { detail: 'Pull operation was successfully scheduled.' }]);
  assert.equal((await collectStates(fixture, web.url)).at(-1), 'OK stopped');
  assert.equal(messages(), []);
});

test('start: pending, then running', async () => {
  assert.equal(await act('start'), [202, { status: 'start was scheduled' }]);
  assert.equal(await collectStates(fixture, web.url), ['Update Scheduled stopped', 'Updating pending', 'OK running']);
  assert.equal(messages(), ['Resource web has been scheduled to start.', 'Resource web has been started.']);
});

test('a failed start leaves the instance stopped and Erred', async () => {
  await act('stop');
  await work(fixture);
  await setOptions(fixture, cloud.settings, { simulator_failures: 'start' });
  fixture.events();
  await act('start');
  assert.equal(await collectStates(fixture, web.url), [
    'Update Scheduled stopped',
    'Updating pending',
    'Erred stopped',
  ]);
  const [, failed] = fixture.events();
  assert.equal(
    [failed?.type, failed?.level, failed?.message],
    ['resource_start_failed', 'error', 'Resource web start has failed.'],
  );
  assert.is(failed?.context.error_message, 'Simulated failure of start');
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await act('pull');
  await work(fixture);
});

test('update changes name, description and tags only locally', async () => {
  fixture.events();
  const updated = await admin.patch(web.url, { name: 'www', tags: [] });
  assert.equal([updated.status, updated.body.name, updated.body.tags, updated.body.state], [200, 'www', [], 'OK']);
  assert.equal(messages(), ["Amazon Instance www has been updated. Name has been changed from 'web' to 'www'."]);
});

test('destroy: shutting-down until it is removed, with its root volume', async () => {
  const response = await admin.delete(web.url);
  assert.equal([response.status, response.body], [202, { detail: 'Deletion was scheduled.' }]);
  assert.equal(await collectStates(fixture, web.url), ['Deletion Scheduled stopped', 'Deleting shutting-down', 'gone']);
  assert.equal((await admin.get('/api/resources/')).body, []);
  assert.equal(await usages(fixture, cloud.link), {});
  assert.equal(await usages(fixture, people.project), { nc_service_project_link_count: 1 });
  assert.equal(messages(), [
    'Resource www deletion has been scheduled.',
    'Amazon Volume volume-web has been deleted.',
    'Amazon Instance www has been deleted.',
  ]);
});

test('a deletion times out after 25 minutes', async () => {
  await setOptions(fixture, cloud.settings, { simulator_latency: 'delete=600000,*=0' });
  web = (await create({ name: 'slow' })).body;
  await work(fixture);
  for (const [minutes, state] of [
    [26, 'Erred shutting-down'],
    [24, 'gone'],
  ] as const) {
    await admin.delete(web.url);
    await step(fixture);
    fixture.clock.advance(minutes * 60);
    assert.equal((await collectStates(fixture, web.url)).at(-1), state);
    await act('pull');
    await work(fixture);
  }
  await setOptions(fixture, cloud.settings, { simulator_latency: '0' });
});

test('a failed launch leaves an Erred instance without id and without root volume', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'Instance.create' });
  web = (await create()).body;
  assert.equal(await collectStates(fixture, web.url), ['Creation Scheduled', 'Creating pending', 'Erred']);
  const { backend_id, error_message } = await present(web);
  assert.equal([backend_id, error_message], ['', 'Simulated failure of create']);
  assert.equal((await admin.get('/api/aws-volumes/')).body, []);
  assert.is((await admin.delete(web.url)).status, 202);
  assert.equal((await collectStates(fixture, web.url)).at(-1), 'gone');
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
});

test('a forced deletion and an unlink also remove the root volume', async () => {
  for (const part of ['delete', 'unlink']) {
    web = (await create({ name: part })).body;
    await work(fixture);
    assert.equal(
      (await admin.get('/api/aws-volumes/')).body.map(({ name }: Json) => name),
      [`volume-${part}`],
    );
    if (part === 'unlink') {
      assert.equal(await act('unlink'), [204, undefined]);
    } else {
      await setOptions(fixture, cloud.settings, { simulator_failures: 'delete' });
      await admin.delete(web.url);
      assert.equal((await collectStates(fixture, web.url)).at(-1), 'Erred running');
      await admin.delete(web.url);
      assert.equal((await collectStates(fixture, web.url)).at(-1), 'gone');
      await setOptions(fixture, cloud.settings, { simulator_failures: null });
    }
    assert.equal((await admin.get('/api/resources/')).body, []);
    assert.equal(await usages(fixture, cloud.link), {});
  }
});

test('truncates the name of a root volume to the maximum length', async () => {
  web = (await create({ name: 'w'.repeat(150) })).body;
  await work(fixture);
  assert.is((await first('aws-volumes/')).name, `volume-${'w'.repeat(143)}`);
});

test('rejects instances above the quota of the service', async () => {
  const quota = (await fixture.staff.get(cloud.service.url)).body.quotas.find(
    ({ name }: Json) => name === 'instance_count',
  );
  await fixture.staff.patch(quota.url, { limit: 1 });
  const rejection = await create({ name: 'second' });
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'One or more quotas were exceeded: instance_count quota limit: 1.0, requires 2.0 (Cloud)' }],
  );
});

test('describes the available actions of an instance in OPTIONS, with denial reasons', async () => {
  const { actions } = (await people.clients.owner.options(web.url)).body;
  assert.equal(
    Object.fromEntries(Object.entries<Json>(actions).map(([name, { enabled, reason }]) => [name, enabled || reason])),
    {
      destroy: true,
      pull: true,
      resize: 'Instance runtime state must be in one of offline states.',
      restart: true,
      start: 'Valid runtime states for operation: stopped.',
      stop: true,
      unlink: true,
      update: true,
    },
  );
});

test('OPTIONS of the list shows the fields of a creation and of a resize', async () => {
  const { actions } = (await admin.options('/api/aws-instances/')).body;
  const types = (fields: Json): unknown =>
    Object.fromEntries(
      Object.entries<Json>(fields).map(([name, { required, type }]) => [name, `${type}${required ? '*' : ''}`]),
    );
  assert.equal(types(actions.POST), {
    name: 'string*',
    description: 'string',
    service_project_link: 'select*',
    user_data: 'string',
    ssh_public_key: 'select',
    region: 'select*',
    image: 'select*',
    size: 'select*',
  });
  assert.equal(types(actions.resize.fields), { size: 'select*' });
  assert.equal(Object.keys(actions), [
    'POST',
    'destroy',
    'pull',
    'resize',
    'restart',
    'start',
    'stop',
    'unlink',
    'update',
  ]);
});

test.run();
