/** core.md 13: effects of a jump of the machine's clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clockRules } from '../../../src/app/compose/clock-rules.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { ClockWatch } from '../../../src/kernel/jobs/clock-watch.ts';
import { Timer } from '../../../src/kernel/jobs/timer.ts';
import { dropletService } from '../../support/droplets.ts';
import { type Client, Fixture, type Json, start } from '../../support/fixture.ts';
import { type MachineClock, machineClock } from '../../support/machine-clock.ts';
import { Receiver } from '../../support/receiver.ts';
import { setOptions, work } from '../../support/simulated.ts';

const test = suite('jumps of the clock');
const [minute, hour, day] = [60, 3600, 86_400];
const fixture = new Fixture();
let clock: MachineClock;
let receiver: Receiver;

test.before(async () => {
  receiver = await Receiver.start();
});
test.before.each(async () => {
  clock = machineClock(start);
  receiver.behaviour = 200;
  receiver.take();
  await fixture.open({ events_retention: 10 * day * 1e6, hooks_allowed_networks: ['127.0.0.0/8'] }, clock);
});
test.after(async () => {
  await fixture.close();
  await receiver.close();
});

/** The operator sets the clock, then the server checks it. */
async function set(seconds: number): Promise<void> {
  clock.jump(seconds);
  fixture.server.tick();
  await fixture.server.settled();
}

/** The service runs for this long. */
async function run(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= hour) await fixture.advance(Math.min(left, hour));
}

const status = async (client: Client): Promise<number> => (await client.get('/api/')).status;
const emit = (message: string): Promise<unknown> => fixture.staff.post('/api/events/', { level: 'warning', message });
const messages = async (): Promise<string[]> =>
  (await fixture.staff.get('/api/events/?event_type=custom_notification')).body.map((event: Json) => event.message);
const hook = async (): Promise<Json> =>
  (
    await fixture.staff.post('/api/hooks-web/', {
      destination_url: `${receiver.url}/`,
      event_types: ['custom_notification'],
    })
  ).body;
const isActive = async ({ url }: Json): Promise<boolean> => (await fixture.staff.get(url)).body.is_active;
/** A separate process runs the command, and the server notices. */
async function accept(): Promise<void> {
  new ClockWatch(fixture.server.app, { instants: [], endExpired: [] }).accept();
  await fixture.advance(1);
}

test('a token that was used before the clock is set back expires no later than its lifetime from now', async () => {
  await fixture.user('alice', { token_lifetime: hour });
  const alice = fixture.as('alice');
  await run(2 * minute);
  assert.is(await status(alice), 200);
  await set(-10 * day);
  await run(hour - 1);
  const another = fixture.as('alice');
  assert.is(await status(another), 200);
  await run(1);
  assert.equal([await status(alice), await status(another)], [401, 200]);
});

test('an expired confirmation of a session stays expired when the clock is set back; a valid one lasts 15 minutes', async () => {
  const { app } = fixture.server;
  const confirmations = (): (number | null)[] =>
    app.db.values(
      sql`SELECT confirmed_until FROM token JOIN user ON user.id = user_id WHERE username = 'alice' ORDER BY token.id`,
    );
  await fixture.user('alice');
  fixture.as('alice');
  await run(20 * minute);
  fixture.as('alice');
  await run(minute);
  await set(-hour);
  assert.equal(confirmations(), [null, app.clock.now() + 15 * minute * 1e6]);
});

test('keeps an expired token expired when the clock is set back', async () => {
  await fixture.user('alice', { token_lifetime: hour });
  for (const back of [1.5 * hour, 2.5 * hour, 10 * day]) {
    const alice = fixture.as('alice');
    assert.is(await status(alice), 200);
    await run(2 * hour);
    await set(-back);
    assert.is(await status(alice), 401, `${back} s`);
  }
});

test('a link that sets a password works no longer than its hour when the clock is set back', async () => {
  await fixture.open({ password_reset_url: 'https://app.example.com/reset/{secret}' }, clock);
  await fixture.user('alice', { email: 'alice@example.com' });
  const link = async (): Promise<string> => {
    await fixture.anonymous.post('/api-auth/password/forgot/', { email: 'alice@example.com' });
    await fixture.server.settled();
    const mail = fixture.server.app.mailStore.inMemory.at(-1)?.message.toString() ?? '';
    return /reset\/([0-9a-f]{32})/.exec(mail)?.[1] ?? '';
  };
  const use = async (secret: string): Promise<number> =>
    (await fixture.anonymous.post('/api-auth/password/reset/', { secret, password: 'correct horse 1' })).status;
  const over = await link();
  await run(1.5 * hour);
  await set(-2 * hour);
  assert.is(await use(over), 404);
  const young = await link();
  await set(-10 * day);
  await run(hour);
  assert.is(await use(young), 404);
  assert.is(await use(await link()), 200);
});

test('a lock ends after ten minutes when the clock is set back', async () => {
  const user = await fixture.user('alice');
  const password = 'correct horse 1';
  await fixture.staff.post(`${user.url}password/`, { password });
  const attempt = async (tried: string): Promise<number> =>
    (await fixture.anonymous.post('/api-auth/password/', { username: 'alice', password: tried })).status;
  for (let i = 0; i < 4; i++) await attempt('wrong');
  await set(-10 * day);
  await run(10 * minute - 1);
  assert.is(await attempt(password), 401, 'a second before');
  await run(1);
  assert.is(await attempt(password), 200);
});

test('retries a failed delivery within 29 hours, and continues deliveries at once', async () => {
  await hook();
  receiver.behaviour = 500;
  await emit('first');
  await fixture.server.settled();
  for (let i = 0; i < 3; i++) await run(15 * minute);
  const failed = receiver.take().length;
  assert.ok(failed > 1, String(failed));
  await set(-10 * day);
  receiver.behaviour = 200;
  await emit('second');
  await fixture.server.settled();
  assert.equal(
    receiver.take().map(({ body }) => JSON.parse(body).message),
    ['second'],
  );
  await run(29 * hour);
  assert.equal(
    receiver.take().map(({ body }) => JSON.parse(body).message),
    ['first'],
  );
});

test('an operation and synchronisations continue within minutes when the clock is set back', async () => {
  const customer = await fixture.customer('Alice');
  const cloud = await dropletService(fixture, { customer, project: await fixture.project('Rocket', customer) });
  const synced = (): unknown => fixture.server.app.db.value(sql`SELECT synced FROM service_settings`);
  await setOptions(fixture, cloud.settings, { simulator_latency: 'create=60000,sync=0' });
  const droplet = await cloud.begin();
  await fixture.advance(1);
  await set(-10 * day);
  assert.equal(synced(), clock.now());
  for (let i = 0; i < 4; i++) await run(5 * minute);
  assert.is((await fixture.staff.get(droplet.url)).body.state, 'OK');
  const last = synced();
  await run(2 * day);
  await work(fixture);
  assert.ok(Number(synced()) > Number(last));
});

test('batched mails are sent within an hour when the clock is set back', async () => {
  await fixture.open({ hook_mail_limit: 1 }, clock);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  await fixture.staff.patch(me.url, { email: 'admin@example.com' });
  await fixture.staff.post('/api/hooks-email/', { email: 'admin@example.com', event_types: ['custom_notification'] });
  const mails = (): number => fixture.server.app.mailStore.inMemory.length;
  for (const message of ['1', '2', '3']) await emit(message);
  await fixture.server.settled();
  const before = mails();
  await set(-10 * day);
  await run(hour - 1);
  assert.is(mails(), before);
  await run(1);
  assert.is(mails(), before + 1);
});

test('lists and sends events in the order of recording', async () => {
  await hook();
  await emit('1');
  await set(-10 * day);
  await emit('2');
  await set(20 * day);
  await emit('3');
  await fixture.server.settled();
  assert.equal(
    receiver.take().map(({ body }) => JSON.parse(body).message),
    ['1', '2', '3'],
  );
});

test('a clock that is set forward removes nothing until the server has run for a day', async () => {
  await emit('stored');
  await fixture.server.settled();
  await set(30 * day);
  await run(day - hour);
  assert.equal(await messages(), ['stored']);
  await run(hour + minute);
  assert.equal(await messages(), []);
});

test('or until the operator accepts the clock', async () => {
  await emit('stored');
  await set(30 * day);
  await fixture.advance(1);
  assert.equal(await messages(), ['stored']);
  await accept();
  assert.equal(await messages(), []);
});

test('delays removals after the clock was set back', async () => {
  await emit('stored');
  await run(11 * day - hour);
  assert.equal(await messages(), [], 'without a jump it is removed in time');
  await emit('other');
  await run(10 * day - minute);
  await set(-2 * hour);
  await run(hour * 5);
  assert.equal(await messages(), ['other']);
  await run(day);
  assert.equal(await messages(), []);
});

test('delays a removal that is due before any request has checked the clock', async () => {
  let removed = 0;
  const removal = { name: 'remove', every: 0, removes: true, run: () => void removed++ } as const;
  const timer = new Timer(fixture.server.app, [removal]);
  timer.tick();
  assert.is(removed, 1);
  for (const jump of [30 * day, -60 * day]) {
    clock.jump(jump);
    timer.tick();
    assert.is(removed, 1);
  }
});

test('a change of an hour does not delay removals', async () => {
  await emit('old');
  await run(10 * day - hour);
  await set(hour - 1);
  await fixture.advance(2);
  assert.equal(await messages(), []);
});

test('a jump does not disable a failing hook, but five days of running do', async () => {
  receiver.behaviour = 500;
  const dead = await hook();
  await emit('1');
  await fixture.server.settled();
  await run(2 * day);
  clock.jump(30 * day);
  // A login that expires before a user has checked the clock.
  await emit('2');
  await fixture.server.settled();
  assert.is(await isActive(dead), true, 'at once');
  await set(0);
  await accept();
  await emit('3');
  await fixture.server.settled();
  assert.is(await isActive(dead), true, 'with the clock accepted');
  await run(3 * day + hour);
  await emit('4');
  await fixture.server.settled();
  assert.is(await isActive(dead), false, 'five days of running');
});

test('a running operation does not time out because the clock is set forward', async () => {
  const customer = await fixture.customer('Alice');
  const cloud = await dropletService(fixture, { customer, project: await fixture.project('Rocket', customer) });
  await setOptions(fixture, cloud.settings, { simulator_latency: 'create=60000' });
  const droplet = await cloud.begin();
  await fixture.advance(1);
  await set(30 * day);
  await run(5 * minute);
  await work(fixture);
  const { error_message, state } = (await fixture.staff.get(droplet.url)).body;
  assert.equal([state, error_message], ['OK', '']);
});

test('delays removals at a start after a long downtime, or with a clock set back, but not after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-clock-'));
  const options = { ephemeral: false, data: folder, events_retention: 10 * day * 1e6 };
  const state = (): unknown =>
    fixture.server.app.db.get(sql`SELECT clock_jump / 1000000 AS jump, clock_wait / 1000000 AS wait FROM deployment`);
  const restart = async (rest: number): Promise<void> => {
    await fixture.close();
    clock.jump(rest);
    await fixture.open(options, clock);
  };
  try {
    await fixture.open(options, clock);
    assert.equal(state(), { jump: null, wait: null });
    await restart(hour - 1);
    assert.equal(state(), { jump: null, wait: null });
    await restart(30 * day);
    assert.equal(state(), { jump: 30 * day, wait: day });
    await run(2 * hour);
    await restart(minute);
    assert.equal(state(), { jump: 30 * day, wait: day - 2 * hour }, 'what was waited stays waited');
    await fixture.user('alice', { token_lifetime: hour });
    const alice = fixture.as('alice');
    await status(alice);
    await restart(-20 * day);
    assert.equal(state(), { jump: -20 * day, wait: day });
    await run(hour);
    assert.is(await status(alice), 401);
    await run(day);
    assert.equal(state(), { jump: null, wait: null });
  } finally {
    await fixture.close();
    rmSync(folder, { recursive: true });
  }
});

test('a server that cannot write at its start corrects a jump as soon as it can', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-clock-'));
  await fixture.open({ ephemeral: false, data: folder }, clock);
  const writer = new SQLite(join(folder, 'tenantry.db'));
  try {
    const { app } = fixture.server;
    writer.exec('BEGIN IMMEDIATE');
    clock.jump(30 * day);
    const watch = new ClockWatch(app, clockRules(app.config));
    watch.start();
    assert.is(watch.isSuspect(), true);
    writer.exec('ROLLBACK');
    watch.check();
    assert.equal(app.db.get(sql`SELECT clock_seen AS seen, clock_jump AS jump FROM deployment`), {
      seen: clock.now(),
      jump: 30 * day * 1e6,
    });
    assert.is(watch.isSuspect(), true);
  } finally {
    writer.close();
    await fixture.close();
    rmSync(folder, { recursive: true });
  }
});

test('a clock of an embedding program never counts as jumping', async () => {
  await fixture.open({ events_retention: 10 * day * 1e6 });
  await emit('old');
  await fixture.advance(30 * day);
  assert.equal(await messages(), []);
  assert.is(fixture.server.app.isClockDoubtful(), false);
});

/** Columns by table that look like instants which a rule compares with the current time, but are not, or must not move. */
const others: Readonly<Record<string, readonly string[]>> = {
  'only reported': [
    ...['ssh_key', 'customer', 'project', 'customer_role', 'project_role', 'service_settings', 'alert', 'hook'],
    ...[
      'delivery',
      'resource',
      'job',
      'jira_issue',
      'jira_comment',
      'jira_attachment',
      'invitation',
      'token',
      'api_key',
    ],
    ...['second_factor', 'service_account'],
  ].map((table) => `${table}.created`),
  'only reported, too': [
    ...[
      'user.date_joined',
      'user.agreement_date',
      'hook.modified',
      'second_factor.last_used',
      'resource.start_time',
      'jira_issue.updated',
    ],
    ...['saml_source.refreshed', 'hook_confirmation.used', 'invitation_mail.finished', 'password_reset.finished'],
    'oidc_failure.since',
    ...['delivery', 'invitation_mail', 'user_notice', 'password_reset', 'notification_mail'].map(
      (table) => `${table}.last_attempt`,
    ),
  ],
  'chosen by users, or the end of what they chose': [
    ...['customer_role', 'project_role'].flatMap((table) => [`${table}.expires`, `${table}.ended`]),
    ...['api_key.expires', 'api_key.previous_expires'],
  ],
  'set by an identity provider': ['saml_used_message.expires'],
  'history, which records the clock': [
    ...[
      'event.at',
      'event_about.at',
      'audit_record.at',
      'audit_key.created',
      'quota_version.at',
      'quota.first_at',
      'monitoring_value.at',
    ],
  ],
  'an hour that begins again if it lies ahead': ['hook_mail_hour.since'],
  'from the name of a file, or compared with it only': ['backup.created', 'deployment.backup_overdue'],
  'of the watch itself': ['deployment.clock_seen', 'deployment.clock_jump', 'deployment.clock_wait'],
};

test('every stored instant is corrected, or has a reason not to be', () => {
  const { config, db } = fixture.server.app;
  const looksSo =
    /^(at|verification_at|clock_\w+|first_at|start_time|date_joined|agreement_date|.*(expires|since|ends|due|handled|lease|created|started|ended|used|revoked|closed|synced|refreshed|finished|attempt|modified|updated|until))$/;
  const columns = db
    .all<{ table: string; name: string }>(sql`
      SELECT s.name AS "table", c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
      WHERE s.type = 'table' AND c.type = 'INTEGER'`)
    .filter(({ name }) => looksSo.test(name))
    .map(({ name, table }) => `${table}.${name}`);
  const declared = clockRules(config).instants.map(({ column, table }) => `${table}.${column}`);
  assert.equal([...new Set([...declared, ...Object.values(others).flat()])].sort(), columns.sort());
});

test.run();
