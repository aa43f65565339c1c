/** Each kind of notification: when it is sent, and to which users (events.md 8.1, 8.2). */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { createPersonas, type PersonaName, type Personas, personaNames } from '../../support/personas.ts';
import { Receiver } from '../../support/receiver.ts';
import { setOptions, simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('kinds of notifications', { hooks_allowed_networks: ['127.0.0.1'] });
let people: Personas;

test.before.each(async () => {
  people = await createPersonas(fixture);
  fixture.server.app.db.write(() => fixture.server.app.db.run(sql`DELETE FROM notification`));
});

/** Returns the notifications of each persona since the last call: kind, level and message. */
async function received(): Promise<Partial<Record<PersonaName, string[]>>> {
  await fixture.server.settled();
  const result: Partial<Record<PersonaName, string[]>> = {};
  for (const name of personaNames) {
    const { body } = await people.clients[name].get('/api/notifications/?unread');
    if (body.length === 0) continue;
    result[name] = body.map(({ kind, level, message }: Json) => `${kind} ${level}: ${message}`).reverse();
    await people.clients[name].post('/api/notifications/read_all/');
  }
  return result;
}

/** Returns the same notifications for each of these personas. */
const each = (names: readonly PersonaName[], ...lines: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, lines]));

const limitOf = async (name: string, limit: number): Promise<void> => {
  const [quota] = (await fixture.staff.get(`/api/quotas/?scope=${people.customer.url}&name=${name}`)).body;
  assert.is((await fixture.staff.patch(quota.url, { limit })).status, 200);
};

test('an alert notifies the users responsible for its scope when it opens, reopens and closes', async () => {
  const post = (scope: Json, severity: string) =>
    fixture.staff.post('/api/alerts/', { scope: scope.url, alert_type: 'x', message: 'Look', severity });
  const { body: alert } = await post(people.project, 'Error');
  assert.equal(await received(), each(['owner', 'manager', 'admin'], 'alert_opened error: Look'));
  await post(people.project, 'Warning');
  assert.equal(await received(), {}, 'an update of an open alert is not news');
  await fixture.staff.post(`${alert.url}close/`);
  assert.equal(await received(), each(['owner', 'manager', 'admin'], 'alert_closed info: Closed: Look'));
  await post(people.project, 'Debug');
  assert.equal(await received(), each(['owner', 'manager', 'admin'], 'alert_opened debug: Look'));
  await post(people.customer, 'Info');
  assert.equal(await received(), each(['owner'], 'alert_opened info: Look'));
  await post(people.users.stranger, 'Info');
  assert.equal(await received(), each(['stranger'], 'alert_opened info: Look'));
});

test('a quota notifies at 80 and 100 %, and again only after it was 5 points below', async () => {
  await limitOf('nc_project_count', 100);
  const [quota] = (await fixture.staff.get(`/api/quotas/?scope=${people.customer.url}&name=nc_project_count`)).body;
  const use = async (usage: number): Promise<unknown> => {
    const { db } = fixture.server.app;
    const before = db.value<number>(sql`SELECT usage FROM quota WHERE uuid = ${quota.uuid}`) as number;
    // Change the limit instead of the usage, which only objects change.
    await limitOf('nc_project_count', Math.round((before * 100) / usage));
    return received();
  };
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE quota SET usage = 100 WHERE uuid = ${quota.uuid}`));
  const name = people.customer.name;
  const at = (percent: number, limit: number) =>
    each(
      ['owner'],
      `quota_nearly_used warning: The quota nc_project_count of ${name} is ${percent}% used (100 of ${limit}).`,
    );
  assert.equal(await use(79), {});
  assert.equal(await use(80), at(80, 125));
  assert.equal(await use(85), {}, 'the same step');
  assert.equal(await use(78), {}, 'it flaps');
  assert.equal(await use(81), {});
  assert.equal(await use(100), at(100, 100));
  assert.equal(await use(97), {});
  assert.equal(await use(100), {});
  assert.equal(await use(94), {});
  assert.equal(await use(100), at(100, 100));
  assert.equal(await use(50), {});
  assert.equal(await use(80), at(80, 125));
});

test('a role that expires reminds its user and the managers 7 days and 1 day before', async () => {
  const day = 24 * 3600;
  const at = (seconds: number) => new Date(fixture.clock.now() / 1000 + seconds * 1000).toISOString();
  const end = at(10 * day).replace(/\.\d+/, '');
  await fixture.grant(people.project, people.users.stranger, 'support', end);
  await fixture.grant(people.customer, people.users.stranger, 'support', at(3 * day));
  fixture.server.app.db.write(() => fixture.server.app.db.run(sql`DELETE FROM notification`));
  await fixture.advance(2.9 * day);
  assert.equal(
    Object.keys(await received()),
    ['owner', 'stranger'],
    'only the day before, because the week before had passed when the role was granted',
  );
  const line = `role_expiring warning: The role Support of ${people.users.stranger.username} in project ${people.project.name} expires on ${end}.`;
  await fixture.advance(0.2 * day);
  assert.equal(await received(), each(['owner', 'manager', 'admin', 'stranger'], line));
  await fixture.advance(5.95 * day);
  assert.equal(await received(), each(['owner', 'manager', 'admin', 'stranger'], line));
  await fixture.advance(0.5 * day);
  assert.equal(await received(), {});
});

test('sends only the last of several missed reminders', async () => {
  const day = 24 * 3600;
  const end = new Date(fixture.clock.now() / 1000 + 20 * day * 1000).toISOString();
  await fixture.grant(people.customer, people.users.stranger, 'support', end);
  fixture.clock.advance(19.5 * day);
  fixture.server.tick();
  const { stranger } = await received();
  assert.is(stranger?.length, 1);
});

test('sends no reminder of a role that has expired', async () => {
  const day = 24 * 3600;
  const end = new Date(fixture.clock.now() / 1000 + 20 * day * 1000).toISOString();
  await fixture.grant(people.customer, people.users.stranger, 'support', end);
  fixture.server.app.db.write(() => fixture.server.app.db.run(sql`DELETE FROM notification`));
  fixture.clock.advance(20.5 * day);
  fixture.server.tick();
  assert.equal(await received(), {});
});

test('a failed provider account notifies the owners, for shared ones staff, once; so does its recovery', async () => {
  const { settings } = await simulatedService(fixture, 'digitalocean', people);
  await received();
  await setOptions(fixture, settings, { simulator_failures: 'ping' });
  const pull = async () => {
    await fixture.staff.post(`${settings.url}pull/`);
    await work(fixture);
  };
  await pull();
  const failed = await received();
  assert.equal(Object.keys(failed), ['owner']);
  assert.match(
    failed.owner?.find((line) => line.startsWith('provider')) ?? '',
    /^provider_account_failed error: The provider account Cloud fails: /,
  );
  await pull();
  assert.equal(await received(), {}, 'it has failed already');
  await setOptions(fixture, settings, { simulator_failures: '' });
  await pull();
  const recovered = (await received()).owner ?? [];
  assert.ok(recovered.includes('provider_account_recovered info: The provider account Cloud works again.'));
});

test('a resource that becomes Erred notifies the managers of its project', async () => {
  const { link, settings } = await simulatedService(fixture, 'digitalocean', people);
  await received();
  await setOptions(fixture, settings, { simulator_failures: 'create' });
  const region = (await fixture.staff.get(`/api/digitalocean-regions/?settings_uuid=${settings.uuid}`)).body[0];
  const image = (await fixture.staff.get(`/api/digitalocean-images/?region_uuid=${region.uuid}`)).body[0];
  const size = (await fixture.staff.get(`/api/digitalocean-sizes/?region_uuid=${region.uuid}`)).body.find(
    ({ disk }: Json) => disk >= image.min_disk_size,
  );
  const created = await fixture.staff.post('/api/digitalocean-droplets/', {
    name: 'web',
    service_project_link: link.url,
    region: region.url,
    image: image.url,
    size: size.url,
  });
  assert.is(created.status, 201, JSON.stringify(created.body));
  await work(fixture);
  const { error_message: error } = (await fixture.staff.get(created.body.url)).body;
  assert.equal(
    await received(),
    each(['owner', 'manager', 'admin'], `resource_failed error: DigitalOcean Droplet web has failed: ${error}`),
  );
});

test('a hook that is disabled notifies its author, and web hooks never', async () => {
  const receiver = await Receiver.start();
  try {
    const { owner } = people.clients;
    const kinds = { notification_types: ['alert_opened'], destination_url: `${receiver.url}/` };
    assert.equal((await owner.post('/api/hooks-web/', { ...kinds, notification_types: ['hook_disabled'] })).body, {
      notification_types: ['"hook_disabled" is not a valid choice.'],
    });
    await owner.post('/api/hooks-web/', kinds);
    receiver.behaviour = 410;
    await fixture.staff.post('/api/alerts/', {
      scope: people.customer.url,
      alert_type: 'x',
      message: 'Look',
      severity: 'Error',
    });
    const { owner: lines } = await received();
    assert.equal(lines, [
      'alert_opened error: Look',
      'hook_disabled warning: The hook was disabled: its receiver is gone.',
    ]);
  } finally {
    await receiver.close();
  }
});

test('an invitation that expires notifies the user who invited', async () => {
  const reply = await fixture.staff.post('/api/user-invitations/', {
    email: 'new@example.com',
    link_template: 'https://app.example.com/{uuid}',
    customer: people.customer.url,
    customer_role: 'support',
  });
  assert.is(reply.status, 201, JSON.stringify(reply.body));
  await fixture.advance(8 * 24 * 3600);
  const { staff } = await received();
  assert.equal(staff, ['invitation_expired info: The invitation of new@example.com has expired.']);
});

test('inactive users are not notified', async () => {
  await fixture.staff.patch(people.users.owner.url, { is_active: false });
  await fixture.staff.post('/api/alerts/', {
    scope: people.customer.url,
    alert_type: 'x',
    message: 'Look',
    severity: 'Error',
  });
  const { db } = fixture.server.app;
  assert.is(db.value(sql`SELECT count(*) FROM notification`), 0);
});

test.run();
