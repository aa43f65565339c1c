import * as assert from 'uvu/assert';
import { byStaff, type Json, start } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { whole as commonFields, customerEvent } from './customer.ts';

const { test, fixture } = suiteWithServer('customers (core.md 6.1)');
let actor: Record<string, string>;

test.before(async () => {
  actor = await byStaff(fixture);
});
test.before.each(() => {
  fixture.events();
});

const whole = {
  ...commonFields,
  native_name: 'Алиса',
  agreement_number: 42,
  phone_number: '+44 20 7946 0000',
  registration_code: '12345',
};

test('creation returns the complete customer with its keys in order', async () => {
  const { status, body, headers } = await fixture.staff.post('/api/customers/', whole);
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.match(body.uuid, /^[0-9a-f]{32}$/);
  const quotas = body.quotas;
  assert.equal(
    Object.entries(body),
    Object.entries({
      url: `${fixture.url}/api/customers/${body.uuid}/`,
      uuid: body.uuid,
      created: start,
      name: 'Alice Ltd',
      native_name: 'Алиса',
      abbreviation: 'ALC',
      contact_details: 'Baker Street 221b',
      agreement_number: 42,
      email: 'office@alice.example',
      phone_number: '+44 20 7946 0000',
      projects: [],
      owners: [],
      support_users: [],
      registration_code: '12345',
      quotas,
      image: null,
      country: 'EE',
      country_name: 'Estonia',
      vat_code: 'EE123456789',
      is_company: true,
    }),
  );
  assert.equal((await fixture.staff.get(body.url)).body, body);
  assert.equal(fixture.events(), [customerEvent(actor, 'customer_creation_succeeded', 'created', body)]);
});

test('requires only the name; other texts default to empty, agreement_number to null, is_company to false', async () => {
  const { body } = await fixture.staff.post('/api/customers/', { name: 'Plain' });
  const { url, uuid, created, quotas, ...rest } = body;
  assert.equal(rest, {
    name: 'Plain',
    native_name: '',
    abbreviation: '',
    contact_details: '',
    agreement_number: null,
    email: '',
    phone_number: '',
    projects: [],
    owners: [],
    support_users: [],
    registration_code: '',
    image: null,
    country: '',
    country_name: '',
    vat_code: '',
    is_company: false,
  });
  assert.equal((await fixture.staff.post('/api/customers/', {})).body, { name: ['This field is required.'] });
});

test('a new customer has its eleven quotas, unlimited and unused, ordered by name', async () => {
  const { quotas } = await fixture.customer('Quoted');
  assert.equal(
    quotas.map((quota: Json) => [quota.name, quota.limit, quota.usage]),
    [
      ['nc_app_count', -1, 0],
      ['nc_private_cloud_count', -1, 0],
      ['nc_project_count', -1, 0],
      ['nc_resource_count', -1, 0],
      ['nc_service_count', -1, 0],
      ['nc_service_project_link_count', -1, 0],
      ['nc_snapshot_size', -1, 0],
      ['nc_storage_count', -1, 0],
      ['nc_user_count', -1, 0],
      ['nc_vm_count', -1, 0],
      ['nc_volume_size', -1, 0],
    ],
  );
  for (const quota of quotas) {
    assert.equal(Object.keys(quota), ['url', 'uuid', 'name', 'limit', 'usage']);
    assert.is(quota.url, `${fixture.url}/api/quotas/${quota.uuid}/`);
  }
});

test('names, abbreviations, emails and phone numbers are not unique', async () => {
  const fields = { name: 'Twin', abbreviation: 'TWN', email: 'twin@example.com', phone_number: '1' };
  assert.is((await fixture.staff.post('/api/customers/', fields)).status, 201);
  assert.is((await fixture.staff.post('/api/customers/', fields)).status, 201);
});

test('agreement_number is unique unless it is null', async () => {
  assert.is((await fixture.customer('First', { agreement_number: 7 })).agreement_number, 7);
  const response = await fixture.staff.post('/api/customers/', { name: 'Second', agreement_number: '7' });
  assert.equal(
    [response.status, response.body],
    [400, { agreement_number: ['organization with this agreement number already exists.'] }],
  );
  for (const empty of [null, '', undefined])
    assert.is((await fixture.customer('Without', { agreement_number: empty })).agreement_number, null);
});

test('rejects the second of two simultaneous creations with the same agreement_number', async () => {
  const responses = await Promise.all(
    [1, 2].map(() => fixture.staff.post('/api/customers/', { name: 'Racer', agreement_number: 77 })),
  );
  const [won, lost] = responses.sort((a, b) => a.status - b.status) as [Json, Json];
  assert.is(won.status, 201);
  assert.equal(
    [lost.status, lost.body],
    [400, { agreement_number: ['organization with this agreement number already exists.'] }],
  );
});

test('every field rejects values of another type or beyond its limit', async () => {
  const tooLong = (max: number) => [`Ensure this field has no more than ${max} characters.`];
  const long = (max: number) => 'x'.repeat(max + 1);
  const cases: [object, object][] = [
    ...[true, ['x'], { x: 1 }].flatMap((value): [object, object][] =>
      [
        'name',
        'native_name',
        'abbreviation',
        'contact_details',
        'email',
        'phone_number',
        'registration_code',
        'vat_code',
      ].map((field) => [{ [field]: value }, { [field]: ['Not a valid string.'] }]),
    ),
    ...[
      'name',
      'native_name',
      'abbreviation',
      'contact_details',
      'email',
      'phone_number',
      'registration_code',
      'vat_code',
      'country',
      'is_company',
    ].map((field): [object, object] => [{ [field]: null }, { [field]: ['This field may not be null.'] }]),
    ...Object.entries({
      name: 150,
      native_name: 160,
      abbreviation: 12,
      contact_details: 500,
      phone_number: 255,
      registration_code: 160,
      vat_code: 20,
    }).map(([field, max]): [object, object] => [{ [field]: long(max) }, { [field]: tooLong(max) }]),
    [{ name: ' \t ' }, { name: ['This field may not be blank.'] }],
    [{ name: 'a\0b' }, { name: ['Null characters are not allowed.'] }],
    [{ email: 'nobody' }, { email: ['Enter a valid email address.'] }],
    [{ email: `${'a'.repeat(250)}@b.ee` }, { email: tooLong(254) }],
    [{ agreement_number: -1 }, { agreement_number: ['Ensure this value is greater than or equal to 0.'] }],
    [{ agreement_number: 2 ** 31 }, { agreement_number: ['Ensure this value is less than or equal to 2147483647.'] }],
    ...[1.5, -1.5, true, 'seven', [7], {}].map((value): [object, object] => [
      { agreement_number: value },
      { agreement_number: ['A valid integer is required.'] },
    ]),
    [{ is_company: 'perhaps' }, { is_company: ['"perhaps" is not a valid boolean.'] }],
    [{ is_company: 2 }, { is_company: ['"2" is not a valid boolean.'] }],
    [{ country: 5 }, { country: ['"5" is not a valid choice.'] }],
  ];
  for (const [fields, errors] of cases) {
    const response = await fixture.staff.post('/api/customers/', { name: 'Wrong', ...fields });
    assert.equal([response.status, response.body], [400, errors], JSON.stringify(fields).slice(0, 80));
  }
  assert.equal(fixture.events(), []);
  assert.equal((await fixture.staff.get('/api/customers/?name=Wrong')).body, []);
});

test('limits count characters and are inclusive', async () => {
  const limits = {
    name: 150,
    native_name: 160,
    abbreviation: 12,
    contact_details: 500,
    phone_number: 255,
    registration_code: 160,
  };
  const fields = Object.fromEntries(Object.entries(limits).map(([field, max]) => [field, '🏢'.repeat(max)]));
  const { status, body } = await fixture.staff.post('/api/customers/', { ...fields, agreement_number: 2147483647 });
  assert.is(status, 201);
  for (const [field, text] of Object.entries(fields)) assert.is(body[field], text);
  assert.is((await fixture.customer('Zero', { agreement_number: 0 })).agreement_number, 0);
});

test('strings are trimmed, and numbers are converted to strings', async () => {
  const { name, registration_code, phone_number } = await fixture.customer('  Trim  ', {
    registration_code: 12345,
    phone_number: ' 55 ',
  });
  assert.equal([name, registration_code, phone_number], ['Trim', '12345', '55']);
});

test('reports all field errors together', async () => {
  const { body } = await fixture.staff.post('/api/customers/', {
    abbreviation: 'far too long for it',
    email: 'x',
    country: 'XX',
    is_company: 'x',
  });
  assert.equal(body, {
    name: ['This field is required.'],
    abbreviation: ['Ensure this field has no more than 12 characters.'],
    email: ['Enter a valid email address.'],
    country: ['"XX" is not a valid choice.'],
    is_company: ['"x" is not a valid boolean.'],
  });
});

test('ignores billing, price, address and bank fields, which do not exist', async () => {
  const body = await fixture.customer('Rich', {
    balance: 5,
    price: '1',
    address: 'x',
    postal: 1,
    bank_name: {},
    bank_account: [],
    type: 'x',
  });
  assert.equal(Object.keys(body), Object.keys(await fixture.customer('Poor')));
});

test('read-only keys are ignored', async () => {
  const { uuid, created, projects, owners, image, quotas } = await fixture.customer('Own', {
    url: 1,
    uuid: 'x',
    created: 'yesterday',
    projects: 'x',
    owners: {},
    support_users: 1,
    quotas: [{ name: 'nc_project_count', limit: 0 }],
    image: 'x',
    country_name: 5,
  });
  assert.match(uuid, /^[0-9a-f]{32}$/);
  assert.equal([created, projects, owners, image], [start, [], [], null]);
  assert.is(quotas[2].limit, -1);
});

test('creating a customer grants no role in it', async () => {
  const { url, owners, support_users } = await fixture.customer('Lonely');
  assert.equal([owners, support_users, (await fixture.staff.get(`${url}users/`)).body], [[], [], []]);
});

test('a form and a multipart body create the same customer as JSON', async () => {
  const fields = { ...whole, agreement_number: '43', is_company: 'True' };
  const multipart = new FormData();
  for (const [name, value] of Object.entries({ ...fields, agreement_number: '44' })) multipart.set(name, value);
  for (const body of [new URLSearchParams(fields), multipart]) {
    const response = await fixture.staff.send('POST', '/api/customers/', body);
    assert.is(response.status, 201);
    for (const [name, value] of Object.entries(whole))
      if (name !== 'agreement_number') assert.equal(response.body[name], value, name);
  }
});

test('a boolean that is missing from a form keeps its default', async () => {
  const { url } = await fixture.customer('Checkbox', { is_company: true });
  const response = await fixture.staff.send('PUT', url, new URLSearchParams({ name: 'Checkbox' }));
  assert.is(response.body.is_company, true);
});

test('rejects a file as a text value without echoing its content', async () => {
  const multipart = new FormData();
  multipart.set('name', 'Filed');
  for (const name of ['native_name', 'is_company', 'country', 'agreement_number'])
    multipart.set(name, new Blob(['secret'.repeat(1000)]), 'notes.txt');
  const { status, body } = await fixture.staff.send('POST', '/api/customers/', multipart);
  assert.equal(
    [status, body],
    [
      400,
      {
        native_name: ['Not a valid string.'],
        agreement_number: ['A valid integer is required.'],
        country: ['"notes.txt" is not a valid choice.'],
        is_company: ['"notes.txt" is not a valid boolean.'],
      },
    ],
  );
});

test('owners and support_users list users with the active role, by username', async () => {
  const customer = await fixture.customer('Peopled');
  const zoe = await fixture.user('zoe', { full_name: 'Zoe Q', native_name: 'Зоя' });
  const adam = await fixture.user('Adam');
  const eve = await fixture.user('eve');
  const short = await fixture.user('shortly');
  const displayed = ({ url, uuid, username, full_name, native_name }: Json) => ({
    url,
    uuid,
    username,
    full_name,
    native_name,
  });
  await fixture.grant(customer, zoe, 'owner');
  await fixture.grant(customer, adam, 'owner');
  await fixture.grant(customer, eve, 'support');
  await fixture.grant(customer, short, 'owner', '2018-01-05T05:00:00Z');
  const { body } = await fixture.staff.get(customer.url);
  assert.equal(body.owners, [adam, short, zoe].map(displayed));
  assert.equal(Object.keys(body.owners[0]), ['url', 'uuid', 'username', 'full_name', 'native_name']);
  assert.equal(body.support_users, [displayed(eve)]);
  fixture.clock.set('2018-01-05T05:00:00Z');
  assert.equal((await fixture.staff.get(customer.url)).body.owners, [adam, zoe].map(displayed));
  fixture.clock.set(start);
});

test('projects are listed by name, ignoring case', async () => {
  const customer = await fixture.customer('Busy');
  for (const name of ['beta', 'Alpha', 'gamma', 'Delta']) await fixture.project(name, customer);
  const { projects } = (await fixture.staff.get(customer.url)).body;
  assert.equal(
    projects.map((project: Json) => project.name),
    ['Alpha', 'beta', 'Delta', 'gamma'],
  );
  assert.equal(Object.keys(projects[0]), ['url', 'uuid', 'name']);
  assert.is(projects[0].url, `${fixture.url}/api/projects/${projects[0].uuid}/`);
});

test('OPTIONS describes the fields to all callers who may send it', async () => {
  const { url } = await fixture.customer('Described');
  const list = (await fixture.staff.options('/api/customers/')).body;
  assert.equal([list.name, Object.keys(list.actions)], ['Customer List', ['POST']]);
  assert.equal(list.actions.POST.name, {
    type: 'string',
    required: true,
    read_only: false,
    label: 'Name',
    max_length: 150,
  });
  assert.equal(list.actions.POST.agreement_number, {
    type: 'integer',
    required: false,
    read_only: false,
    label: 'Agreement number',
    min_value: 0,
    max_value: 2147483647,
  });
  const detail = (await fixture.staff.options(url)).body;
  assert.equal([detail.name, Object.keys(detail.actions)], ['Customer Instance', ['PUT']]);
  assert.is(detail.actions.PUT.agreement_number.read_only, true);
});

test.run();
