import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('service certifications (services.md 3)');
let people: Personas;
const path = '/api/service-certifications/';

test.before(async () => {
  people = await createPersonas(fixture);
});

const make = async (name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  (await fixture.staff.post(path, { name, ...fields })).body;

test('staff create a certification; description and link default to empty', async () => {
  const response = await fixture.staff.post(path, { name: ' ISO 27001 ', link: 'https://iso.example.com' });
  const { uuid } = response.body;
  const displayed = {
    url: `${fixture.url}${path}${uuid}/`,
    uuid,
    name: 'ISO 27001',
    description: '',
    link: 'https://iso.example.com',
  };
  assert.equal([response.status, response.body, response.headers.get('location')], [201, displayed, displayed.url]);
  assert.equal(Object.keys(response.body), Object.keys(displayed));
  assert.equal(fixture.events(), [], 'certifications emit no events');
});

test('lists certifications to any user, by name in descending order', async () => {
  await make('PCI DSS');
  const names = async (query: string): Promise<string[]> =>
    (await fixture.staff.get(path + query)).body.map(({ name }: Json) => name);
  assert.equal(await names(''), ['PCI DSS', 'ISO 27001']);
  assert.equal(await names('?o=name'), ['ISO 27001', 'PCI DSS']);
  assert.equal(await names('?o=-name'), ['PCI DSS', 'ISO 27001']);
  assert.equal(await names('?name=pci'), ['PCI DSS']);
  assert.equal(
    Object.values(await asEachPersona(people, async (client) => (await client.get(path)).body.length)),
    [2, 2, 2, 2, 2, 2, 2, 2],
  );
});

test('requires a unique name of at most 150 characters and a valid URL as link', async () => {
  const rejection = async (fields: Readonly<Record<string, unknown>>): Promise<unknown> =>
    (await fixture.staff.post(path, fields)).body;
  assert.equal(await rejection({}), { name: ['This field is required.'] });
  assert.equal(await rejection({ name: 'ISO 27001' }), {
    name: ['Service Certification with this name already exists.'],
  });
  assert.equal(await rejection({ name: 'x'.repeat(151), description: 'x'.repeat(501), link: 'nowhere' }), {
    name: ['Ensure this field has no more than 150 characters.'],
    description: ['Ensure this field has no more than 500 characters.'],
    link: ['Enter a valid URL.'],
  });
});

test('PUT requires the name, PATCH requires nothing', async () => {
  const created = await make('SOC 2', { description: 'Old' });
  const put = await fixture.staff.put(created.url, { name: 'SOC 3' });
  assert.equal([put.status, put.body], [200, { ...created, name: 'SOC 3' }]);
  const rejection = await fixture.staff.put(created.url, { description: 'New' });
  assert.equal([rejection.status, rejection.body], [400, { name: ['This field is required.'] }]);
  const patched = await fixture.staff.patch(created.url, { description: 'New' });
  assert.equal([patched.status, patched.body.description], [200, 'New']);
});

test('only staff write; others get 403 before the body is read', async () => {
  const [{ url }] = (await fixture.staff.get(path)).body;
  for (const [method, target] of [
    ['POST', path],
    ['PUT', url],
    ['PATCH', url],
    ['DELETE', url],
  ] as const) {
    const statuses = await asEachPersona(people, async (client, part) =>
      part === 'staff' ? 403 : (await client.send(method, target, { name: '' })).status,
    );
    assert.equal([...new Set(Object.values(statuses))], [403], method);
  }
});

test('deleting a certification removes it from projects and settings', async () => {
  const created = await make('HIPAA');
  const list = { certifications: [{ url: created.url }] };
  const settings = (await fixture.staff.post('/api/service-settings/', { name: 'Ocean', type: 'DigitalOcean' })).body;
  for (const { url } of [people.project, settings])
    assert.is((await fixture.staff.post(`${url}update_certifications/`, list)).body.certifications.length, 1);
  assert.is((await fixture.staff.delete(created.url)).status, 204);
  for (const { url } of [people.project, settings])
    assert.equal((await fixture.staff.get(url)).body.certifications, []);
});

test('OPTIONS describes creation to staff, and the other methods to any user', async () => {
  const [{ url }] = (await fixture.staff.get(path)).body;
  const list = await fixture.staff.options(path);
  assert.equal(
    [list.status, list.body],
    [
      200,
      {
        actions: {
          POST: {
            name: { type: 'string', required: true, label: 'Name', max_length: 150 },
            description: { type: 'string', required: false, label: 'Description', max_length: 500 },
            link: { type: 'url', required: false, label: 'Link', max_length: 255 },
          },
        },
      },
    ],
  );
  assert.equal((await people.clients.owner.options(path)).body, { actions: {} });
  const reason = 'You do not have permission to perform this action.';
  assert.equal((await people.clients.owner.options(url)).body, {
    actions: {
      destroy: { title: 'Destroy', method: 'DELETE', destructive: true, url, reason, enabled: false },
      update: { title: 'Update', method: 'PUT', destructive: false, url, reason, enabled: false },
    },
  });
  assert.equal((await fixture.staff.options(url)).body.actions.destroy, {
    title: 'Destroy',
    method: 'DELETE',
    destructive: true,
    url,
    reason: null,
    enabled: true,
    type: 'button',
  });
});

test.run();
