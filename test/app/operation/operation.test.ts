/** API for staff to read and change the running service (core.md 14.6), on a server in memory. */
import * as assert from 'uvu/assert';
import { version } from '../../../src/kernel/app.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('operation by the API', {
  resolve: (_, callback) => callback(new Error('There is no such host.'), []),
  product_name: 'Cloud',
  encryption_keys: [`2026:${Buffer.alloc(32, 1).toString('base64')}`],
});

const start = '2018-01-05T04:47:04Z';

async function waitingDelivery(): Promise<{ hook: Json; delivery: Json }> {
  const body = { destination_url: 'https://hooks.test/', event_types: ['customer_creation_succeeded'] };
  const hook = (await fixture.staff.post('/api/hooks-web/', body)).body;
  const delivery = (await fixture.staff.post(`${hook.url}test/`)).body;
  await fixture.server.settled();
  return { hook, delivery };
}

test('lists pending messages of the outbox with attempts and last error, and sends one immediately on request', async () => {
  const { delivery } = await waitingDelivery();
  const { body } = await fixture.staff.get('/api/outbox/');
  const [message] = body;
  assert.equal(body, [
    {
      url: `${fixture.url}/api/outbox/${delivery.uuid}/`,
      uuid: delivery.uuid,
      outbox: 'hooks',
      kind: 'web',
      subject: 'custom_notification',
      receiver: 'https://hooks.test/',
      attempts: 1,
      response_code: null,
      error_message: 'Destination is not allowed.',
      created: start,
      last_attempt: start,
      next_attempt: message.next_attempt,
    },
  ]);
  assert.ok(message.next_attempt > start);
  const retried = await fixture.staff.post(`${message.url}retry/`);
  assert.is(retried.status, 202);
  assert.equal(retried.body, { ...message, next_attempt: start });
  await fixture.server.settled();
  assert.is((await fixture.staff.get(message.url)).body.attempts, 2);
  for (const query of ['?outbox=passwords', '?kind=email', '?receiver=nobody'])
    assert.equal((await fixture.staff.get(`/api/outbox/${query}`)).body, []);
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE delivery SET status = 'delivered', next_attempt = NULL`));
  assert.equal((await fixture.staff.get('/api/outbox/')).body, []);
  assert.is((await fixture.staff.get(message.url)).status, 404);
});

test('lists mails: of invitations, of changed emails and passwords, of forgotten passwords', async () => {
  const { db } = fixture.server.app;
  const columns = { status: 'pending', created: 1_515_127_624_000_000, next_attempt: 4_000_000_000_000_000 };
  const user = db.scalar<number>(sql`SELECT id FROM user`);
  db.write(() => {
    db.insert('invitation_mail', { uuid: '1'.repeat(32), ...columns });
    db.insert('user_notice', {
      uuid: '2'.repeat(32),
      user_id: user,
      what: 'email',
      email: 'a@example.com',
      ...columns,
    });
    db.insert('password_reset', { uuid: '3'.repeat(32), email: 'b@example.com', ...columns });
  });
  const { body } = await fixture.staff.get('/api/outbox/?o=created');
  assert.equal(
    body.map(({ uuid, outbox, kind, subject, receiver }: Json) => [uuid[0], outbox, kind, subject, receiver]),
    [
      ['1', 'invitations', 'email', 'invitation', null],
      ['2', 'notices', 'email', 'changed email', 'a@example.com'],
      ['3', 'passwords', 'email', 'forgotten password', 'b@example.com'],
    ],
  );
  for (const message of body) assert.is((await fixture.staff.post(`${message.url}retry/`)).body.next_attempt, start);
});

async function cloud(): Promise<Droplets> {
  const customer = await fixture.customer('Alice');
  return dropletService(fixture, { customer, project: await fixture.project('Rocket', customer) });
}

test('lists jobs with the reason for waiting, and with their memo except secrets', async () => {
  const service = await cloud();
  const droplet = await service.begin({ name: 'web-1' });
  const { body } = await fixture.staff.get('/api/jobs/');
  const [job] = body;
  const now = (await fixture.staff.get('/api/operation/')).body.now;
  assert.equal(body, [
    {
      url: `${fixture.url}/api/jobs/${job.pk}/`,
      pk: job.pk,
      operation: 'create',
      state: 'waiting',
      resource_type: 'DigitalOcean.Droplet',
      resource_name: 'web-1',
      resource_uuid: droplet.uuid,
      settings: service.settings.url,
      settings_name: 'Cloud',
      settings_type: 'DigitalOcean',
      caused_by: 'admin',
      attempts: 0,
      error_message: '',
      memo: {},
      has_secrets: false,
      created: now,
      started: null,
      next_attempt: job.next_attempt,
    },
  ]);
  const { db } = fixture.server.app;
  const memo = { stage: 2, user: { name: 'root', password: 'x1' }, admin_pass: 'x2', api_token: 'x3', ids: ['a', 'b'] };
  db.write(() => db.update('job', job.pk, { memo: JSON.stringify(memo) }));
  const visibleMemo = (await fixture.staff.get(job.url)).body.memo;
  assert.equal(visibleMemo, { stage: 2, 'user.name': 'root', 'ids[0]': 'a', 'ids[1]': 'b' });
  assert.equal((await fixture.staff.get('/api/jobs/?state=running')).body, []);
  assert.is((await fixture.staff.get(`/api/jobs/?state=waiting&resource_uuid=${droplet.uuid}`)).body.length, 1);
});

test('shows the error of a job whose call failed, and runs it immediately unless it is running', async () => {
  const service = await cloud();
  const droplet = await service.begin();
  await work(fixture);
  await setOptions(fixture, service.settings, { simulator_failures: 'stop' });
  const { db } = fixture.server.app;
  await fixture.staff.post(`${droplet.url}stop/`);
  const [job] = (await fixture.staff.get('/api/jobs/')).body;
  db.write(() => db.update('job', job.pk, { error_message: 'Backend does not respond', retries: 2 }));
  const failing = (await fixture.staff.get('/api/jobs/?state=failing')).body;
  assert.equal(failing, [{ ...job, state: 'failing', error_message: 'Backend does not respond', attempts: 2 }]);
  const run = await fixture.staff.post(`${job.url}run/`);
  assert.is(run.status, 202);
  assert.is(run.body.next_attempt, (await fixture.staff.get('/api/operation/')).body.now);
  db.write(() => db.update('job', job.pk, { lease: 4_000_000_000_000_000 }));
  const rejection = await fixture.staff.post(`${job.url}run/`);
  assert.equal([rejection.status, rejection.body], [409, { detail: 'Job is running.' }]);
  db.write(() => db.update('job', job.pk, { lease: null }));
  await work(fixture);
  assert.is((await fixture.staff.get(job.url)).status, 404);
});

test('shows pending and failing work in the overview', async () => {
  await waitingDelivery();
  const empty = { waiting: 0, oldest: null };
  assert.equal((await fixture.staff.get('/api/operation/')).body, {
    version,
    now: start,
    is_in_memory: true,
    outboxes: [
      { outbox: 'hooks', waiting: 1, oldest: start },
      { outbox: 'invitations', ...empty },
      { outbox: 'notices', ...empty },
      { outbox: 'notifications', ...empty },
      { outbox: 'passwords', ...empty },
    ],
    audit_sinks: [],
    jobs: { running: 0, waiting: 0, failing: 0 },
    event_streams: 0,
    troubles: [],
    examination: { state: 'never', started: null, finished: null, findings: [], error_message: '' },
    backup_count: 0,
    last_backup: null,
    last_verified_backup: null,
  });
});

test('returns the current settings with their sources, without secrets', async () => {
  const listed = await fixture.staff.get('/api/deployment-settings/?is_given=true&page_size=300');
  assert.is(listed.headers.get('etag'), null);
  const byName = Object.fromEntries(listed.body.map((setting: Json) => [setting.name, setting]));
  assert.equal(byName.product_name, {
    name: 'product_name',
    value: 'Cloud',
    default: 'Tenantry',
    source: 'createServer',
    kind: 'text',
    is_secret: false,
    help_text: 'Name of the service in mails and outgoing requests.',
  });
  assert.equal([byName.encryption_keys.value, byName.encryption_keys.is_secret], ['********', true]);
  const { body } = await fixture.staff.get(
    '/api/deployment-settings/?name=SMTP_URL&field=name&field=value&field=source',
  );
  assert.equal(body, [{ name: 'smtp_url', value: '', source: '' }]);
});

test('runs the doctor on request, and returns its results', async () => {
  const { db } = fixture.server.app;
  await fixture.customer('Alice');
  db.write(() => db.run(sql`UPDATE quota SET usage = 5 WHERE name = 'nc_global_customer_count'`));
  const begun = await fixture.staff.post('/api/operation/doctor/');
  assert.equal([begun.status, begun.body.state, begun.body.started], [202, 'running', start]);
  let matches: Json;
  await eventually('the examination ends', async () => {
    matches = (await fixture.staff.get('/api/operation/doctor/')).body;
    return matches.state !== 'running';
  });
  assert.is(matches.state, 'done');
  assert.match(matches.findings.join(), /nc_global_customer_count .* usage 5, counted 1/);
});

test('rejects backups of data in memory', async () => {
  const rejection = await fixture.staff.post('/api/backups/');
  assert.equal([rejection.status, rejection.body], [409, { detail: 'Data in memory has no backups.' }]);
  assert.equal((await fixture.staff.get('/api/backups/')).body, []);
});

test('lets the next operation of the simulator fail on request, and advances the clock of a server in memory', async () => {
  assert.equal((await fixture.staff.get('/api/simulator/')).body, { now: start, is_enabled: true, is_clock_own: true });
  const unknown = await fixture.staff.post('/api/simulator/fail_next/', { kind: 'Moon', operation: 'create' });
  assert.is(unknown.status, 400);
  assert.match(unknown.body.kind[0], /there is no "Moon"; there are: /);
  const service = await cloud();
  const failing = { kind: 'DigitalOcean.Droplet', operation: 'create', message: 'No room.' };
  assert.is((await fixture.staff.post('/api/simulator/fail_next/', failing)).status, 200);
  const droplet = await service.begin();
  const before = Date.parse((await fixture.staff.get('/api/simulator/')).body.now);
  const advanced = await fixture.staff.post('/api/simulator/advance/', { seconds: 3600 });
  assert.is(Date.parse(advanced.body.now), before + 3_600_000);
  const { error_message, state } = (await fixture.staff.get(droplet.url)).body;
  assert.equal([state, error_message], ['Erred', 'No room.']);
  const wrong = await fixture.staff.post('/api/simulator/advance/', { seconds: 0 });
  assert.equal(wrong.body, { seconds: ['Ensure this value is greater than or equal to 1.'] });
});

test('changes a simulated resource at its provider only, until the next synchronisation', async () => {
  const service = await cloud();
  const [one, two] = [await service.make(), await service.make()];
  const drift = (body: Json) => fixture.staff.post('/api/simulator/drift/', body);
  const before = (await fixture.staff.get(one.url)).body;
  fixture.events();
  assert.is((await drift({ resource: one.url, change: 'rename' })).status, 200);
  assert.is((await drift({ resource: two.url, change: 'vanish' })).status, 200);
  assert.equal((await fixture.staff.get(one.url)).body, before, 'the change is not visible yet');
  assert.equal(fixture.events(), []);
  await fixture.staff.post(`${service.settings.url}pull/`);
  await work(fixture);
  assert.is((await fixture.staff.get(one.url)).body.name, 'renamed-1');
  const { error_message, state } = (await fixture.staff.get(two.url)).body;
  assert.equal([state, error_message], ['Erred', 'Does not exist at backend.']);
  const gone = await drift({ resource: two.url, change: 'vanish' });
  assert.equal([gone.status, gone.body], [409, { detail: 'The provider does not know the resource.' }]);
  assert.equal((await drift({ resource: one.url, change: 'explode' })).body, {
    change: ['"explode" is not a valid choice.'],
  });
  for (const [resource, problem] of [
    [7, 'Not a valid string.'],
    ['x', 'URL is invalid: x.'],
    [service.settings.url, `${service.settings.url} object does not support such relationship.`],
    [
      one.url.replace(one.uuid, '0'.repeat(32)),
      `Can't restore object from url: ${one.url.replace(one.uuid, '0'.repeat(32))}`,
    ],
  ])
    assert.equal((await drift({ resource, change: 'vanish' })).body, { resource: [problem] });
  assert.equal((await drift({})).body, { resource: ['This field is required.'], change: ['This field is required.'] });
});

test('rejects actions of the simulator when it is off', async () => {
  await fixture.open({ simulator_enabled: false });
  for (const [path, body] of [
    ['fail_next', { kind: 'DigitalOcean', operation: 'ping' }],
    ['drift', { resource: '0'.repeat(32), change: 'vanish' }],
    ['advance', { seconds: 1 }],
  ] as const) {
    const rejection = await fixture.staff.post(`/api/simulator/${path}/`, body);
    assert.equal([rejection.status, rejection.body], [409, { detail: 'The simulator is switched off.' }]);
  }
});

test.run();
