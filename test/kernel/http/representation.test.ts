/** core.md 1.6: representation. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test: representation, fixture } = suiteWithServer('representation');
let customer: Json;
let project: Json;

representation.before(async () => {
  customer = await fixture.customer('Ministry');
  project = await fixture.project('Bridge', customer);
});

representation('a uuid is 32 lower-case hex digits without dashes', async () => {
  for (const object of [customer, project, await fixture.user('alice')]) assert.match(object.uuid, /^[0-9a-f]{32}$/);
});

representation('accepts dashed and undashed uuids in queries, in either case', async () => {
  const dashed = customer.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (const uuid of [customer.uuid, dashed, dashed.toUpperCase()]) {
    const { body } = await fixture.staff.get(`/api/projects/?customer=${uuid}`);
    assert.equal(
      body.map(({ name }: Json) => name),
      ['Bridge'],
    );
  }
  assert.is((await fixture.staff.get(`/api/projects/?customer=${dashed.replace('-', '')}`)).status, 400);
});

representation('links are absolute, and their second last segment is the key of the object', async () => {
  assert.is(customer.url, `${fixture.url}/api/customers/${customer.uuid}/`);
  assert.equal([project.url, project.customer], [`${fixture.url}/api/projects/${project.uuid}/`, customer.url]);
  const permission = await fixture.grant(project, await fixture.user('bob'), 'admin');
  assert.is(permission.url.split('/').at(-2), String(permission.pk));
});

representation('links follow the host of each request', async () => {
  const response = await sendOverWire(
    fixture.url,
    `GET ${new URL(project.url).pathname} HTTP/1.1`,
    'Host: other:99',
    `Authorization: Token ${fixture.staff.token}`,
    '',
  );
  assert.is(JSON.parse(response.body).customer, `http://other:99/api/customers/${customer.uuid}/`);
});

representation('datetimes are UTC with Z and up to 6 fraction digits, without a fraction when it is zero', async () => {
  assert.is(customer.created, '2018-01-05T04:47:04Z');
  fixture.clock.advance(0.25);
  assert.is((await fixture.customer('Later')).created, '2018-01-05T04:47:04.25Z');
  fixture.clock.set('2017-01-19T00:00:00Z');
  assert.is((await fixture.customer('Earlier')).created, '2017-01-19T00:00:00Z');
});

representation('an absent related object is null, and so are the values derived from it', async () => {
  assert.is(customer.image, null);
  const author = await fixture.user('author', { is_staff: true });
  const owner = await fixture.user('owner');
  const creation = await fixture
    .as('author')
    .post('/api/customer-permissions/', { customer: customer.url, user: owner.url, role: 'owner' });
  assert.is(creation.body.created_by, author.url);
  await fixture.staff.delete(author.url);
  assert.is((await fixture.staff.get(creation.body.url)).body.created_by, null);
});

representation('keys come in the documented order', async () => {
  assert.equal(Object.keys(customer), [
    'url',
    'uuid',
    'created',
    'name',
    'native_name',
    'abbreviation',
    'contact_details',
    'agreement_number',
    'email',
    'phone_number',
    'projects',
    'owners',
    'support_users',
    'registration_code',
    'quotas',
    'image',
    'country',
    'country_name',
    'vat_code',
    'is_company',
  ]);
  assert.equal(Object.keys(project), [
    'url',
    'uuid',
    'name',
    'customer',
    'customer_uuid',
    'customer_name',
    'customer_native_name',
    'customer_abbreviation',
    'description',
    'quotas',
    'services',
    'created',
    'certifications',
  ]);
});

representation('quota numbers are JSON numbers, -1 is unlimited', async () => {
  for (const { limit, usage } of customer.quotas) assert.equal([limit, usage], [-1, 0]);
  const { body } = await fixture.staff.get(customer.url);
  assert.equal(body.quotas.find(({ name }: Json) => name === 'nc_project_count').usage, 1);
});

representation('returns any text as it was sent', async () => {
  const text = '"quoted" \\ back\tslash </script> \u2028 é 漢字 😀 \' ?';
  const created = await fixture.customer(text);
  assert.is(created.name, text);
  assert.equal((await fixture.staff.get(created.url)).body, created);
});

representation.run();
