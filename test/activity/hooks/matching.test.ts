import * as assert from 'uvu/assert';
import { createPersonas, type PersonaName, type Personas, personaNames } from '../../support/personas.ts';
import { Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('which hooks get an event', { hooks_allowed_networks: ['127.0.0.0/8'] });
let receiver: Receiver;
let people: Personas;

test.before(async () => {
  receiver = await Receiver.start();
  people = await createPersonas(fixture);
  for (const part of personaNames) {
    await people.clients[part].post('/api/hooks-web/', {
      destination_url: `${receiver.url}/${part}`,
      event_groups: ['customers', 'projects', 'ssh', 'users'],
    });
  }
});

test.after(() => receiver.close());

/** Returns the users notified of each type since the last call. */
async function reports(): Promise<Record<string, readonly PersonaName[]>> {
  await fixture.server.settled();
  const hearers: Record<string, PersonaName[]> = {};
  for (const { body, path } of receiver.take()) {
    const { type } = JSON.parse(body);
    hearers[type] = [...(hearers[type] ?? []), path.slice(1) as PersonaName];
  }
  return Object.fromEntries(
    Object.entries(hearers).map(([type, who]) => [type, personaNames.filter((part) => who.includes(part))]),
  );
}

test('staff, global support, and owners and support of the customer get an event about a customer', async () => {
  await fixture.staff.patch(people.customer.url, { native_name: 'Changed' });
  assert.equal(await reports(), { customer_update_succeeded: ['staff', 'support', 'owner', 'helper'] });
});

test('users who can read a project get an event about it', async () => {
  await fixture.staff.patch(people.project.url, { description: 'Changed' });
  assert.equal(await reports(), {
    project_update_succeeded: ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer'],
  });
});

test('a user gets an event about them, as actor and as affected', async () => {
  await fixture.staff.patch(people.users.stranger.url, { job_title: 'Changed' });
  assert.equal(await reports(), { user_update_succeeded: ['staff', 'support', 'stranger'] });
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJz0QgHrxJgCX6v+1HqhKpJ4y2nq7L+oU6d1rDSt2fTg';
  await people.clients.stranger.post('/api/keys/', { name: 'k', public_key: key });
  assert.equal(await reports(), { ssh_key_creation_succeeded: ['staff', 'support', 'stranger'] });
});

test('a removed user gets the role_revoked that ends their access', async () => {
  const permission = await fixture.grant(people.project, people.users.stranger, 'support');
  const readers = ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer', 'stranger'];
  assert.equal(await reports(), { role_granted: readers });
  await fixture.staff.delete(permission.url);
  assert.equal(await reports(), { role_revoked: readers });
  await fixture.staff.patch(people.project.url, { description: 'Changed again' });
  assert.equal((await reports()).project_update_succeeded?.includes('stranger'), false);
});

test('a user removed from a customer gets that event, and no further one about it and its projects', async () => {
  const permission = await fixture.grant(people.customer, people.users.stranger, 'owner');
  const readers = ['staff', 'support', 'owner', 'helper', 'stranger'];
  await reports();
  await fixture.staff.patch(people.project.url, { description: 'Seen by the customer' });
  assert.equal((await reports()).project_update_succeeded?.includes('stranger'), true);
  await fixture.staff.delete(permission.url);
  assert.equal(await reports(), { role_revoked: readers });
  await fixture.staff.patch(people.customer.url, { native_name: 'Changed for others' });
  await fixture.staff.patch(people.project.url, { description: 'Changed for others' });
  assert.equal(await reports(), {
    customer_update_succeeded: ['staff', 'support', 'owner', 'helper'],
    project_update_succeeded: ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer'],
  });
});

test('the former holder and the readers of the project get the expiry of a role', async () => {
  await fixture.grant(people.project, people.users.stranger, 'support', '2018-01-05T05:00:00Z');
  await reports();
  fixture.clock.set('2018-01-05T05:00:00Z');
  fixture.server.tick();
  assert.equal(await reports(), {
    role_revoked: ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer', 'stranger'],
  });
});

test('the people of both customers get the event of a moved project', async () => {
  const target = await fixture.customer('Bob');
  await fixture.grant(target, people.users.stranger, 'owner');
  await reports();
  const everyone = ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer', 'stranger'];
  await fixture.staff.patch(people.project.url, { customer: target.url });
  assert.equal(await reports(), { project_update_succeeded: everyone });
  await fixture.staff.patch(people.project.url, { description: 'Here' });
  assert.equal(await reports(), {
    project_update_succeeded: ['staff', 'support', 'manager', 'admin', 'observer', 'stranger'],
  });
  await fixture.staff.patch(people.project.url, { customer: people.customer.url });
  assert.equal(await reports(), { project_update_succeeded: everyone });
  await fixture.staff.delete(target.url);
  await reports();
});

test('deleting a project or customer ends every role in it, and each former holder gets an event', async () => {
  const customer = await fixture.customer('Doomed');
  const project = await fixture.project('Doomed', customer);
  await fixture.grant(customer, people.users.owner, 'owner');
  for (const [part, role] of [
    ['manager', 'manager'],
    ['admin', 'admin'],
    ['observer', 'support'],
  ] as const)
    await fixture.grant(project, people.users[part], role);
  await fixture.grant(customer, people.users.helper, 'support');
  await reports();
  const times = async (url: string): Promise<Record<string, number>> => {
    await fixture.staff.delete(url);
    await fixture.server.settled();
    const paths = receiver
      .take()
      .filter(({ body }) => JSON.parse(body).type === 'role_revoked')
      .map(({ path }) => path.slice(1));
    return Object.fromEntries(
      personaNames
        .filter((part) => paths.includes(part))
        .map((part) => [part, paths.filter((path) => path === part).length]),
    );
  };
  assert.equal(await times(project.url), {
    staff: 3,
    support: 3,
    owner: 3,
    helper: 3,
    manager: 3,
    admin: 3,
    observer: 3,
  });
  assert.equal(await times(customer.url), { staff: 2, support: 2, owner: 2, helper: 2 });
});

test('only hooks that name them get types without a group', async () => {
  await fixture.staff.post('/api/events/', { level: 'info', message: 'To nobody' });
  assert.equal(await reports(), {});
  const { body } = await fixture.staff.post('/api/hooks-web/', {
    destination_url: `${receiver.url}/staff`,
    event_types: ['custom_notification'],
  });
  await fixture.staff.post('/api/events/', { level: 'info', message: 'To staff', scope: people.customer.url });
  assert.equal(await reports(), { custom_notification: ['staff'] });
  await fixture.staff.delete(body.url);
});

test('a hook without the type, an inactive hook and the hook of an inactive author get nothing', async () => {
  const [hook] = (await people.clients.owner.get('/api/hooks-web/')).body;
  await people.clients.owner.patch(hook.url, { event_types: ['project_update_succeeded'] });
  const [other] = (await people.clients.helper.get('/api/hooks-web/')).body;
  await people.clients.helper.patch(other.url, { is_active: false });
  await fixture.staff.patch(people.users.support.url, { is_active: false });
  await reports();
  await fixture.staff.patch(people.customer.url, { native_name: 'Changed again' });
  assert.equal(await reports(), { customer_update_succeeded: ['staff'] });
  await people.clients.owner.patch(hook.url, { event_groups: ['customers', 'projects'] });
  await people.clients.helper.patch(other.url, { is_active: true });
});

test('owners get customer_deletion_succeeded, and readers of a project its deletion', async () => {
  await fixture.staff.delete(people.project.url);
  const ofProject = await reports();
  assert.equal(ofProject.project_deletion_succeeded, ['staff', 'owner', 'helper', 'manager', 'admin', 'observer']);
  await fixture.staff.delete(people.customer.url);
  const ofCustomer = await reports();
  assert.equal(ofCustomer.customer_deletion_succeeded, ['staff', 'owner', 'helper']);
  assert.equal(ofCustomer.role_revoked, ['staff', 'owner', 'helper']);
});

test.run();
