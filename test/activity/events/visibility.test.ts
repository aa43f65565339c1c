import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees which events (events.md 4.5)');
let setup: Personas;

test.before(async () => {
  setup = await createPersonas(fixture);
});

const about = async (client: Client, words: string): Promise<string[]> =>
  (await client.get(`/api/events/?page_size=300&o=@timestamp&search=${encodeURIComponent(words)}`)).body.map(
    (event: Json) => event.message,
  );

/** Returns the users who see a notification with this message. Checks that the count agrees. */
async function readers(words: string): Promise<string[]> {
  const seen = await asEachPersona(setup, async (client) => {
    const { body } = await client.get(`/api/events/count/?search=${encodeURIComponent(words)}`);
    assert.is((await about(client, words)).length, body.count);
    return body.count > 0;
  });
  return Object.entries(seen)
    .filter(([, sees]) => sees)
    .map(([part]) => part);
}

const notify = async (message: string, scope?: Json): Promise<void> => {
  const { status } = await fixture.staff.post('/api/events/', {
    level: 'info',
    message,
    ...(scope && { scope: scope.url }),
  });
  assert.is(status, 201);
};

test('staff and global support see every event', async () => {
  const all = (await fixture.staff.get('/api/events/count/')).body.count;
  assert.ok(all > 10);
  assert.equal((await setup.clients.support.get('/api/events/count/')).body, { count: all });
});

test('owners and supporters of a customer see its events, members of its projects do not', async () => {
  await notify('customer news', setup.customer);
  assert.equal(await readers('customer news'), ['staff', 'support', 'owner', 'helper']);
});

test('every role in a project, and owners and supporters of its customer, see its events', async () => {
  await notify('project news', setup.project);
  assert.equal(await readers('project news'), ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer']);
});

test('the actor and the affected user see an event', async () => {
  await setup.clients.stranger.patch(setup.users.stranger.url, { agree_with_policy: true, job_title: 'Loner' });
  assert.equal(await readers('User stranger has been updated'), ['staff', 'support', 'stranger']);
  await fixture.staff.patch(setup.users.observer.url, { job_title: 'Watcher' });
  assert.equal(await readers('User observer has been updated'), ['staff', 'support', 'observer']);
});

test('readers of its scope see the event of a quota; only staff and support see a notification without scope and failed logins', async () => {
  const [quota] = (await fixture.staff.get(setup.project.url)).body.quotas;
  await notify('quota news', quota);
  assert.equal(await readers('quota news'), ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer']);
  await notify('other news');
  await fixture.anonymous.post('/api-auth/password/', { username: 'owner', password: 'wrong' });
  for (const words of ['other news', 'User owner failed to authenticate'])
    assert.equal(await readers(words), ['staff', 'support']);
});

test('the current roles decide: a new role shows earlier events, an ended one hides them, except those that name the user', async () => {
  const role = await fixture.grant(setup.project, setup.users.stranger, 'support');
  assert.equal(await about(setup.clients.stranger, 'project news'), ['project news']);
  await fixture.staff.delete(role.url);
  assert.equal(await about(setup.clients.stranger, 'project news'), []);
  assert.equal(await about(setup.clients.stranger, 'User stranger has'), [
    'User stranger has been created.',
    'User stranger has been updated.',
    'User stranger has gained role of Support in project Rocket.',
    'User stranger has lost role of Support in project Rocket.',
  ]);
});

test('an expired role shows nothing from its end on', async () => {
  await fixture.grant(setup.customer, setup.users.stranger, 'owner', '2018-02-01T00:00:00Z');
  fixture.clock.set('2018-01-31T23:59:59Z');
  assert.equal(await about(setup.clients.stranger, 'customer news'), ['customer news']);
  fixture.clock.set('2018-02-01T00:00:00Z');
  assert.equal(await about(setup.clients.stranger, 'customer news'), []);
});

test('current readers of a moved project see its past events; its former customer still sees those from its time', async () => {
  const project = await fixture.project('Nomad', setup.customer);
  const target = await fixture.customer('Bob');
  await fixture.grant(target, setup.users.stranger, 'owner');
  await notify('nomad at Alice', project);
  await fixture.staff.patch(project.url, { customer: target.url });
  await notify('nomad at Bob', project);
  assert.equal(await readers('nomad at Alice'), ['staff', 'support', 'owner', 'helper', 'stranger']);
  assert.equal(await readers('nomad at Bob'), ['staff', 'support', 'stranger']);
  await fixture.grant(setup.customer, setup.users.stranger, 'support');
  assert.equal(await about(setup.clients.stranger, 'nomad at'), ['nomad at Alice', 'nomad at Bob']);
  await fixture.staff.patch(project.url, { customer: setup.customer.url });
  assert.equal(await readers('nomad at Bob'), ['staff', 'support', 'owner', 'helper', 'stranger']);
});

test('events outlive their object: users named in them and people of a remaining customer still see them', async () => {
  const project = await fixture.project('Doomed', setup.customer);
  await fixture.grant(project, setup.users.admin, 'admin');
  await notify('doomed news', project);
  assert.equal(await readers('doomed news'), ['staff', 'support', 'owner', 'helper', 'admin', 'stranger']);
  await fixture.staff.delete(project.url);
  assert.equal(await readers('doomed news'), ['staff', 'support', 'owner', 'helper', 'stranger']);
  assert.equal(await about(setup.clients.admin, 'project Doomed'), [
    'User admin.of.project has gained role of Administrator in project Doomed.',
    'User admin.of.project has lost role of Administrator in project Doomed.',
  ]);
  const customer = await fixture.customer('Gone');
  await fixture.grant(customer, setup.users.manager, 'owner');
  await notify('gone news', customer);
  await fixture.staff.delete(customer.url);
  assert.equal(await readers('gone news'), ['staff', 'support']);
});

test('filters restrict what a caller sees and never extend it', async () => {
  const all = (await setup.clients.observer.get('/api/events/?page_size=300')).body.map((event: Json) => event.uuid);
  for (const filter of [
    'event_type=customer_creation_succeeded',
    'feature=users',
    'exclude_features=users',
    'search=alice',
    'scope_type=structure.project',
    'scope_type=core.user',
    'scope_type=quota',
    'user_username=admin',
    `scope=${setup.customer.url}`,
    `scope=${setup.project.url}`,
    `scope=${setup.users.manager.url}`,
    'from=0',
    'to=9999999999',
  ]) {
    const { body } = await setup.clients.observer.get(`/api/events/?page_size=300&${filter}`);
    assert.ok(
      body.every((event: Json) => all.includes(event.uuid)),
      filter,
    );
    assert.equal((await setup.clients.observer.get(`/api/events/count/?${filter}`)).body, { count: body.length });
  }
});

test.run();
