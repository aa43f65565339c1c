import * as assert from 'uvu/assert';
import { catalogue } from '../../support/catalogue.ts';
import { createDroplet, type Droplets } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import type { Personas } from '../../support/personas.ts';
import { setOptions, simulatedService, step, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('OPTIONS of resources (services.md 9)');
let people: Personas;
let cloud: Droplets;
let droplet: Json;

test.before(async () => {
  ({ people, cloud, droplet } = await createDroplet(fixture));
});

const list = '/api/digitalocean-droplets/';
const actionsOf = async (url: string, client = people.clients.admin): Promise<Json> =>
  (await client.options(url)).body.actions;
const reasons = async (client = people.clients.admin): Promise<Json> =>
  Object.fromEntries(
    Object.entries(await actionsOf(droplet.url, client)).map(([name, action]) => [name, (action as Json).reason]),
  );

test('a list shows the fields of creation and every action of the kind', async () => {
  const { body } = await people.clients.stranger.options(list);
  assert.equal(Object.keys(body), ['actions']);
  const { POST, ...actions } = body.actions;
  assert.equal(Object.keys(POST), [
    'name',
    'description',
    'service_project_link',
    'user_data',
    'ssh_public_key',
    'region',
    'image',
    'size',
  ]);
  assert.equal(POST.name, { type: 'string', required: true, label: 'Name', max_length: 150 });
  assert.equal(POST.user_data, {
    type: 'string',
    required: false,
    label: 'User data',
    help_text: 'User data for the first start of the machine.',
    max_length: 65_536,
  });
  assert.equal(Object.keys(actions), ['destroy', 'pull', 'resize', 'restart', 'start', 'stop', 'unlink', 'update']);
  assert.equal(actions.start, { title: 'Start', method: 'POST', destructive: false, type: 'button' });
  assert.equal(actions.destroy, { title: 'Destroy', method: 'DELETE', destructive: true, type: 'button' });
  assert.equal(actions.unlink, { title: 'Unlink', method: 'POST', destructive: true, type: 'button' });
  assert.equal(
    [actions.update.method, actions.update.type, actions.update.fields],
    [
      'PUT',
      'form',
      {
        name: { type: 'string', required: true, label: 'Name', max_length: 150 },
        description: { type: 'string', required: false, label: 'Description', max_length: 500 },
      },
    ],
  );
  assert.equal([actions.resize.type, Object.keys(actions.resize.fields)], ['form', ['size', 'disk']]);
});

test('a link is chosen from the list of its collection: keys of the caller, properties of the settings', async () => {
  const { POST } = await actionsOf(list);
  const select = (path: string): Json => ({
    type: 'select',
    url: `${fixture.url}/api/${path}`,
    value_field: 'url',
    display_name_field: 'name',
  });
  const of = ({ display_name_field, type, url, value_field }: Json): Json => ({
    type,
    url,
    value_field,
    display_name_field,
  });
  assert.equal(of(POST.service_project_link).url, `${fixture.url}/api/digitalocean-service-project-link/`);
  assert.equal(of(POST.ssh_public_key), select(`keys/?user_uuid=${people.users.admin.uuid}`));
  assert.equal(of(POST.image), select('digitalocean-images/'));
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  const { resize } = await actionsOf(droplet.url);
  assert.equal(
    of(resize.fields.size),
    select(`digitalocean-sizes/?settings_uuid=${cloud.settings.uuid}`),
    'narrowed on the address of a resource',
  );
  assert.equal((await fixture.staff.get(resize.fields.size.url)).body.length, 5);
  await fixture.staff.post(`${droplet.url}start/`);
  await work(fixture);
});

test('a resource shows every action with its URL, whether the caller may run it now, and the reason if not', async () => {
  const actions = await actionsOf(droplet.url);
  assert.equal(Object.keys(actions), ['destroy', 'pull', 'resize', 'restart', 'start', 'stop', 'unlink', 'update']);
  const { url } = droplet;
  assert.equal(actions.stop, {
    title: 'Stop',
    method: 'POST',
    destructive: false,
    url: `${url}stop/`,
    reason: null,
    enabled: true,
    type: 'button',
  });
  assert.equal(actions.start, {
    title: 'Start',
    method: 'POST',
    destructive: false,
    url: `${url}start/`,
    reason: 'Valid runtime states for operation: offline.',
    enabled: false,
  });
  assert.equal(
    [actions.destroy.url, actions.update.url, actions.destroy.method, actions.update.method],
    [url, url, 'DELETE', 'PUT'],
  );
  for (const action of Object.values(actions) as Json[]) {
    assert.is(action.enabled, action.reason === null);
    assert.is('type' in action, action.enabled);
  }
});

test('the reason equals the message of the rejection, in every state', async () => {
  const { admin } = people.clients;
  const bodies: Json = { update: { name: 'web' }, resize: { size: cloud.catalogue.large, disk: false } };
  const states = [
    async (): Promise<void> => undefined,
    async (): Promise<void> => void (await admin.post(`${droplet.url}stop/`)),
    async (): Promise<void> => step(fixture),
    async (): Promise<void> => {
      await work(fixture);
      await setOptions(fixture, cloud.settings, { simulator_failures: 'start' });
      await admin.post(`${droplet.url}start/`);
      await work(fixture);
    },
  ];
  const seen = new Set<string>();
  for (const reach of states) {
    await reach();
    seen.add((await fixture.staff.get(droplet.url)).body.state);
    for (const [name, { enabled, method, reason, url }] of Object.entries(await actionsOf(droplet.url)) as [
      string,
      Json,
    ][]) {
      if (enabled) continue;
      const response = await admin.send(method, url, bodies[name]);
      const isDenied = name === 'unlink';
      assert.equal([response.status, response.body], [isDenied ? 403 : 409, { detail: reason }], name);
    }
  }
  assert.equal([...seen], ['OK', 'Update Scheduled', 'Updating', 'Erred']);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
});

test('users who may not change a resource get that reason for every action', async () => {
  for (const part of ['support', 'helper', 'observer'] as const) {
    assert.equal(
      [...new Set(Object.values(await reasons(people.clients[part])))],
      ['You do not have permission to perform this action.'],
      part,
    );
  }
  assert.is((await people.clients.stranger.options(droplet.url)).status, 404);
  assert.is((await fixture.anonymous.options(list)).status, 401);
});

test('other users get the reason for actions of staff', async () => {
  const office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
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
  assert.equal(Object.keys(await actionsOf(project.url)), ['destroy', 'pull', 'unlink', 'update']);
  assert.is((await actionsOf(project.url)).destroy.reason, 'You do not have permission to perform this action.');
  assert.is((await actionsOf(project.url, fixture.staff)).destroy.reason, null);
});

/** The possible types of a form field. */
const types = [
  'string',
  'text',
  'integer',
  'float',
  'boolean',
  'choice',
  'select',
  'url',
  'email',
  'datetime',
  'file upload',
  'list',
  'nested object',
];

for (const { kind, name } of catalogue.kinds) {
  test(`${name}: POST is described where it is served, and every action is a path that serves its method`, async () => {
    const path = `/api/${kind.path}/`;
    const { headers, body } = await fixture.staff.options(path);
    assert.is('POST' in body.actions, headers.get('allow')?.includes('POST'));
    for (const [action, { destructive, fields = {}, method, title }] of Object.entries(body.actions) as [
      string,
      Json,
    ][]) {
      if (action === 'POST') continue;
      assert.is(
        title,
        action
          .split('_')
          .map((word) => word[0]?.toUpperCase() + word.slice(1))
          .join(' '),
      );
      assert.is(destructive, action === 'destroy' || action === 'unlink');
      const tail = action === 'destroy' || action === 'update' ? '' : `${action}/`;
      const allow = (await fixture.staff.options(`${path}${'0'.repeat(32)}/${tail}`)).headers.get('allow');
      assert.ok(allow?.split(', ').includes(method), `${action}: ${method} of ${allow}`);
      for (const field of Object.values(fields) as Json[])
        assert.ok(types.includes(field.type), `${action}: ${field.type}`);
    }
    for (const field of Object.values(body.actions.POST ?? {}) as Json[])
      assert.ok(types.includes(field.type), field.type);
  });
}

test.run();
