import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { settings } from '../../support/links.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer(
  'alerts: filters, orderings, stats, groups, counters (events.md 3.3, 3.5, 3.8)',
);
let people: Personas;
let sibling: Json;
let other: Json;
let remote: Json;
let sharedSettings: Json;

/*
 * The alerts, by their message, one minute apart from 04:50, newest last:
 *   customer, project, sibling (a project of Alice), other (a customer), elsewhere (its project), user, key, quota, settings.
 */
const messages = ['customer', 'project', 'sibling', 'other', 'elsewhere', 'user', 'key', 'quota', 'settings'];
const severities = ['Debug', 'Info', 'Warning', 'Error', 'Debug', 'Info', 'Warning', 'Error', 'Error'];
const types = [
  'threshold_exceeded',
  'customer_has_zero_projects',
  'own',
  'own',
  'own',
  'service_unavailable',
  'own',
  'own',
  'own',
];

test.before(async () => {
  fixture.clock.hold();
  people = await createPersonas(fixture);
  sibling = await fixture.project('Sibling', people.customer);
  other = await fixture.customer('Other');
  remote = await fixture.project('Remote', other);
  sharedSettings = { url: `/api/service-settings/${settings(fixture, 'Shared').uuid}/` };
  const key = (await people.clients.owner.post('/api/keys/', { public_key: publicKeys.ed25519 })).body;
  const scopes = [
    people.customer,
    people.project,
    sibling,
    other,
    remote,
    people.users.owner,
    key,
    people.customer.quotas[0],
    sharedSettings,
  ];
  for (const [i, scope] of scopes.entries()) {
    fixture.clock.set(`2018-01-05T04:5${i}:00Z`);
    const response = await fixture.staff.post('/api/alerts/', {
      alert_type: types[i],
      message: `${messages[i]} 100% _Straße_`,
      severity: severities[i],
      scope: scope.url,
      acknowledged: i % 2 === 1,
    });
    assert.is(response.status, 201);
  }
  fixture.clock.set('2018-01-05T05:00:00.500Z');
  for (const message of ['sibling', 'key'])
    await fixture.staff.post(`${(await fixture.staff.get(`/api/alerts/?message=${message}`)).body[0].url}close/`);
});

/** Returns the first words of the listed messages. */
async function listed(query: string, client: Client = fixture.staff): Promise<string[]> {
  const response = await client.get(`/api/alerts/?page_size=300&${query}`);
  assert.is(response.status, 200, `${query}: ${JSON.stringify(response.body)}`);
  return response.body.map(({ message }: Json) => message.split(' ')[0]);
}

const newestFirst = (...names: string[]): string[] => messages.filter((name) => names.includes(name)).reverse();
const stamp = (time: string): number => Date.parse(`2018-01-05T${time}Z`) / 1000;

test('the default order is newest first; o orders by numeric severity and by created in both directions', async () => {
  assert.equal(await listed(''), [...messages].reverse());
  assert.equal(await listed('o=created'), messages);
  assert.equal(await listed('o=severity,created'), [
    'customer',
    'elsewhere',
    'project',
    'user',
    'sibling',
    'key',
    'other',
    'quota',
    'settings',
  ]);
  assert.equal(await listed('o=-severity,-created'), [
    'settings',
    'quota',
    'other',
    'key',
    'sibling',
    'user',
    'project',
    'elsewhere',
    'customer',
  ]);
  assert.equal((await listed('o=severity')).slice(0, 2), ['customer', 'elsewhere'], 'equal ones by internal id');
  assert.equal((await fixture.staff.get('/api/alerts/?o=message')).body, { o: ['"message" is not a valid choice.'] });
});

test('the list is paginated', async () => {
  const response = await fixture.staff.get('/api/alerts/?page_size=4&page=3');
  assert.equal([response.body.length, response.headers.get('x-result-count')], [1, '9']);
  assert.equal((await fixture.staff.get('/api/alerts/?page_size=4&page=4')).status, 404);
});

test('severity and alert_type are repeatable, exact, and match nothing if unknown', async () => {
  assert.equal(await listed('severity=Debug'), newestFirst('customer', 'elsewhere'));
  assert.equal(
    await listed('severity=Debug&severity=Info&severity=Fatal'),
    newestFirst('customer', 'elsewhere', 'project', 'user'),
  );
  for (const value of ['debug', 'Fatal', '10', 'constructor', '__proto__'])
    assert.equal(await listed(`severity=${value}`), [], value);
  assert.equal(
    await listed('alert_type=threshold_exceeded&alert_type=service_unavailable'),
    newestFirst('customer', 'user'),
  );
  assert.equal(await listed('alert_type=Own'), []);
  assert.equal(await listed('severity=&alert_type='), [...messages].reverse());
});

test('scope selects alerts about this object', async () => {
  assert.equal(await listed(`scope=${people.customer.url}`), ['customer']);
  assert.equal(await listed(`scope=${people.customer.quotas[0].url}`), ['quota']);
  assert.equal(await listed(`scope=${other.quotas[0].url}`), []);
  assert.equal((await people.clients.owner.get(`/api/alerts/?scope=${other.url}`)).body, {
    scope: [`Can't restore object from url: ${other.url}`],
  });
  assert.equal(
    await listed(`scope=${people.users.owner.url}`, people.clients.helper),
    [],
    'the object is readable, its alerts are not',
  );
});

test('content_type and the deprecated scope_type accept full and short names, ignoring case and underscores', async () => {
  const matches: Record<string, string[]> = {
    'structure.customer': ['customer', 'other'],
    Customer: ['customer', 'other'],
    'structure.project': ['project', 'sibling', 'elsewhere'],
    project: ['project', 'sibling', 'elsewhere'],
    'core.user': ['user'],
    user: ['user'],
    'core.sshpublickey': ['key'],
    'core.SSH_Public_Key': ['key'],
    ssh_public_key: ['key'],
    sshpublickey: ['key'],
    'quotas.quota': ['quota'],
    quota: ['quota'],
    'structure.servicesettings': ['settings'],
    service_settings: ['settings'],
    'structure.service_settings': ['settings'],
    'amazon.instance': [],
    'openstack.serviceprojectlink': [],
    nothing: [],
    structure: [],
    customers: [],
  };
  for (const name of ['content_type', 'scope_type']) {
    for (const [value, expected] of Object.entries(matches))
      assert.equal(await listed(`${name}=${value}`), newestFirst(...expected), `${name}=${value}`);
  }
  assert.equal(await listed('content_type=customer&scope_type=project'), []);
});

test('created_from and closed_from are inclusive, created_to and closed_to exclusive; accepts decimals', async () => {
  assert.equal(await listed(`created_from=${stamp('04:56:00')}`), newestFirst('key', 'quota', 'settings'));
  assert.equal(await listed(`created_to=${stamp('04:51:00')}`), newestFirst('customer'));
  assert.equal(
    await listed(`created_from=${stamp('04:51:00')}.000001&created_to=${stamp('04:52:00')}.5`),
    newestFirst('sibling'),
  );
  assert.equal(await listed(`closed_from=${stamp('05:00:00')}.5`), newestFirst('sibling', 'key'));
  assert.equal(await listed(`closed_from=${stamp('05:00:00')}.500001`), []);
  assert.equal(await listed(`closed_to=${stamp('05:00:00')}.5`), []);
  assert.equal(await listed(`closed_to=${stamp('05:00:01')}`), newestFirst('sibling', 'key'));
});

test('from selects alerts still open or closed at that time or later, to those created at that time or earlier', async () => {
  assert.equal(
    await listed(`from=${stamp('05:00:01')}`),
    newestFirst(...messages.filter((name) => name !== 'sibling' && name !== 'key')),
  );
  assert.equal(await listed(`from=${stamp('05:00:00')}`), [...messages].reverse());
  assert.equal(await listed(`to=${stamp('04:51:00')}`), newestFirst('customer', 'project'));
  assert.equal(
    await listed(`from=${stamp('05:00:01')}&to=${stamp('05:00:02')}&created_to=${stamp('04:53:00')}`),
    newestFirst('customer', 'project'),
  );
  for (const [from, to] of [
    [2, 2],
    [3, 2],
  ]) {
    assert.equal((await fixture.staff.get(`/api/alerts/?from=${from}&to=${to}`)).body, {
      non_field_errors: ['End must occur after start.'],
    });
  }
});

test('opened and closed are flags; together they match nothing', async () => {
  const closed = newestFirst('sibling', 'key');
  const open = [...messages].reverse().filter((name) => !closed.includes(name));
  for (const value of ['opened', 'opened=', 'opened=yes', 'closed=false', 'closed=False&opened']) {
    assert.equal(await listed(value), value.startsWith('closed=f') ? [...messages].reverse() : open, value);
  }
  assert.equal(await listed('closed'), closed);
  assert.equal(await listed('closed&opened'), []);
  assert.equal(await listed('opened=0'), [...messages].reverse());
});

test('acknowledged is a boolean in the usual spellings', async () => {
  for (const value of ['true', 'True', '1', 'on'])
    assert.equal(await listed(`acknowledged=${value}`), newestFirst('project', 'other', 'user', 'quota'));
  assert.equal(await listed('acknowledged=False'), newestFirst('customer', 'sibling', 'elsewhere', 'key', 'settings'));
});

test('aggregate and uuid select alerts about a customer or project and its objects, never about users, keys, quotas or settings', async () => {
  assert.equal(await listed('aggregate=customer'), newestFirst('customer', 'project', 'sibling', 'other', 'elsewhere'));
  assert.equal(await listed('aggregate=project'), newestFirst('project', 'sibling', 'elsewhere'));
  assert.equal(
    await listed(`aggregate=customer&uuid=${people.customer.uuid}`),
    newestFirst('customer', 'project', 'sibling'),
  );
  assert.equal(
    await listed(`uuid=${other.uuid}`),
    newestFirst('other', 'elsewhere'),
    'uuid without aggregate: customer',
  );
  assert.equal(await listed(`aggregate=project&uuid=${sibling.uuid}`), newestFirst('sibling'));
  assert.equal(
    await listed(`aggregate=project&uuid=${people.customer.uuid}`),
    [],
    'the uuid of another kind is nothing',
  );
  assert.equal(await listed(`aggregate=customer&uuid=${'0'.repeat(32)}`), []);
  const dashed = other.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
  assert.equal(await listed(`uuid=${dashed}`), newestFirst('other', 'elsewhere'));
});

test('aggregate is limited to customers, projects and alerts that the caller can see', async () => {
  const { observer, owner, stranger } = people.clients;
  assert.equal(await listed('aggregate=customer', owner), newestFirst('customer', 'project', 'sibling'));
  assert.equal(await listed('aggregate=customer', observer), newestFirst('customer', 'project'));
  assert.equal(await listed('aggregate=project', observer), newestFirst('project'));
  assert.equal(await listed(`uuid=${other.uuid}`, owner), []);
  assert.equal(await listed('aggregate=customer', stranger), []);
  assert.equal(await listed('', stranger), []);
  assert.equal(await listed('', observer), newestFirst('customer', 'project', 'quota'));
});

test('exclude_features excludes the types of groups and ignores unknown names', async () => {
  assert.equal(await listed('exclude_features=quota'), newestFirst(...messages.filter((name) => name !== 'customer')));
  assert.equal(
    await listed('exclude_features=quota&exclude_features=services&exclude_features=nothing'),
    newestFirst(...messages.filter((name) => name !== 'customer' && name !== 'user')),
  );
  assert.equal(await listed('exclude_features=projects,quota&exclude_features=constructor'), [...messages].reverse());
  assert.equal(await listed('exclude_features=projects&alert_type=customer_has_zero_projects'), []);
});

test('message matches a substring, ignoring case; % and _ are literal', async () => {
  assert.equal(await listed('message=CUSTOM'), ['customer']);
  assert.is(
    (await listed('message=100%25%20_STRASSE')).length + (await listed('message=100%25%20_STRA%C3%9Fe')).length,
    9,
  );
  assert.equal(await listed('message=1%25'), []);
  assert.equal(await listed('message=custom%25'), []);
});

test('returns 400 for a malformed value under its name', async () => {
  const responses: Record<string, string> = {
    'created_from=x': 'Value "x" should be valid UNIX timestamp.',
    'created_to=-1': 'Value "-1" should be valid UNIX timestamp.',
    'closed_from=1e3': 'Value "1e3" should be valid UNIX timestamp.',
    'closed_to=253402300800': 'Value "253402300800" should be valid UNIX timestamp.',
    'from=1.5': 'Value "1.5" should be valid UNIX timestamp.',
    'to=': '',
    'to=%20': 'Value " " should be valid UNIX timestamp.',
    'acknowledged=maybe': '"maybe" is not a valid boolean.',
    'uuid=x': '"x" is not a valid UUID.',
    'aggregate=resource': '"resource" is not a valid choice.',
  };
  for (const path of ['/api/alerts/', '/api/alerts/stats/', '/api/stats/alerts/']) {
    for (const [query, message] of Object.entries(responses)) {
      const { body, status } = await fixture.staff.get(`${path}?${query}`);
      if (message === '') assert.is(status, 200, query);
      else assert.equal([status, body], [400, { [query.split('=')[0] as string]: [message] }], query);
    }
  }
});

test('combines filters with AND; ignores unknown parameters, and all parameters for a single alert', async () => {
  assert.equal(
    await listed('severity=Error&acknowledged=true&opened&undefined=x&exclude_extra'),
    newestFirst('other', 'quota'),
  );
  const { url } = (await fixture.staff.get('/api/alerts/')).body[0];
  assert.is((await fixture.staff.get(`${url}?severity=Debug&uuid=x&from=9&to=3`)).status, 200);
});

test('stats/ counts the visible alerts after all list filters, always with the four keys', async () => {
  const counts = async (query: string, client: Client = fixture.staff) =>
    (await client.get(`/api/alerts/stats/?${query}`)).body;
  assert.is(JSON.stringify(await counts('')), '{"debug":2,"error":3,"info":2,"warning":2}');
  assert.equal(await counts('opened&page=99&page_size=1'), { debug: 2, error: 3, info: 2, warning: 0 });
  assert.equal(await counts('severity=Info&acknowledged=1'), { debug: 0, error: 0, info: 2, warning: 0 });
  assert.equal(await counts(`uuid=${people.customer.uuid}`), { debug: 1, error: 0, info: 1, warning: 1 });
  assert.equal(await counts('', people.clients.observer), { debug: 1, error: 1, info: 1, warning: 0 });
  assert.equal(await counts('message=nothing'), { debug: 0, error: 0, info: 0, warning: 0 });
  assert.is((await fixture.staff.post('/api/alerts/stats/')).status, 405);
});

test('alert_groups/ lists the groups with their types, sorted, whatever advisory_alerts is', async () => {
  const response = await people.clients.stranger.get('/api/alerts/alert_groups/?page=3');
  assert.is(
    JSON.stringify(response.body),
    JSON.stringify({
      projects: ['customer_has_zero_projects', 'customer_project_count_exceeded'],
      quota: ['threshold_exceeded'],
      resources: [
        'customer_has_zero_resources',
        'customer_resource_count_exceeded',
        'resource_disappeared_from_backend',
        'service_has_unmanaged_resources',
      ],
      services: [
        'customer_has_zero_services',
        'customer_service_count_exceeded',
        'service_has_unmanaged_resources',
        'service_unavailable',
      ],
    }),
  );
});

test('counters count the visible open alerts of the aggregate, without exclude_features', async () => {
  const counted = async (object: Json, query: string, client: Client = fixture.staff) =>
    (await client.get(`${object.url}counters/?fields=alerts&${query}`)).body;
  assert.equal(await counted(people.customer, ''), { alerts: 2 });
  assert.equal(await counted(people.customer, 'exclude_features=quota'), { alerts: 1 });
  assert.equal(
    await counted(people.customer, 'exclude_features=quota&exclude_features=projects&exclude_features=x&undefined'),
    { alerts: 0 },
  );
  assert.equal(await counted(people.project, '', people.clients.observer), { alerts: 1 });
  assert.equal(await counted(sibling, ''), { alerts: 0 }, 'a closed alert does not count');
  assert.equal(await counted(other, ''), { alerts: 2 });
});

test.run();
