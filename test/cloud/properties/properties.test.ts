import * as assert from 'uvu/assert';
import { newUuid } from '../../../src/kernel/app.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { catalogue } from '../../support/catalogue.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { type SimulatedService, simulatedService } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('properties, common rules (providers.md 1.3)');
let people: Personas;
let cloud: Droplets;
let office: SimulatedService;

test.before(async () => {
  people = await createPersonas(fixture);
  cloud = await dropletService(fixture, people);
  office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
});

const sizes = '/api/digitalocean-sizes/';
const names = async (path: string, client = fixture.staff): Promise<string[]> =>
  (await client.get(path)).body.map(({ name }: Json) => name);

for (const { kind, name } of catalogue.propertyKinds) {
  test(`${name} serves only GET of list and detail, by default ordered by name`, async () => {
    const path = `/api/${kind.path}/`;
    const listed = await fixture.staff.get(path);
    assert.equal([listed.status, listed.headers.get('allow')], [200, 'GET, HEAD, OPTIONS']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      assert.is((await fixture.staff.send(method, path, {})).status, 405);
    const [first] = listed.body;
    if (!first) return;
    assert.equal(
      [(await fixture.staff.get(first.url)).body, Object.keys(first).slice(0, 3)],
      [first, ['url', 'uuid', 'name']],
    );
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      assert.is((await fixture.staff.send(method, first.url, {})).status, 405);
    assert.equal((await names(`${path}?o=-name`)).reverse(), await names(path));
  });
}

test('filters: part of the name, the exact name, the settings that use it', async () => {
  assert.equal(await names(`${sizes}?name=2VCPU`), ['s-2vcpu-4gb']);
  assert.equal(await names(`${sizes}?name_exact=s-2vcpu`), []);
  assert.equal(await names(`${sizes}?name_exact=s-2vcpu-4gb`), ['s-2vcpu-4gb']);
  assert.is((await names(`${sizes}?settings_uuid=${cloud.settings.uuid}`)).length, 5);
  assert.is((await names(`${sizes}?settings=${cloud.settings.url}`)).length, 5);
  assert.equal(await names(`${sizes}?settings_uuid=${office.settings.uuid}`), []);
  assert.equal(await names(`${sizes}?settings_uuid=${'0'.repeat(32)}`), []);
  assert.equal((await fixture.staff.get(`${sizes}?settings_uuid=x`)).body, {
    settings_uuid: ['"x" is not a valid UUID.'],
  });
  assert.equal((await fixture.staff.get(`${sizes}?settings=${people.project.url}`)).body, {
    settings: ['Invalid hyperlink - Incorrect URL match.'],
  });
  assert.equal((await fixture.staff.get(`${sizes}?o=disk`)).status, 200);
  assert.equal((await fixture.staff.get(`${sizes}?o=transfer`)).body, { o: ['"transfer" is not a valid choice.'] });
});

test('global properties are readable by every user, and stored once for the simulator', async () => {
  await simulatedService(fixture, 'digitalocean', people, { name: 'Second' });
  assert.is((await names(sizes)).length, 5);
  const lengths = await asEachPersona(people, async (client) => (await names(sizes, client)).length);
  assert.equal([...new Set(Object.values(lengths))], [5]);
});

test('properties of settings are readable by users who can see the settings or a service on them', async () => {
  const path = '/api/jira-issue-types/';
  const lengths = await asEachPersona(people, async (client) => (await names(path, client)).length);
  assert.equal(lengths, { staff: 5, support: 5, owner: 5, helper: 5, manager: 5, admin: 5, observer: 5, stranger: 0 });
  const [{ url }] = (await fixture.staff.get(path)).body;
  assert.is((await people.clients.stranger.get(url)).status, 404);
  const second = await simulatedService(fixture, 'jira', people, { name: 'Second office' });
  assert.is((await names(path)).length, 10, 'each settings have their own');
  assert.is((await names(`${path}?settings_uuid=${second.settings.uuid}`)).length, 5);
  assert.equal(await names(`${path}?settings_uuid=${second.settings.uuid}`, people.clients.stranger), []);
  assert.is((await names('/api/jira-project-templates/', people.clients.stranger)).length, 5, 'templates are global');
});

test('a real backend has a separate set; a property of another set does not exist', async () => {
  const { app } = fixture.server;
  const uuid = newUuid(app);
  const settings = (
    await fixture.staff.post('/api/service-settings/', {
      name: 'Real',
      type: 'DigitalOcean',
      backend_url: 'https://ocean.example.com/v2',
      token: 'x',
    })
  ).body;
  app.db.write(() =>
    app.db.insert('property', {
      uuid,
      kind: 'DigitalOcean.Region',
      settings_id: app.db.scalar<number>(sql`SELECT id FROM service_settings WHERE uuid = ${settings.uuid}`),
      backend_id: 'moon1',
      name: 'Moon 1',
    }),
  );
  const regions = '/api/digitalocean-regions/';
  assert.equal(await names(`${regions}?settings_uuid=${settings.uuid}`), ['Moon 1']);
  assert.not((await names(`${regions}?settings_uuid=${cloud.settings.uuid}`)).includes('Moon 1'));
  const rejection = await fixture.staff.post(
    '/api/digitalocean-droplets/',
    cloud.body({ region: `${fixture.url}${regions}${uuid}/` }),
  );
  assert.equal([rejection.status, rejection.body], [400, { region: ['Invalid hyperlink - Object does not exist.'] }]);
  const unseen = await people.clients.admin.post(
    '/api/digitalocean-droplets/',
    cloud.body({ image: `${fixture.url}${regions}${uuid}/` }),
  );
  assert.equal([unseen.status, unseen.body], [400, { image: ['Invalid hyperlink - Incorrect URL match.'] }]);
});

test.run();
