import * as assert from 'uvu/assert';
import { byStaff, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the list of events (events.md 4.3, 4.4, 4.6)');
let customer: Json;

/** Three notifications at different times, and a customer. */
test.before(async () => {
  fixture.clock.hold();
  customer = await fixture.customer('Alice', { abbreviation: 'ALC' });
  for (const [i, level] of ['debug', 'warning', 'error'].entries()) {
    fixture.clock.set(`2018-01-05T04:47:0${5 + i}.98212${i}Z`);
    await fixture.staff.post('/api/events/', { level, message: `Message ${level}` });
  }
});

const messages = async (path: string): Promise<string[]> =>
  (await fixture.staff.get(path)).body.map((event: Json) => event.message);

test('an event is a flat object: fixed keys in order, then those of its context', async () => {
  const { body } = await fixture.staff.get('/api/events/?o=@timestamp&page_size=1');
  const [event] = body;
  assert.equal(
    Object.entries(event),
    Object.entries({
      '@timestamp': '2018-01-05T04:47:04.000Z',
      '@version': 1,
      uuid: event.uuid,
      message: 'Customer Alice has been created.',
      level: 'info',
      levelname: 'INFO',
      importance: 'normal',
      importance_code: 20,
      event_type: 'customer_creation_succeeded',
      type: 'customer_creation_succeeded',
      ...(await byStaff(fixture)),
      customer_uuid: customer.uuid,
      customer_name: 'Alice',
      customer_abbreviation: 'ALC',
      customer_contact_details: '',
    }),
  );
  assert.match(event.uuid, /^[0-9a-f]{32}$/);
});

test('level names and importance follow from the level; times are truncated to milliseconds', async () => {
  const { body } = await fixture.staff.get('/api/events/?event_type=custom_notification');
  assert.equal(
    body.map((event: Json) => [
      event['@timestamp'],
      event.level,
      event.levelname,
      event.importance,
      event.importance_code,
    ]),
    [
      ['2018-01-05T04:47:07.982Z', 'error', 'ERROR', 'very high', 40],
      ['2018-01-05T04:47:06.982Z', 'warning', 'WARNING', 'high', 30],
      ['2018-01-05T04:47:05.982Z', 'debug', 'DEBUG', 'low', 10],
    ],
  );
});

test('an event without a context has only the fixed keys', async () => {
  const { db } = fixture.server.app;
  db.write(() =>
    db.insert('event', {
      uuid: 'f'.repeat(32),
      at: 1_000_000,
      type: 'role_revoked',
      level: 'info',
      message: '"Quoted"',
      context: '{}',
    }),
  );
  db.commit();
  const { body } = await fixture.staff.get('/api/events/?o=@timestamp&page_size=1');
  assert.equal(body, [
    {
      '@timestamp': '1970-01-01T00:00:01.000Z',
      '@version': 1,
      uuid: 'f'.repeat(32),
      message: '"Quoted"',
      level: 'info',
      levelname: 'INFO',
      importance: 'normal',
      importance_code: 20,
      event_type: 'role_revoked',
      type: 'role_revoked',
    },
  ]);
  db.write(() => db.run({ text: 'DELETE FROM event WHERE at = 1000000', values: [] }));
  db.commit();
});

test('lists the latest first; o=@timestamp reverses the order; the first term decides', async () => {
  const latestFirst = ['Message error', 'Message warning', 'Message debug', 'Customer Alice has been created.'];
  assert.equal(await messages('/api/events/'), latestFirst);
  assert.equal(await messages('/api/events/?o=-@timestamp'), latestFirst);
  assert.equal(await messages('/api/events/?o='), latestFirst);
  assert.equal(await messages('/api/events/?o=@timestamp'), [...latestFirst].reverse());
  assert.equal(await messages('/api/events/?o=@timestamp,-@timestamp'), [...latestFirst].reverse());
});

test('rejects an unknown ordering; the counts ignore it', async () => {
  for (const [o, name] of [
    ['type', 'type'],
    ['-level', 'level'],
    ['@timestamp,uuid', 'uuid'],
  ]) {
    const { status, body } = await fixture.staff.get(`/api/events/?o=${o}`);
    assert.is(status, 400);
    assert.equal(body, { o: [`"${name}" is not a valid choice.`] });
  }
  assert.is((await fixture.staff.get('/api/events/count/?o=type')).status, 200);
  assert.is((await fixture.staff.get('/api/events/count_history/?o=type&point=1')).status, 200);
});

test('events of the same time are in the order of recording, in both directions', async () => {
  for (const i of [1, 2, 3]) await fixture.staff.post('/api/events/', { level: 'info', message: `Together ${i}` });
  assert.equal(await messages('/api/events/?search=together'), ['Together 3', 'Together 2', 'Together 1']);
  assert.equal(await messages('/api/events/?search=together&o=@timestamp'), ['Together 1', 'Together 2', 'Together 3']);
});

test('the list is paginated, with X-Result-Count and Link, also for HEAD', async () => {
  const page = await fixture.staff.get('/api/events/?page=2&page_size=3&event_type=custom_notification');
  assert.equal(
    page.body.map((event: Json) => event.message),
    ['Message error', 'Message warning', 'Message debug'],
  );
  assert.is(page.headers.get('x-result-count'), '6');
  const at = (rest: string): string => `<${fixture.url}/api/events/?${rest}>`;
  assert.is(
    page.headers.get('link'),
    [
      `${at('event_type=custom_notification&page_size=3')}; rel="first"`,
      `${at('event_type=custom_notification&page_size=3')}; rel="prev"`,
      `${at('event_type=custom_notification&page=2&page_size=3')}; rel="last"`,
    ].join(', '),
  );
  const head = await fixture.staff.send('HEAD', '/api/events/?page=2&page_size=3&event_type=custom_notification');
  assert.is(head.headers.get('x-result-count'), '6');
  assert.is(head.body, undefined);
  assert.equal(
    (await fixture.staff.get('/api/events/?page=last&page_size=4')).body.map((event: Json) => event.message),
    ['Message warning', 'Message debug', 'Customer Alice has been created.'],
  );
  const beyond = await fixture.staff.get('/api/events/?page=99');
  assert.is(beyond.status, 404);
  assert.equal(beyond.body, { detail: 'Invalid page.' });
  const nothing = await fixture.staff.get('/api/events/?event_type=role_updated');
  assert.equal([nothing.status, nothing.body, nothing.headers.get('x-result-count')], [200, [], '0']);
});

test('count/ returns the number of events in the list', async () => {
  assert.equal((await fixture.staff.get('/api/events/count/')).body, { count: 7 });
  assert.equal(
    (await fixture.staff.get('/api/events/count/?event_type=custom_notification&page=99&page_size=1')).body,
    { count: 6 },
  );
});

test('event_groups/ returns every group with its types, sorted', async () => {
  const { body } = await fixture.staff.get('/api/events/event_groups/');
  const roles = ['role_granted', 'role_revoked'];
  const of = (subject: string, ...verbs: string[]): string[] => verbs.map((verb) => `${subject}_${verb}`);
  const steps = ['failed', 'scheduled', 'succeeded'];
  assert.equal(
    Object.entries(body),
    Object.entries({
      customers: [
        ...of('customer', 'creation_succeeded', 'deletion_succeeded', 'price_limit_updated', 'update_succeeded'),
        ...roles,
      ],
      projects: [
        ...of('project', 'creation_succeeded', 'deletion_succeeded', 'price_limit_updated', 'update_succeeded'),
        ...roles,
      ],
      resources: [
        ...of('resource_creation', ...steps),
        ...of('resource_deletion', ...steps),
        'resource_import_succeeded',
        ...of('resource_restart', ...steps),
        ...of('resource_start', ...steps),
        ...of('resource_stop', ...steps),
        'resource_update_succeeded',
      ],
      ssh: ['ssh_key_creation_succeeded', 'ssh_key_deletion_succeeded'],
      users: [
        'auth_logged_in_with_username',
        'auth_logged_out',
        'auth_login_failed_with_username',
        ...roles,
        'ssh_key_creation_succeeded',
        'ssh_key_deletion_succeeded',
        'user_activated',
        'user_creation_succeeded',
        'user_deactivated',
        'user_deletion_succeeded',
        'user_password_updated',
        'user_token_lifetime_updated',
        'user_update_succeeded',
      ],
    }),
  );
});

test('scope_types/ returns the full names of all scopes except links, sorted', async () => {
  assert.equal((await fixture.staff.get('/api/events/scope_types/')).body, [
    'amazon.instance',
    'amazon.service',
    'amazon.volume',
    'core.sshpublickey',
    'core.user',
    'digitalocean.droplet',
    'digitalocean.service',
    'gitlab.group',
    'gitlab.project',
    'gitlab.service',
    'jira.project',
    'jira.service',
    'openstack.instance',
    'openstack.service',
    'openstack.snapshot',
    'openstack.tenant',
    'openstack.volume',
    'oracle.database',
    'oracle.service',
    'quotas.quota',
    'structure.customer',
    'structure.project',
    'structure.servicesettings',
  ]);
});

test('every path returns 401 without a token', async () => {
  for (const path of ['', 'count/', 'count_history/', 'count/history/', 'event_groups/', 'scope_types/']) {
    const { status, body, headers } = await fixture.anonymous.get(`/api/events/${path}`);
    assert.equal(
      [status, body, headers.get('www-authenticate')],
      [401, { detail: 'Authentication credentials were not provided.' }, 'Token'],
    );
  }
});

test('a single event has no path, and no other methods are allowed', async () => {
  const [{ uuid }] = (await fixture.staff.get('/api/events/')).body;
  assert.is((await fixture.staff.get(`/api/events/${uuid}/`)).status, 404);
  for (const [path, method, allow] of [
    ['/api/events/', 'PUT', 'GET, POST, HEAD, OPTIONS'],
    ['/api/events/', 'DELETE', 'GET, POST, HEAD, OPTIONS'],
    ['/api/events/count/', 'POST', 'GET, HEAD, OPTIONS'],
    ['/api/events/count_history/', 'POST', 'GET, HEAD, OPTIONS'],
    ['/api/events/count/history/', 'PUT', 'GET, POST, HEAD, OPTIONS'],
    ['/api/events/event_groups/', 'POST', 'GET, HEAD, OPTIONS'],
    ['/api/events/scope_types/', 'PATCH', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const { status, body, headers } = await fixture.staff.send(method, path);
    assert.equal([status, body, headers.get('allow')], [405, { detail: `Method "${method}" not allowed.` }, allow]);
  }
});

test('OPTIONS describes posting to users who may post', async () => {
  const { body } = await fixture.staff.options('/api/events/');
  assert.is(body.name, 'Event List');
  const { level, message, scope } = body.actions.POST;
  assert.equal(
    [level.type, level.required, level.choices.map((each: Json) => each.value)],
    ['choice', true, ['debug', 'error', 'info', 'warning']],
  );
  assert.equal([message.type, message.required, 'max_length' in message], ['string', true, false]);
  assert.equal([scope.type, scope.required], ['field', false]);
  await fixture.user('stranger');
  assert.is((await fixture.as('stranger').options('/api/events/')).body.actions, undefined);
});

test.run();
