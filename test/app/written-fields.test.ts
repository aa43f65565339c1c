/**
 * Every field of a body is stored: written by POST, PUT and PATCH according to the declarations, and read back. A collection that
 * does not store a field fails here without a separate test.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BodySpec } from '../../src/kernel/collection/endpoint.ts';
import type { Field } from '../../src/kernel/collection/field.ts';
import { exampleLink } from '../../src/kernel/collection/json-schema.ts';
import { catalogue, endpoints } from '../support/catalogue.ts';
import type { Json } from '../support/fixture.ts';
import { oidcSettings } from '../support/oidc-fixture.ts';
import { Files } from '../support/saml-fixture.ts';
import { simulatedService, work } from '../support/simulated.ts';
import { bodies } from './rights/bodies.ts';
import { entityBody, isEntity, isProvided, newKeyOf, providedBody } from './rights/provided.ts';
import { newPublicKey, type Situation, situation } from './rights/situation.ts';

const test = suite('stored fields of bodies');
const files = new Files();
let place: Situation;

test.before(async () => {
  place = await situation({
    ...oidcSettings(files, [{ name: 'company', issuer: 'https://login.example.com' }]),
    user_competences: ['Developer', 'Operator', 'Tester'],
    tenant_credentials_visible: true,
  });
});
test.after(async () => {
  await place.fixture.close();
  files.remove();
});

type Method = 'POST' | 'PUT' | 'PATCH';
type Body = Record<string, Json>;

/** Returns the fields in the bodies of a collection's method. */
function bodyOf(collection: string, method: Method): BodySpec | undefined {
  const path = method === 'POST' ? `/api/${collection}/` : `/api/${collection}/:key/`;
  const input = endpoints.find((endpoint) => endpoint.path === path)?.operations[method]?.input;
  return input && 'fields' in input ? input : undefined;
}

/** Collections whose objects have a URL. Excludes alerts, which one path creates and changes. */
const collections = endpoints
  .flatMap(({ operations, path }) => /^\/api\/([a-z-]+)\/:key\/$/.exec(operations.GET ? path : '')?.[1] ?? [])
  .filter((collection) => collection !== 'alerts');

const typeOf = new Map(catalogue.types.map((type) => [type.prefix, type]));
const kindOf = new Map(catalogue.kinds.map((typed) => [typed.kind.path, typed]));
const options = new Set(catalogue.types.flatMap((type) => Object.keys(type.options ?? {})));

/** Fields that responses do not show, and the tests of their effect. */
const unseen: Readonly<Record<string, string>> = {
  'users.agree_with_policy': 'accounts/users/policy: the agreement date becomes now',
  'aws-instances.size': 'cloud/providers/amazon/instances: cores, ram and disk',
  'digitalocean-droplets.size': 'cloud/providers/digitalocean/droplets: cores, ram and disk',
  'gitlab-groups.path': 'cloud/providers/gitlab/projects: a part of the access url',
  'jira-projects.key': 'cloud/providers/jira/projects: the id at JIRA',
  'openstack-tenants.subnet_cidr': 'cloud/providers/openstack/tenants: the subnet created with it',
  'openstack-instances.system_volume_size': 'cloud/providers/openstack/instances: the volume created with it',
  'openstack-instances.data_volume_size': 'cloud/providers/openstack/instances: the volume created with it',
  'oracle-databases.template': 'cloud/providers/oracle/databases: cores, ram and disk',
  'oracle-databases.username': 'cloud/providers/oracle/databases: the request to the provider',
  'oracle-databases.password': 'cloud/providers/oracle/databases: the request to the provider',
};

/** Links that responses represent as the name of the object. */
const namedBy: Readonly<Record<string, string>> = { ssh_public_key: 'key_name' };

const secrets = /^(password|token|webhook_secret)$/;

/** Returns a value for a field that differs in each round. */
function valueFor(collection: string, name: string, field: Field, round: number): Json {
  const passed = special[`${collection}.${name}`] ?? special[name];
  if (passed) return passed(round);
  const { choices, max_length: max = 100, min_value: min = 0 } = field.constraints as Json;
  const values: readonly string[] = (choices ?? [])
    .map(({ value }: Json) => value)
    .filter((value: string) => value !== '');
  switch (field.type) {
    case 'choice':
      return values[(round + 1) % values.length];
    case 'boolean':
      return round % 2 === 0;
    case 'integer':
    case 'float':
      return Math.max(min, 1) + round;
    case 'datetime':
      return `2030-0${round + 1}-01T00:00:00Z`;
    case 'email':
      return `${name}${round}@example.com`;
    case 'url':
      return `https://example.com/${name}/${round}`;
    case 'string':
    case 'regex':
      return `${name}${round}`.slice(-max);
    default:
      throw new Error(`define a value for ${collection}.${name}`);
  }
}

const special: Readonly<Record<string, (round: number) => Json>> = {
  public_key: () => `${newPublicKey()} comment`,
  'users.identities': (round) => [{ provider: 'company', subject: `subject ${round}` }],
  certifications: () => [{ url: `/api/service-certifications/${place.keys['service-certifications']?.any}/` }],
  country: (round) => ['EE', 'FI', 'LV'][round],
  vat_code: (round) => ['EE123456789', 'FI12345678', 'LV12345678901'][round],
  is_company: () => true,
  competence: (round) => ['Developer', 'Operator', 'Tester'][round],
  event_types: (round) => [['customer_price_limit_updated'], ['customer_creation_succeeded'], ['role_granted']][round],
  event_groups: (round) => [['users'], ['customers'], ['projects']][round],
  link_template: (round) => `https://app.example.com/${round}/{uuid}`,
  tags: (round) => [`round:${round}`, 'stored'],
  backend_url: () => 'simulator://',
  simulator_latency: (round) => `${round}`,
  simulator_failures: (round) => `create=0.${round + 1}`,
  webhook_secret: (round) => `secret of the webhook ${round}`,
  subnet_cidr: () => '192.168.42.0/24',
  'jira-projects.key': () => 'STORED',
  scope: () => `/api/openstack-tenants/${newKeyOf(place, '/api/openstack-tenants/:key/', 'own')}/`,
  customer: () => place.customers.own.url,
  project: () => place.projects.own.url,
  'api-keys.service_account': () => null,
  'service-accounts.role': (round) => ['admin', 'support', 'manager'][round],
  'hooks-web.notification_types': (round) => [['alert_opened'], ['alert_closed'], ['resource_failed']][round],
  'hooks-web.format': (round) => ['standard', 'slack', 'standard'][round],
  'hooks-web.customers': () => [place.customers.own.url],
  'hooks-web.projects': () => [place.projects.own.url],
  'api-keys.scopes': () => ['customers:read'],
  'api-keys.customers': () => [],
  'api-keys.projects': () => [],
  'api-keys.networks': (round) => [`10.${round}.0.0/16`],
  'api-keys.expires': (round) => `2018-${12 - round}-01T00:00:00Z`,
  dns_nameservers: (round) => `8.8.8.${round}`,
};

const pathOf = (link: string): string => link.replace(/^https?:\/\/[^/]*/, '');

/** Converts a value to the common form of responses and bodies: links without their host, objects as their links. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === 'object' && 'url' in value) return pathOf(value.url);
  return typeof value === 'string' ? pathOf(value) : value;
}

/** Sends a body and compares it with the object afterwards. Returns the link of the object. */
async function writeAndRead(method: Method, url: string, body: Body, collection: string): Promise<string> {
  const { staff } = place.fixture;
  const written = await staff.send(method, url, body);
  assert.is(written.status, method === 'POST' ? 201 : 200, `${method} ${url} ${JSON.stringify([body, written.body])}`);
  const object = (await staff.get(written.body.url)).body;
  const about: Json = typeOf.has(collection)
    ? { ...(await staff.get(object.settings)).body, project: object.projects[0]?.url, ...object }
    : object;
  const fields: Body = {};
  const expected: Body = {};
  for (const [name, value] of Object.entries(body)) {
    if (`${collection}.${name}` in unseen) continue;
    const label = namedBy[name] ?? `${name}_name`;
    if (!(name in about) && label in about) {
      expected[label] = (await staff.get(pathOf(value))).body.name;
      fields[label] = about[label];
      continue;
    }
    expected[name] = secrets.test(name) && collection !== 'hooks-push' ? '********' : plain(value);
    fields[name] = plain(about[name]);
  }
  assert.equal(fields, expected, `${method} ${collection}`);
  return written.body.url;
}

function filled(collection: string, method: Method, base: Body, round: number, left: readonly string[]): Body {
  const body: Body = { ...base };
  for (const [name, field] of Object.entries(bodyOf(collection, method)?.fields ?? {})) {
    const { create, update } = field.input ?? {};
    const isWritable = method === 'POST' ? create : update;
    if (!isWritable || name in body || left.includes(name)) continue;
    body[name] = valueFor(collection, name, field, round);
  }
  return body;
}

/** Fields that cannot be sent together with others, or as JSON. */
function omittedFields(collection: string, type = 'DigitalOcean'): readonly string[] {
  const own = catalogue.types.find(({ name }) => name === type)?.options ?? {};
  // Only OpenStack settings have a domain.
  const foreign = [...options, 'domain'].filter(
    (name) => !(name in own) && (name !== 'domain' || type !== 'OpenStack'),
  );
  if (collection === 'service-settings') return ['certificate', ...foreign];
  if (typeOf.has(collection)) return ['certificate', 'settings', ...foreign];
  if (collection.startsWith('hooks-')) return ['event_groups'];
  if (collection === 'user-invitations') return ['project', 'project_role', 'customer', 'customer_role'];
  if (collection === 'service-accounts') return ['customer'];
  if (collection === 'users') return ['current_password'];
  // Issues with another type, another priority or a parent issue: cloud/providers/jira/issues.
  return collection === 'jira-issues' ? ['type', 'priority', 'parent'] : [];
}

/** Returns a valid body of creation, by the word for its parent. */
async function validBody(collection: string, object: string): Promise<Json> {
  const path = `/api/${collection}/`;
  if (isEntity(path)) return entityBody(place, path, undefined);
  return isProvided(path) ? providedBody(place, 'POST', path, object) : bodies[`POST ${path}`]?.(place, object, path);
}

for (const collection of collections) {
  const path = `/api/${collection}/`;
  const type = typeOf.get(collection)?.name;
  if (bodyOf(collection, 'POST') && !kindOf.has(collection) && collection !== 'jira-attachments')
    test(`${collection}: POST`, async () => {
      const base = await validBody(collection, 'own');
      await writeAndRead(
        'POST',
        path,
        filled(collection, 'POST', base, 0, omittedFields(collection, type)),
        collection,
      );
    });
  // PUT of an issue requires the properties of its provider. PATCH stores with the same code.
  for (const [method, round] of [
    ['PUT', 1],
    ['PATCH', 2],
  ] as const)
    if (bodyOf(collection, method) && !(collection === 'jira-issues' && method === 'PUT'))
      test(`${collection}: ${method}`, async () => {
        const detail = `${path}:key/`;
        const { any, customer, other, own } = (place.keys[collection] ?? {}) as Json;
        const known = other ?? own ?? any ?? customer;
        const key = isProvided(detail) ? newKeyOf(place, detail, 'own') : (known.ST ?? known);
        const body = filled(collection, method, {}, round, omittedFields(collection, type));
        await writeAndRead(method, `${path}${key}/`, body, collection);
      });
}

for (const { name } of catalogue.types)
  test(`service-settings: POST and PATCH with the options of ${name}`, async () => {
    const base = { type: name };
    const left = omittedFields('service-settings', name);
    const url = await writeAndRead(
      'POST',
      '/api/service-settings/',
      filled('service-settings', 'POST', base, 0, left),
      'service-settings',
    );
    await writeAndRead('PATCH', url, filled('service-settings', 'PATCH', {}, 1, left), 'service-settings');
  });

for (const { name, prefix } of catalogue.types)
  test(`resources of ${name}: POST`, async () => {
    const { fixture } = place;
    const customer = await fixture.customer(`Customer of ${name}`);
    const project = await fixture.project('Website', customer);
    const { link, settings } = await simulatedService(fixture, prefix, { customer, project });
    for (const { kind } of catalogue.kinds.filter(({ kind, type }) => type.name === name && kind.isCreatable)) {
      const fields = Object.entries(bodyOf(kind.path, 'POST')?.fields ?? {});
      const chosen = fields.filter(([, { input, select }]) => select && input?.create && input.required);
      const example: Body = { ...kind.examples?.create };
      for (const [field, { select }] of chosen) example[field] ??= exampleLink(select?.().path ?? '');
      const base = {
        ...(await withLinks(example, settings.uuid)),
        name: kind.examples?.name ?? 'one',
        service_project_link: link.url,
      };
      const left = fields.flatMap(([field, { type }]) =>
        field !== 'tags' && /^(field|list)$/.test(type) ? field : [],
      );
      await writeAndRead('POST', `/api/${kind.path}/`, filled(kind.path, 'POST', base, 0, left), kind.path);
      await work(fixture);
    }
  });

/** Returns an example that uses objects of the settings instead of those of its links. An image is in its region. */
async function withLinks(value: Json, settings: string): Promise<Json> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => withLinks(item, settings)));
  if (value && typeof value === 'object') {
    const entries = Object.entries(value).map(async ([name, item]) => [name, await withLinks(item, settings)]);
    const linked = Object.fromEntries(await Promise.all(entries));
    const image = linked.image && (await place.fixture.staff.get(pathOf(linked.image))).body;
    const region = image && 'region' in linked ? (image.region ?? image.regions[0]) : undefined;
    return { ...linked, ...(region && { region: region.url }) };
  }
  const collection = typeof value === 'string' && /^https:.*\/api\/([a-z-]+)\/[0-9a-f]{32}\/$/.exec(value)?.[1];
  if (!collection) return value;
  const query = collection === 'keys' ? '' : `?${kindOf.has(collection) ? 'service_' : ''}settings_uuid=${settings}`;
  return (await place.fixture.staff.get(`/api/${collection}/${query}`)).body[0].url;
}

test('services: POST with settings that exist', async () => {
  for (const [collection, { name }] of typeOf) {
    const { staff } = place.fixture;
    const customer = (await staff.post('/api/customers/', { name })).body.url;
    const settings = await staff.post('/api/service-settings/', { name, type: name, customer });
    await writeAndRead('POST', `/api/${collection}/`, { name, customer, settings: settings.body.url }, collection);
  }
});

test('hooks: POST and PATCH with groups of events', async () => {
  for (const collection of ['hooks-web', 'hooks-push', 'hooks-email']) {
    const { event_types: _, ...base } = await validBody(collection, 'own');
    const url = await writeAndRead('POST', `/api/${collection}/`, { ...base, event_groups: ['users'] }, collection);
    await writeAndRead('PATCH', url, { event_groups: ['customers', 'projects'] }, collection);
  }
});

test('user-invitations: POST to customers', async () => {
  await writeAndRead(
    'POST',
    '/api/user-invitations/',
    await validBody('user-invitations', 'customer'),
    'user-invitations',
  );
});

test('jira-attachments: POST', async () => {
  const form = await validBody('jira-attachments', 'own');
  const { body } = await place.fixture.staff.send('POST', '/api/jira-attachments/', form);
  assert.equal([pathOf(body.issue), body.name], [form.get('issue'), 'one.txt']);
});

test.run();
