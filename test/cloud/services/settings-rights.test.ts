import * as assert from 'uvu/assert';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas, sameExcept } from '../../support/personas.ts';
import { simulatedService } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees and writes service settings (services.md 2.4)');
let people: Personas;
/** Settings by owner: the personas' customer, another customer, shared, shared with a customer, and neither. */
let settings: Readonly<Record<'own' | 'foreign' | 'shared' | 'sharedOwn' | 'nobodys', Json>>;

const body = (name: string, fields: Readonly<Record<string, unknown>>): Json => ({
  name,
  type: 'DigitalOcean',
  token: 'secret',
  ...fields,
});

test.before(async () => {
  people = await createPersonas(fixture);
  const other = await fixture.customer('Bob');
  const make = async (name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
    (await fixture.staff.post('/api/service-settings/', body(name, fields))).body;
  settings = {
    own: await make('own', { customer: people.customer.url }),
    foreign: await make('foreign', { customer: other.url }),
    shared: await make('shared', { shared: true }),
    sharedOwn: await make('sharedOwn', { shared: true, customer: people.customer.url }),
    nobodys: await make('nobodys'),
  };
});

const statuses = (ask: (client: Client) => Promise<{ status: number }>): Promise<Record<PersonaName, number>> =>
  asEachPersona(people, async (client) => (await ask(client)).status);
const all = ['foreign', 'nobodys', 'own', 'shared', 'sharedOwn'];
const ofCustomer = ['own', 'shared', 'sharedOwn'];
const common = ['shared', 'sharedOwn'];

test('staff and global support see all settings, owners and support of a customer its own and shared ones, other users the shared ones', async () => {
  const listed = await asEachPersona(people, async (client) =>
    (await client.get('/api/service-settings/')).body.map(({ name }: Json) => name).sort(),
  );
  assert.equal(listed, {
    staff: all,
    support: all,
    owner: ofCustomer,
    helper: ofCustomer,
    manager: common,
    admin: common,
    observer: common,
    stranger: common,
  });
  for (const [name, { url }] of Object.entries(settings)) {
    const expected = Object.fromEntries(
      Object.entries(listed).map(([part, names]) => [part, names.includes(name) ? 200 : 404]),
    );
    assert.equal(await statuses((client) => client.get(url)), expected, name);
    // No customer uses the shared settings yet, so only staff can read the customers that use them.
    const readers = Object.fromEntries(
      Object.entries(expected).map(([part, status]) => [
        part,
        status === 200 && common.includes(name) && !['staff', 'support'].includes(part) ? 403 : status,
      ]),
    );
    assert.equal(await statuses((client) => client.get(`${url}stats/`)), readers, `stats of ${name}`);
    assert.equal(await statuses((client) => client.options(url)), expected, `OPTIONS of ${name}`);
  }
});

test('details show credentials to staff for all settings, to owners for their private ones, and to no one else', async () => {
  const readers = async (name: keyof typeof settings): Promise<string[]> =>
    Object.entries(await asEachPersona(people, async (client) => (await client.get(settings[name].url)).body))
      .filter(([, displayed]) => 'token' in displayed)
      .map(([part]) => part);
  assert.equal(await readers('own'), ['staff', 'owner']);
  for (const name of ['foreign', 'shared', 'sharedOwn', 'nobodys'] as const)
    assert.equal(await readers(name), ['staff'], name);
  const listed = await asEachPersona(people, async (client) =>
    (await client.get('/api/service-settings/')).body.some((item: Json) => 'token' in item || 'backend_url' in item),
  );
  assert.equal(Object.values(listed).filter(Boolean), []);
});

const privateWrites = {
  staff: 200,
  support: 403,
  owner: 200,
  helper: 403,
  manager: 404,
  admin: 404,
  observer: 404,
  stranger: 404,
};
const sharedWrites = sameExcept(403, { staff: 200 });
const invisible = sameExcept(404, { staff: 200, support: 403 });

for (const [name, expected] of [
  ['own', privateWrites],
  ['shared', sharedWrites],
  ['sharedOwn', sharedWrites],
  ['foreign', invisible],
  ['nobodys', invisible],
] as const) {
  test(`${name}: PUT, PATCH and update_certifications require the right, and others get 403 before their body is read`, async () => {
    const { url } = settings[name];
    assert.equal(await statuses((client) => client.put(url, { name })), expected);
    assert.equal(await statuses((client) => client.patch(url, {})), expected);
    assert.equal(
      await statuses((client) => client.post(`${url}update_certifications/`, { certifications: [] })),
      expected,
    );
    const wrong = Object.fromEntries(
      Object.entries(expected).map(([part, status]) => [part, status === 200 ? 400 : status]),
    );
    assert.equal(await statuses((client) => client.put(url, {})), wrong);
  });
}

test('DELETE requires the right to write', async () => {
  for (const [name, expected] of [
    ['own', privateWrites],
    ['shared', sharedWrites],
  ] as const) {
    const rejection = await asEachPersona(people, async (client, part) =>
      expected[part] === 200 ? expected[part] : (await client.delete(settings[name].url)).status,
    );
    assert.equal(rejection, expected);
  }
  const mine = (
    await people.clients.owner.post('/api/service-settings/', body('mine', { customer: people.customer.url }))
  ).body;
  assert.is((await people.clients.owner.delete(mine.url)).status, 204);
});

test('POST: staff for any user, owners for their customer; a visible customer that is not owned is 403, an invisible one 400', async () => {
  const created: string[] = [];
  const create =
    (customer: string) =>
    async (client: Client): Promise<{ status: number }> => {
      const response = await client.post('/api/service-settings/', body('new', { customer }));
      if (response.status === 201) created.push(response.body.url);
      return response;
    };
  assert.equal(await statuses(create(people.customer.url)), sameExcept(403, { staff: 201, owner: 201, stranger: 400 }));
  assert.equal(await statuses(create(settings.foreign.customer)), sameExcept(400, { staff: 201, support: 403 }));
  assert.is((await fixture.anonymous.post('/api/service-settings/', {})).status, 401);
  for (const url of created) await fixture.staff.delete(url);
});

test('with only_staff_manages_services only staff write settings, services or links; others are rejected before the body is read', async () => {
  const strict = await Fixture.start({ only_staff_manages_services: true });
  try {
    const company = await createPersonas(strict);
    const {
      customer,
      clients: { owner },
    } = company;
    const cloud = await simulatedService(strict, 'digitalocean', company);
    const requests: [method: string, path: string][] = [
      ['POST', '/api/service-settings/'],
      ['PUT', cloud.settings.url],
      ['PATCH', cloud.settings.url],
      ['DELETE', cloud.settings.url],
      ['POST', `${cloud.settings.url}update_certifications/`],
      ['POST', '/api/digitalocean/'],
      ['PUT', cloud.service.url],
      ['PATCH', cloud.service.url],
      ['DELETE', cloud.service.url],
      ['POST', `${cloud.service.url}unlink/`],
      ['GET', `${cloud.service.url}link/`],
      ['POST', `${cloud.service.url}link/`],
      ['POST', '/api/digitalocean-service-project-link/'],
      ['DELETE', cloud.link.url],
    ];
    for (const [method, path] of requests) {
      const response = await owner.send(method, path, method === 'GET' ? undefined : {});
      assert.equal(
        [response.status, response.body],
        [403, { detail: 'You do not have permission to perform this action.' }],
        `${method} ${path}`,
      );
    }
    const created = await strict.staff.post('/api/service-settings/', body('staff', { customer: customer.url }));
    assert.is(created.status, 201);
    assert.equal((await owner.options('/api/digitalocean/')).body, { actions: {} });
    assert.equal((await owner.options('/api/digitalocean-service-project-link/')).body, { actions: {} });
    assert.equal(Object.keys((await strict.staff.options('/api/digitalocean/')).body.actions), ['POST']);
  } finally {
    await strict.close();
  }
});

test.run();
