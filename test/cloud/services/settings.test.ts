import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { certificate } from '../../support/certificate.ts';
import { dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('service settings: fields, secrets and requests (services.md 2)');
let people: Personas;

test.before(async () => {
  people = await createPersonas(fixture);
});

const path = '/api/service-settings/';
const make = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Json> => {
  const response = await fixture.staff.post(path, { name: 'Ocean', type: 'DigitalOcean', ...fields });
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
};
const rejection = async (fields: Readonly<Record<string, unknown>>, client = fixture.staff): Promise<unknown[]> => {
  const { body, status } = await client.post(path, { name: 'Ocean', type: 'DigitalOcean', ...fields });
  return [status, body];
};
const required = ['This field is required.'];

/** Builds a multipart body with a certificate of this name, type and content. */
function upload(
  name: string,
  type: string,
  content = certificate.cert,
  fields: Readonly<Record<string, string>> = {},
): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set('certificate', new Blob([content], { type }), name);
  return form;
}

test('settings have the members in the order of the table; credentials and options follow in detail responses', async () => {
  const created = await fixture.staff.post(path, {
    name: ' Ocean ',
    type: 'DigitalOcean',
    customer: people.customer.url,
    homepage: 'https://ocean.example.com',
    username: 'sailor',
    password: 'ahoy',
    simulator_seed: 7,
    simulator_latency: '0',
  });
  const { uuid } = created.body;
  const listed = {
    url: `${fixture.url}/api/service-settings/${uuid}/`,
    uuid,
    is_simulated: true,
    name: 'Ocean',
    type: 'DigitalOcean',
    state: 'Creation Scheduled',
    error_message: '',
    shared: false,
    customer: people.customer.url,
    customer_name: 'Alice',
    customer_native_name: '',
    homepage: 'https://ocean.example.com',
    terms_of_services: '',
    certifications: [],
    quotas: [],
    scope: null,
    geolocations: [],
  };
  const detailed = {
    ...listed,
    backend_url: null,
    username: 'sailor',
    password: '********',
    token: null,
    certificate: null,
    simulator_seed: 7,
    simulator_latency: '0',
  };
  assert.is(created.status, 201);
  assert.is(created.headers.get('location'), listed.url);
  assert.equal(created.body, detailed);
  assert.equal(Object.keys(created.body), Object.keys(detailed));
  assert.equal((await fixture.staff.get(listed.url)).body, detailed);
  assert.equal((await fixture.staff.get(`${path}?name=oce`)).body, [listed]);
  assert.equal(fixture.events(), [], 'settings emit no events');
  assert.equal((await fixture.staff.get('/api/services/')).body, [], 'and create no service');
  await fixture.staff.delete(listed.url);
});

test('settings without a customer show null for it; OpenStack has a domain and quotas cached from the backend', async () => {
  const creation = await make({ name: 'Stack', type: 'OpenStack', domain: 'corp' });
  assert.equal(
    [creation.customer, creation.customer_name, creation.customer_native_name, creation.domain],
    [null, null, null, 'corp'],
  );
  assert.equal(
    creation.quotas.map(({ limit, name, usage }: Json) => [name, limit, usage]),
    [
      ['openstack_ram', -1, 0],
      ['openstack_storage', -1, 0],
      ['openstack_vcpu', -1, 0],
    ],
  );
  assert.equal(Object.keys(creation.quotas[0]), ['url', 'uuid', 'name', 'limit', 'usage']);
  const edited = await fixture.staff.patch(creation.quotas[0].url, { limit: 5 });
  assert.equal(
    [edited.status, edited.body],
    [409, { detail: 'It is impossible to modify backend quota through this endpoint.' }],
  );
  await fixture.staff.delete(creation.url);
});

test('ignores options of other types, and omits unknown ones', async () => {
  const creation = await make({ webhook_secret: 'hush, it is a long secret', latitude: 1, longitude: 2 });
  assert.equal(
    ['webhook_secret', 'latitude', 'simulator_seed', 'domain'].filter((name) => name in creation),
    [],
  );
  await fixture.staff.delete(creation.url);
});

test('name and type are required; an unknown type is no service type; a blank name has its own message', async () => {
  const response = await fixture.staff.post(path, {});
  assert.equal([response.status, response.body], [400, { name: required, type: required }]);
  assert.equal(await rejection({ type: 'Azure' }), [400, { type: ['Invalid service type.'] }]);
  assert.equal(await rejection({ type: 'openstack' }), [400, { type: ['Invalid service type.'] }]);
  assert.equal(await rejection({ name: '  ' }), [
    400,
    { name: ['Ensure that name has at least one non-whitespace character.'] },
  ]);
  assert.equal(await rejection({ name: 'x'.repeat(151) }), [
    400,
    { name: ['Ensure this field has no more than 150 characters.'] },
  ]);
});

test('limits the length of credentials', async () => {
  const long = (length: number): string => 'x'.repeat(length + 1);
  const message = (length: number): string[] => [`Ensure this field has no more than ${length} characters.`];
  assert.equal(
    await rejection({
      username: long(100),
      password: long(100),
      token: long(255),
      domain: long(200),
      homepage: `http://${long(255)}`,
    }),
    [
      400,
      {
        homepage: message(255),
        username: message(100),
        password: message(100),
        token: message(255),
        domain: message(200),
      },
    ],
  );
});

test('backend_url accepts http, https and simulator; an empty value is null', async () => {
  for (const wrong of [
    'ftp://ocean.example.com',
    'ocean.example.com',
    'https://',
    'http:///x',
    'javascript:alert(1)',
    'simulator:x',
  ]) {
    assert.equal(
      await rejection({ backend_url: wrong, token: 'x' }),
      [400, { backend_url: ['Enter a valid URL.'] }],
      wrong,
    );
  }
  assert.equal(await rejection({ backend_url: `https://${'x'.repeat(200)}`, token: 'x' }), [
    400,
    { backend_url: ['Ensure this field has no more than 200 characters.'] },
  ]);
  for (const [input, displayed] of [
    ['', null],
    [null, null],
    ['simulator://staging', 'simulator://staging'],
    ['simulator://', 'simulator://'],
  ]) {
    const creation = await make({ backend_url: input });
    assert.is(creation.backend_url, displayed);
    await fixture.staff.delete(creation.url);
  }
});

test('shows a secret as stars if set and null if not, in every response, and nowhere else', async () => {
  const creation = await make({ customer: people.customer.url, password: 'correct horse', token: 'battery staple' });
  assert.equal([creation.password, creation.token], ['********', '********']);
  const seen = [
    await fixture.staff.get(path),
    await fixture.staff.get(creation.url),
    await fixture.staff.get('/api/events/'),
    await fixture.staff.options(creation.url),
  ];
  for (const { body } of seen) assert.not.match(JSON.stringify(body), /correct horse|battery staple/);
  const { db } = fixture.server.app;
  const row = db.get<Json>(sql`SELECT * FROM service_settings WHERE uuid = ${creation.uuid}`);
  for (const sealed of [row.password, row.token])
    assert.not.ok(Buffer.from(sealed).includes('horse') || Buffer.from(sealed).includes('staple'));
  await fixture.staff.delete(creation.url);
});

test('stars and the empty text keep a secret, null clears it, any other value replaces it', async () => {
  const { secrets, db } = fixture.server.app;
  const creation = await make({ token: 'first' });
  const stored = (): string | null => {
    const { token } = db.get<Json>(sql`SELECT token FROM service_settings WHERE uuid = ${creation.uuid}`);
    return token === null ? null : secrets.open(token, creation.uuid);
  };
  for (const [written, saved] of [
    ['********', 'first'],
    ['', 'first'],
    ['second', 'second'],
    [null, null],
    ['********', null],
  ]) {
    const { body, status } = await fixture.staff.patch(creation.url, { token: written });
    assert.equal([status, body.token, stored()], [200, saved === null ? null : '********', saved], String(written));
  }
  await fixture.staff.delete(creation.url);
});

test('a secret option behaves like every secret', async () => {
  const creation = await make({ type: 'JIRA', webhook_secret: 'hush, it is a long secret' });
  assert.is(creation.webhook_secret, '********');
  assert.is((await fixture.staff.patch(creation.url, { webhook_secret: '' })).body.webhook_secret, '********');
  assert.is((await fixture.staff.patch(creation.url, { webhook_secret: '********' })).body.webhook_secret, '********');
  const { db, secrets } = fixture.server.app;
  const row = db.get<Json>(sql`SELECT options, secret_options FROM service_settings WHERE uuid = ${creation.uuid}`);
  assert.not.match(row.options, /hush/);
  assert.equal(JSON.parse(secrets.open(row.secret_options, creation.uuid)), {
    webhook_secret: 'hush, it is a long secret',
  });
  assert.not.ok('webhook_secret' in (await fixture.staff.patch(creation.url, { webhook_secret: null })).body);
  await fixture.staff.delete(creation.url);
});

test('accepts a certificate as a PEM file, and shows its name', async () => {
  const creation = await make();
  const put = (form: FormData): Promise<Json> => fixture.staff.send('PATCH', creation.url, form);
  assert.is((await put(upload('ca.pem', 'application/x-pem-file'))).body.certificate, 'ca.pem');
  for (const type of ['application/x-x509-ca-cert', 'text/plain'])
    assert.is((await put(upload('CA.PEM', type))).status, 200, type);
  const rejections: [FormData, string][] = [
    [upload('ca.crt', 'text/plain'), "File extension 'crt' is not allowed. Allowed extensions are: 'pem'."],
    [upload('ca', 'text/plain'), "File extension '' is not allowed. Allowed extensions are: 'pem'."],
    [
      upload('ca.pem', 'image/png'),
      "File type 'image/png' is not allowed. Allowed types are: 'application/x-pem-file, application/x-x509-ca-cert, text/plain'.",
    ],
    [upload('ca.pem', 'text/plain', 'x'.repeat(65_537)), 'Ensure this file has no more than 65536 bytes.'],
    ...[certificate.key, certificate.cert + certificate.key, certificate.key + certificate.cert].map(
      (content): [FormData, string] => [
        upload('ca.pem', 'text/plain', content),
        'Upload a file with PEM certificates only.',
      ],
    ),
    [
      upload('ca.pem', 'text/plain', certificate.cert.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE')),
      'Upload a file with PEM certificates only.',
    ],
    [upload('ca.pem', 'text/plain', certificate.cert.slice(0, -20)), 'Upload a file with PEM certificates only.'],
    [upload('ca.pem', 'text/plain', 'junk'), 'The file contains no PEM certificate.'],
    [upload('ca.pem', 'text/plain', '\n'), 'The file contains no PEM certificate.'],
    [
      upload('ca.pem', 'text/plain', certificate.cert + certificate.cert.replace('MII', 'AAA')),
      'Certificate 2 of the file cannot be read.',
    ],
  ];
  for (const [form, message] of rejections) {
    const { body, status } = await put(form);
    assert.equal([status, body], [400, { certificate: [message] }]);
  }
  assert.is(
    (await fixture.staff.patch(creation.url, { certificate: 'ca.pem' })).body.certificate,
    'CA.PEM',
    'a text is ignored',
  );
  assert.is((await fixture.staff.patch(creation.url, { certificate: null })).body.certificate, null);
  const bundle = `The first:\n${certificate.cert}The second:\r\n${certificate.cert.replaceAll('\n', '\r\n')}`;
  const created = await fixture.staff.send(
    'POST',
    path,
    upload('ca.pem', 'text/plain', bundle, { name: 'Form', type: 'DigitalOcean', simulator_seed: '3' }),
  );
  assert.equal([created.status, created.body.certificate, created.body.simulator_seed], [201, 'ca.pem', 3]);
  await fixture.staff.delete(created.body.url);
  await fixture.staff.delete(creation.url);
});

test('the real driver requires its credentials, the simulator none', async () => {
  const real = { backend_url: 'https://ocean.example.com/v2', customer: people.customer.url };
  assert.equal(await rejection(real), [400, { token: required }]);
  assert.equal(await rejection({ ...real, token: '********' }), [400, { token: required }]);
  const creation = await make({ ...real, token: 'secret' });
  const cleared = await fixture.staff.patch(creation.url, { token: null });
  assert.equal([cleared.status, cleared.body], [400, { token: required }]);
  assert.is((await fixture.staff.patch(creation.url, { token: '' })).status, 200);
  await fixture.staff.delete(creation.url);
});

test('orders the list by type and name', async () => {
  const creation = [];
  for (const [type, name] of [
    ['JIRA', 'b'],
    ['Amazon', 'z'],
    ['JIRA', 'A'],
    ['GitLab', 'm'],
  ])
    creation.push(await make({ type, name }));
  const order = async (query: string): Promise<string[]> =>
    (await fixture.staff.get(`${path}${query}`)).body.map(({ name, type }: Json) => `${type} ${name}`);
  assert.equal(await order(''), ['Amazon z', 'GitLab m', 'JIRA A', 'JIRA b']);
  assert.equal(await order('?o=name'), ['JIRA A', 'JIRA b', 'GitLab m', 'Amazon z']);
  assert.equal(await order('?o=-type,name'), ['JIRA A', 'JIRA b', 'GitLab m', 'Amazon z']);
  assert.equal((await fixture.staff.get(`${path}?o=state`)).status, 200);
  const unknown = await fixture.staff.get(`${path}?o=uuid`);
  assert.equal([unknown.status, unknown.body], [400, { o: ['"uuid" is not a valid choice.'] }]);
  for (const { url } of creation) await fixture.staff.delete(url);
});

test('filters: name, type in any case, state, shared, customer, scope', async () => {
  const mine = await make({ name: 'Private sea', customer: people.customer.url });
  const ours = await make({ name: 'Common sea', type: 'JIRA', shared: true });
  const matches = async (query: string): Promise<string[]> =>
    (await fixture.staff.get(`${path}?${query}`)).body.map(({ name }: Json) => name);
  assert.equal(await matches('name=SEA'), ['Private sea', 'Common sea']);
  assert.equal(await matches('type=digitalocean'), ['Private sea']);
  assert.equal(await matches('type=Azure'), []);
  assert.equal(await matches('shared=true'), ['Common sea']);
  assert.equal(await matches('shared=False'), ['Private sea']);
  assert.equal(await matches('state=In+Sync&state=Creation+Scheduled'), ['Private sea', 'Common sea']);
  assert.equal(await matches('state=in+sync'), []);
  assert.equal(await matches(`customer=${people.customer.uuid}`), ['Private sea']);
  assert.equal(await matches(`customer_uuid=${people.customer.uuid}`), ['Private sea']);
  assert.equal(await matches(`customer_uuid=${'0'.repeat(32)}`), []);
  const malformed = await fixture.staff.get(`${path}?customer=x&shared=maybe`);
  assert.is(malformed.status, 400);
  assert.equal((await fixture.staff.get(`${path}?shared=maybe`)).body, { shared: ['"maybe" is not a valid boolean.'] });
  assert.equal((await fixture.staff.get(`${path}?scope=${people.project.url}`)).body, []);
  for (const { url } of [mine, ours]) await fixture.staff.delete(url);
});

test('only staff write shared, and others must name a customer', async () => {
  const { owner } = people.clients;
  assert.equal(await rejection({}, owner), [400, { customer: required }]);
  const creation = await owner.post(path, {
    name: 'Mine',
    type: 'DigitalOcean',
    customer: people.customer.url,
    shared: true,
  });
  assert.equal([creation.status, creation.body.shared], [201, false]);
  await owner.delete(creation.body.url);
});

test('requires only the name in PUT and keeps missing values, type, customer and shared', async () => {
  const creation = await make({ customer: people.customer.url, username: 'sailor', simulator_seed: 7 });
  const response = await fixture.staff.put(creation.url, {
    name: 'Sea',
    type: 'JIRA',
    shared: true,
    customer: null,
    terms_of_services: 'https://sea.example.com/terms',
  });
  assert.equal(
    [response.status, response.body],
    [200, { ...creation, name: 'Sea', terms_of_services: 'https://sea.example.com/terms' }],
  );
  const denial = await fixture.staff.put(creation.url, {});
  assert.equal([denial.status, denial.body], [400, { name: required }]);
  await fixture.staff.delete(creation.url);
});

test('merges options: changes the named ones, and removes those that are null', async () => {
  const creation = await make({ simulator_seed: 7, simulator_latency: '0' });
  const options = ({
    simulator_failures: failures,
    simulator_latency: latency,
    simulator_seed: seed,
  }: Json): unknown[] => [seed, latency, failures];
  assert.equal(options((await fixture.staff.patch(creation.url, { simulator_failures: 'stop' })).body), [
    7,
    '0',
    'stop',
  ]);
  assert.equal(
    options((await fixture.staff.patch(creation.url, { simulator_latency: null, simulator_seed: 8 })).body),
    [8, undefined, 'stop'],
  );
  await fixture.staff.delete(creation.url);
});

test('a change of the host requires every stored secret again', async () => {
  const message = ['Credentials must be given again when the backend changes.'];
  const creation = await make({ backend_url: 'https://one.example.com/v2', password: 'one', token: 'two' });
  const move = async (fields: Readonly<Record<string, unknown>>): Promise<unknown[]> => {
    const { body, status } = await fixture.staff.patch(creation.url, fields);
    return [status, status === 200 ? body.backend_url : body];
  };
  assert.equal(await move({ backend_url: 'https://two.example.com/v2' }), [400, { password: message, token: message }]);
  assert.equal(await move({ backend_url: 'https://two.example.com/v2', password: '********', token: 'three' }), [
    400,
    { password: message },
  ]);
  assert.equal(await move({ backend_url: 'https://one.example.com:8443/v2' }), [
    400,
    { password: message, token: message },
  ]);
  assert.equal(await move({ backend_url: null }), [400, { password: message, token: message }]);
  assert.equal(
    await move({ backend_url: 'https://one.example.com/v3' }),
    [200, 'https://one.example.com/v3'],
    'the host is the same',
  );
  assert.equal(await move({ backend_url: 'https://two.example.com/v2', password: null, token: 'three' }), [
    200,
    'https://two.example.com/v2',
  ]);
  await fixture.staff.delete(creation.url);
});

test('settings with resources cannot switch between the simulator and a real driver', async () => {
  const cloud = await dropletService(fixture, people);
  await cloud.make();
  const { body, status } = await fixture.staff.patch(cloud.settings.url, {
    backend_url: 'https://ocean.example.com/v2',
    token: 'secret',
  });
  assert.equal(
    [status, body],
    [409, { detail: 'Backend of service settings with existing resources cannot be changed.' }],
  );
  assert.is((await fixture.staff.patch(cloud.settings.url, { backend_url: 'simulator://other' })).status, 200);
  await fixture.staff.post(`${cloud.service.url}unlink/`);
});

test('DELETE removes settings in any state, with their jobs and services, unless resources exist', async () => {
  const cloud = await dropletService(fixture, people);
  const droplet = await cloud.make();
  const denial = await fixture.staff.delete(cloud.settings.url);
  assert.equal(
    [denial.status, denial.body],
    [409, { detail: 'Cannot delete service settings with existing droplets' }],
  );
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.is((await fixture.staff.delete(cloud.settings.url)).status, 204);
  for (const url of [cloud.settings.url, cloud.service.url, cloud.link.url])
    assert.is((await fixture.staff.get(url)).status, 404);
  const scheduled = await make();
  assert.is((await fixture.staff.delete(scheduled.url)).status, 204);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM job`), 0);
});

test('stats of machines sum limits and usages of the links; types without machines have none', async () => {
  const cloud = await dropletService(fixture, people);
  const droplet = await cloud.make();
  const stats = async (url: string): Promise<Json> => (await people.clients.helper.get(`${url}stats/`)).body;
  const base = {
    vcpu: -1,
    vcpu_quota: -1,
    vcpu_usage: 1,
    ram: -1,
    ram_quota: -1,
    ram_usage: 1024,
    storage: -1,
    storage_quota: -1,
    storage_usage: 25600,
  };
  assert.equal(await stats(cloud.settings.url), base);
  assert.equal(Object.keys(await stats(cloud.settings.url)), Object.keys(base));
  const quota = cloud.link.quotas.find(({ name }: Json) => name === 'vcpu');
  await fixture.staff.patch(quota.url, { limit: 4 });
  assert.equal(await stats(cloud.settings.url), { ...base, vcpu_quota: 4 });
  const jira = await make({ type: 'JIRA', shared: true });
  assert.equal((await fixture.staff.get(`${jira.url}stats/`)).body, {});
  const stack = await make({ type: 'OpenStack', shared: true });
  assert.equal((await fixture.staff.get(`${stack.url}stats/`)).body, {
    vcpu: -1,
    vcpu_quota: -1,
    vcpu_usage: 0,
    ram: -1,
    ram_quota: -1,
    ram_usage: 0,
    storage: -1,
    storage_quota: -1,
    storage_usage: 0,
  });
  await fixture.staff.post(`${droplet.url}unlink/`);
  for (const { url } of [cloud.settings, jira, stack]) await fixture.staff.delete(url);
});

test('update_certifications replaces the set and returns the detail form, without an event', async () => {
  const creation = await make({ customer: people.customer.url });
  const certify = async (name: string): Promise<Json> =>
    (await fixture.staff.post('/api/service-certifications/', { name })).body;
  const [a, b] = [await certify('Alpha'), await certify('Beta')];
  const write = (certifications?: unknown): Promise<Json> =>
    people.clients.owner.post(
      `${creation.url}update_certifications/`,
      certifications === undefined ? {} : { certifications },
    );
  const displayed = ({ description, link, name, url, uuid }: Json): Json => ({ uuid, url, name, description, link });
  const response = await write([{ url: a.url }, { url: b.url }, { url: a.url }]);
  assert.equal([response.status, response.body], [200, { ...creation, certifications: [displayed(b), displayed(a)] }]);
  assert.equal((await write([])).body.certifications, []);
  const rejections: [unknown, unknown][] = [
    [undefined, required],
    [
      [{ url: a.url }, {}],
      [{}, ['URL has to be defined for related object.']],
    ],
    [[{ url: 'nowhere' }], [['Invalid hyperlink - No URL match.']]],
    [[{ url: people.project.url }], [['Invalid hyperlink - Incorrect URL match.']]],
    [[{ url: a.url.replace(a.uuid, '0'.repeat(32)) }], [['Invalid hyperlink - Object does not exist.']]],
  ];
  for (const [input, message] of rejections) {
    const denial = await write(input);
    assert.equal([denial.status, denial.body], [400, { certifications: message }]);
  }
  assert.equal(
    fixture.events().filter(({ type }) => !type.startsWith('resource_')),
    [],
  );
  await fixture.staff.delete(creation.url);
});

test('a scope is a resource that the caller can see; null clears it', async () => {
  const cloud = await dropletService(fixture, people);
  const droplet = await cloud.make();
  const creation = await make({ customer: people.customer.url, scope: droplet.url });
  assert.is(creation.scope, droplet.url);
  assert.equal(
    (await fixture.staff.get(`${path}?scope=${droplet.url}`)).body.map(({ uuid }: Json) => uuid),
    [creation.uuid],
  );
  const { owner } = people.clients;
  const nowhere = droplet.url.replace(droplet.uuid, '0'.repeat(32));
  for (const [scope, message] of [
    [people.project.url, `${people.project.url} object does not support such relationship.`],
    [nowhere, `Can't restore object from url: ${nowhere}`],
    ['somewhere', 'URL is invalid: somewhere.'],
  ]) {
    const denial = await owner.patch(creation.url, { scope });
    assert.equal([denial.status, denial.body], [400, { scope: [message] }]);
  }
  assert.is((await owner.patch(creation.url, { scope: null })).body.scope, null);
  await fixture.staff.post(`${cloud.service.url}unlink/`);
  await fixture.staff.delete(creation.url);
});

test('OPTIONS returns the plain metadata', async () => {
  const creation = await make();
  const list = await fixture.staff.options(path);
  assert.equal([list.status, list.body.name, Object.keys(list.body.actions)], [200, 'Service Settings List', ['POST']]);
  const detail = await fixture.staff.options(creation.url);
  assert.equal(
    [detail.status, detail.body.name, Object.keys(detail.body.actions)],
    [200, 'Service Settings Instance', ['PUT']],
  );
  await fixture.staff.delete(creation.url);
});

test.run();
