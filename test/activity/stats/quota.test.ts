import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { link, setQuota } from '../../support/links.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('GET /api/stats/quota/ (events.md 6.2)');
let people: Personas;
let sibling: Json;
let other: Json;
let remote: Json;

test.before(async () => {
  people = await createPersonas(fixture);
  sibling = await fixture.project('Sibling', people.customer);
  other = await fixture.customer('Other');
  remote = await fixture.project('Remote', other);
  await fixture.project('Empty', other);
  link(fixture, people.project, { vcpu: { limit: 10, usage: 5 }, ram: { usage: 4096 }, storage: { limit: 0.1 } });
  link(fixture, people.project, { vcpu: { limit: 100, usage: 7 }, ram: { limit: 8192, usage: 2048 } });
  link(fixture, sibling, { vcpu: { limit: 1, usage: 0.5 } });
  link(fixture, remote, { vcpu: { limit: 1000, usage: 50 } });
  link(fixture, remote);
});

const stats = async (query: string, client: Client = fixture.staff): Promise<Json> =>
  (await client.get(`/api/stats/quota/?${query}`)).body;
const ofProject = { ram: -1, ram_usage: 6144, storage: 0.1, storage_usage: 0, vcpu: 110, vcpu_usage: 12 };

test('returns a flat object with sorted keys: for each name the sum of limits, -1 if any is unlimited, and the sum of usages', async () => {
  assert.is(
    JSON.stringify(await stats(`aggregate=project&uuid=${people.project.uuid}&quota_name=vcpu&quota_name=ram`)),
    '{"ram":-1,"ram_usage":6144,"vcpu":110,"vcpu_usage":12}',
  );
  assert.is(JSON.stringify(await stats(`aggregate=project&uuid=${people.project.uuid}`)), JSON.stringify(ofProject));
  assert.equal(await stats(''), { ...ofProject, vcpu: 1111, vcpu_usage: 62.5 });
});

test('aggregate defaults to customer and selects the links of its projects; project selects those of the project', async () => {
  assert.equal(await stats(`uuid=${people.customer.uuid}`), { ...ofProject, vcpu: 111, vcpu_usage: 12.5 });
  assert.equal(await stats(`aggregate=customer&uuid=${other.uuid}`), { vcpu: 1000, vcpu_usage: 50 });
  assert.equal(await stats(`aggregate=project&uuid=${sibling.uuid}`), { vcpu: 1, vcpu_usage: 0.5 });
  assert.equal(await stats('aggregate=project'), await stats('aggregate=customer'));
  assert.equal(
    await stats(`aggregate=project&aggregate=customer&uuid=${other.uuid}`),
    { vcpu: 1000, vcpu_usage: 50 },
    'the last one counts',
  );
});

test('rejects another aggregate and a malformed uuid with 400', async () => {
  const response = await fixture.staff.get('/api/stats/quota/?aggregate=user');
  assert.equal([response.status, response.body], [400, { aggregate: ['"user" is not a valid choice.'] }]);
  assert.equal(await stats('uuid=x'), { uuid: ['"x" is not a valid UUID.'] });
});

test('returns an empty object for an unknown or unreadable uuid, one of another kind, and a project without links', async () => {
  const { owner } = people.clients;
  for (const query of [
    `uuid=${'0'.repeat(32)}`,
    `uuid=${people.project.uuid}`,
    `aggregate=project&uuid=${people.customer.uuid}`,
  ])
    assert.equal(await stats(query), {}, query);
  assert.equal(await stats(`uuid=${other.uuid}`, owner), {});
  assert.equal(await stats(`aggregate=project&uuid=${remote.uuid}`, owner), {});
});

test('counts the projects that the caller can read; requires a token', async () => {
  const { observer, owner, stranger, support } = people.clients;
  assert.equal(await stats('quota_name=vcpu', owner), { vcpu: 111, vcpu_usage: 12.5 });
  assert.equal(await stats('quota_name=vcpu', observer), { vcpu: 110, vcpu_usage: 12 });
  assert.equal(await stats(`quota_name=vcpu&uuid=${people.customer.uuid}`, observer), { vcpu: 110, vcpu_usage: 12 });
  assert.equal(await stats('quota_name=vcpu', support), { vcpu: 1111, vcpu_usage: 62.5 });
  assert.equal(await stats('', stranger), {});
  assert.is((await fixture.anonymous.get('/api/stats/quota/')).status, 401);
});

test('omits unknown names and the quotas of other objects', async () => {
  assert.equal(await stats('quota_name=nothing&quota_name=vcpu'), { vcpu: 1111, vcpu_usage: 62.5 });
  assert.equal(await stats('quota_name=nc_project_count'), {});
  assert.equal(await stats('quota_name=&undefined=1&page=7'), await stats(''));
});

test('sums the largest numbers without an error', async () => {
  const ids = [
    link(fixture, remote, { vcpu: { limit: 9e18, usage: 9e18 } }),
    link(fixture, remote, { vcpu: { limit: 9e18 } }),
  ];
  assert.equal(await stats(`aggregate=project&uuid=${remote.uuid}`), { vcpu: 1.8e19 + 1000, vcpu_usage: 9e18 + 50 });
  for (const id of ids) setQuota(fixture, 'link', id, 'vcpu', { limit: 1.7e308 });
  assert.equal(
    await stats(`aggregate=project&uuid=${remote.uuid}&quota_name=vcpu`),
    { vcpu: Number.MAX_VALUE, vcpu_usage: 9e18 + 50 },
    'JSON knows no infinity',
  );
  for (const id of ids) setQuota(fixture, 'link', id, 'vcpu', { limit: 0, usage: 0 });
});

test('serves only GET', async () => {
  const response = await fixture.staff.post('/api/stats/quota/', {});
  assert.equal([response.status, response.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
});

test.run();
