/** The list of notifications, preferences, mails and web hooks (events.md 8.3 to 8.5). */
import * as assert from 'uvu/assert';
import { lastOccurrence } from '../../../src/activity/notifications/daily-mails.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { Receiver } from '../../support/receiver.ts';
import { sentMails } from '../../support/sent-mails.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('notifications', {
  hooks_allowed_networks: ['127.0.0.1'],
  base_url: 'https://tenantry.example.com',
  notification_mail_limit: 3,
});
const hour = 3600;
let alice: Client;
let user: Json;
let customer: Json;

test.before.each(async () => {
  user = await fixture.user('alice', { email: 'alice@example.com' });
  alice = fixture.as('alice');
  customer = await fixture.customer('Acme');
  await fixture.grant(customer, user, 'owner');
  fixture.clock.hold();
  fixture.clock.set('2018-01-05T12:00:00Z');
});

const alert = (message: string, severity = 'Error', type = message) =>
  fixture.staff.post('/api/alerts/', { scope: customer.url, alert_type: type, message, severity });

const mails = async () =>
  (await sentMails(fixture)).map(({ subject, text, to }) => ({
    to: to?.[0]?.address,
    subject,
    lines: text?.trim().split('\n') ?? [],
  }));

const link = ['', 'https://tenantry.example.com/#/notifications'];

test('lists the notifications of the caller, newest first; they can be filtered and marked as read', async () => {
  await alert('First');
  fixture.clock.advance(1);
  await alert('Second', 'Warning');
  const { body, headers } = await alice.get('/api/notifications/');
  assert.is(headers.get('x-result-count'), '2');
  const [second, first] = body;
  const { body: context } = await alice.get(`/api/alerts/?scope=${customer.url}&o=created`);
  const firstAlert = context.find(({ message }: Json) => message === 'First');
  assert.equal(first, {
    url: `https://tenantry.example.com/api/notifications/${first.uuid}/`,
    uuid: first.uuid,
    kind: 'alert_opened',
    level: 'error',
    message: 'First',
    context: { ...firstAlert.context, alert_uuid: firstAlert.uuid, alert_type: 'First', severity: 'Error' },
    created: '2018-01-05T12:00:00Z',
    read: null,
  });
  assert.is((await alice.post(`${first.url}read/`)).status, 204);
  assert.equal(
    (await alice.get('/api/notifications/?unread')).body.map(({ uuid }: Json) => uuid),
    [second.uuid],
  );
  assert.is((await alice.get(first.url)).body.read, '2018-01-05T12:00:01Z');
  fixture.clock.advance(1);
  await alice.post(`${first.url}read/`);
  assert.is((await alice.get(first.url)).body.read, '2018-01-05T12:00:01Z', 'the first time counts');
  await alice.post('/api/notifications/read_all/');
  assert.equal((await alice.get('/api/notifications/?unread')).body, []);
  assert.equal((await alice.get('/api/notifications/?kind=alert_closed')).body, []);
  assert.equal((await fixture.staff.get(first.url)).status, 404, 'they belong to one user');
  assert.equal((await fixture.staff.get('/api/notifications/')).body, []);
  assert.equal((await alice.delete(first.url)).status, 405);
});

test('stores notifications for 30 days, and the newest 1,000', async () => {
  await alert('Old');
  await fixture.advance(30 * 24 * hour - 1);
  assert.is((await alice.get('/api/notifications/')).body.length, 1);
  await fixture.advance(2 * hour);
  assert.is((await alice.get('/api/notifications/')).body.length, 0);
  const { db } = fixture.server.app;
  db.write(() =>
    db.run(sql`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1005)
      INSERT INTO notification (uuid, user_id, kind, level, message, detail, context, about, created)
      SELECT lower(hex(randomblob(16))), (SELECT id FROM user WHERE username = 'alice'), 'disk_low', 'error', n, '', '{}', '', ${fixture.clock.now()}
      FROM numbers`),
  );
  assert.is((await alice.get('/api/notifications/')).headers.get('x-result-count'), '1000');
  await fixture.advance(2 * hour);
  assert.is(db.value(sql`SELECT count(*) FROM notification`), 1000);
});

test('preferences have a default, and change by PUT and PATCH', async () => {
  const { body } = await alice.get('/api/notification-preferences/');
  assert.equal(body, {
    alert_closed: 'daily',
    alert_opened: 'daily',
    api_key_expiring: 'immediate',
    hook_disabled: 'immediate',
    invitation_expired: 'daily',
    provider_account_failed: 'immediate',
    provider_account_recovered: 'daily',
    quota_nearly_used: 'daily',
    resource_failed: 'immediate',
    role_expiring: 'immediate',
  });
  const staff = (await fixture.staff.get('/api/notification-preferences/')).body;
  assert.equal(
    Object.keys(staff).filter((kind) => !(kind in body)),
    ['audit_sink_behind', 'backup_failed', 'backup_overdue', 'certificate_expiring', 'disk_low'],
  );
  const changed = await alice.patch('/api/notification-preferences/', {
    alert_opened: 'none',
    disk_low: 'none',
    unknown: 'x',
  });
  assert.equal([changed.status, changed.body], [200, { ...body, alert_opened: 'none' }]);
  const put = await alice.put('/api/notification-preferences/', { role_expiring: 'daily' });
  assert.equal(put.body, { ...body, alert_opened: 'none', role_expiring: 'daily' });
  const wrong = await alice.patch('/api/notification-preferences/', { alert_opened: 'x', role_expiring: 'none' });
  assert.equal([wrong.status, wrong.body], [400, { alert_opened: ['"x" is not a valid choice.'] }]);
  assert.is((await alice.get('/api/notification-preferences/')).body.role_expiring, 'daily', 'nothing is half-written');
});

test('mails errors at once, in the language of the user, and the rest once a day', async () => {
  await alert('Broken');
  assert.equal(await mails(), [
    { to: 'alice@example.com', subject: 'Tenantry: Alert', lines: ['2018-01-05 12:00 Broken', ...link] },
  ]);
  await alert('Nearly', 'Warning');
  await alice.patch(user.url, { preferred_language: 'et', agree_with_policy: true });
  fixture.clock.set('2018-01-06T06:59:59Z');
  await fixture.advance(0);
  assert.is((await mails()).length, 1);
  fixture.clock.set('2018-01-06T07:01:00Z');
  await fixture.advance(0);
  assert.equal((await mails())[1], {
    to: 'alice@example.com',
    subject: 'Päeva teavitused: Tenantry',
    lines: ['2018-01-05 12:00 Nearly', ...link],
  });
  await fixture.advance(24 * hour);
  assert.is((await mails()).length, 2, 'an empty digest is not sent');
});

test('mails at most once an hour about one object, and batches mails above the hourly limit', async () => {
  for (const severity of ['Error', 'Error']) {
    const { body } = await alert('Flaps', severity);
    await fixture.staff.post(`${body.url}close/`);
  }
  assert.is((await mails()).filter(({ subject }) => subject === 'Tenantry: Alert').length, 1);
  for (const name of ['Second', 'Third', 'Fourth', 'Fifth']) await alert(name);
  assert.is((await mails()).length, 3);
  await fixture.advance(hour);
  const gathered = (await mails()).slice(3);
  assert.equal(gathered, [
    {
      to: 'alice@example.com',
      subject: 'Notifications from Tenantry',
      lines: ['2018-01-05 12:00 Fourth', '2018-01-05 12:00 Fifth', ...link],
    },
  ]);
});

test('a quota that flaps around 80 % sends one mail an hour, and the digest has the rest', async () => {
  await alice.patch('/api/notification-preferences/', { quota_nearly_used: 'immediate' });
  const [quota] = (await fixture.staff.get(`/api/quotas/?scope=${customer.url}&name=nc_project_count`)).body;
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE quota SET usage = 80 WHERE uuid = ${quota.uuid}`));
  const subjects = async (): Promise<(string | undefined)[]> => (await mails()).map(({ subject }) => subject);
  const sentAfter: number[] = [];
  for (let minute = 0; minute < 120; minute += 5) {
    // 80 %, then 67 %.
    for (const limit of [100, 120]) assert.is((await fixture.staff.patch(quota.url, { limit })).status, 200);
    sentAfter.push((await subjects()).length);
    await fixture.advance(300);
  }
  assert.equal(sentAfter, [...Array(12).fill(1), ...Array(12).fill(2)]);
  const { body } = await alice.get('/api/notifications/?kind=quota_nearly_used&page_size=100');
  assert.is(body.length, 24);
  await fixture.advance(20 * hour);
  const digest = (await mails()).at(-1);
  assert.is(digest?.subject, 'Daily notifications from Tenantry');
  assert.is(digest?.lines.filter((line) => line.includes('nc_project_count')).length, 22);
});

test('mails nothing to unverified addresses, or about objects that the user can no longer see', async () => {
  const permission = (await fixture.staff.get(`/api/customer-permissions/?customer=${customer.uuid}`)).body[0];
  await alert('Warned', 'Warning');
  await fixture.staff.delete(permission.url);
  fixture.clock.set('2018-01-06T07:01:00Z');
  await fixture.advance(0);
  assert.equal(await mails(), []);
  await fixture.grant(customer, user, 'owner');
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE user SET email_verified = 0 WHERE username = 'alice'`));
  await alert('Broken');
  assert.equal(await mails(), []);
  const rows = db.all(sql`SELECT status, error_message FROM notification_mail ORDER BY id`);
  assert.equal(rows, [
    { status: 'skipped', error_message: 'The user can no longer see what it is about.' },
    { status: 'skipped', error_message: 'The user has no verified address.' },
  ]);
});

test('names of objects in mails never become links', async () => {
  await fixture.staff.patch(customer.url, { name: 'See https://evil.example/x' });
  await alert('Visit https://evil.example/y now');
  const [mail] = await mails();
  assert.not.match(mail?.lines.join('\n') ?? '', /evil/);
});

test('the link in a mail unsubscribes from its kinds with one click', async () => {
  await alert('Broken');
  const [mail] = await sentMails(fixture);
  const header = mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  assert.is(mail?.headers.find(({ key }) => key === 'list-unsubscribe-post')?.value, 'List-Unsubscribe=One-Click');
  const path = new URL(header.slice(1, -1)).pathname;
  assert.match(path, /^\/notifications\/unsubscribe\/[0-9a-f]{64}\/$/);
  assert.is((await fixture.anonymous.get(path)).status, 200, 'a scanner that opens the link changes nothing');
  assert.is((await alice.get('/api/notification-preferences/')).body.alert_opened, 'daily');
  const done = await fixture.anonymous.post(path, undefined);
  assert.equal(
    [done.status, done.body],
    [200, { detail: 'These notifications will no longer be sent to your email address.' }],
  );
  const { body } = await alice.get('/api/notification-preferences/');
  assert.equal([body.alert_opened, body.alert_closed], ['none', 'daily']);
  await alert('Again');
  assert.is((await mails()).length, 1);
  const forged = path.replace(/.\/$/, (end) => `${end[0] === '0' ? '1' : '0'}/`);
  assert.is((await fixture.anonymous.post(forged, undefined)).status, 404);
});

test('a web hook gets the kinds that it names, whatever its author prefers, within its limits', async () => {
  const receiver = await Receiver.start();
  try {
    const other = await fixture.customer('Other');
    await fixture.grant(other, user, 'owner');
    await alice.patch('/api/notification-preferences/', { alert_opened: 'none' });
    const { body: hook, status } = await alice.post('/api/hooks-web/', {
      destination_url: `${receiver.url}/`,
      notification_types: ['alert_opened'],
      customers: [customer.url],
    });
    assert.equal([status, hook.notification_types, hook.event_types], [201, ['alert_opened'], []]);
    const empty = await alice.post('/api/hooks-web/', { destination_url: `${receiver.url}/`, notification_types: [] });
    assert.equal(empty.body, { non_field_errors: ['Please specify list of event_types or event_groups.'] });
    await alert('Broken');
    await fixture.staff.post('/api/alerts/', { scope: other.url, alert_type: 'x', message: 'Else', severity: 'Error' });
    await fixture.server.settled();
    const [{ context }] = (await alice.get('/api/notifications/')).body.slice(1);
    assert.equal(receiver.takeJson(), [
      {
        timestamp: '2018-01-05T12:00:00.000000',
        message: 'Broken',
        type: 'notification.alert_opened',
        context,
        levelname: 'ERROR',
      },
    ]);
    const [delivery] = (await alice.get(`${hook.url}deliveries/`)).body;
    assert.equal([delivery.event_type, delivery.event_uuid], ['notification.alert_opened', null]);
  } finally {
    await receiver.close();
  }
});

test('the daily hour is that of a time zone, also when its offset changes', () => {
  const at = (text: string) => Date.parse(text) * 1000;
  const last = (now: string, zone: string) => new Date(lastOccurrence(at(now), 7, zone) / 1000).toISOString();
  assert.is(last('2026-01-05T06:59:59Z', 'UTC'), '2026-01-04T07:00:00.000Z');
  assert.is(last('2026-01-05T07:00:00Z', 'UTC'), '2026-01-05T07:00:00.000Z');
  assert.is(last('2026-01-05T05:30:00Z', 'Europe/Tallinn'), '2026-01-05T05:00:00.000Z');
  assert.is(last('2026-03-29T06:00:00Z', 'Europe/Tallinn'), '2026-03-29T04:00:00.000Z', 'summer time began that night');
  assert.is(last('2026-03-29T03:30:00Z', 'Europe/Tallinn'), '2026-03-28T05:00:00.000Z');
  assert.is(last('2026-10-25T12:00:00Z', 'Europe/Tallinn'), '2026-10-25T05:00:00.000Z');
  assert.is(last('2026-01-05T00:00:00Z', 'Asia/Kolkata'), '2026-01-04T01:30:00.000Z');
});

test.run();
