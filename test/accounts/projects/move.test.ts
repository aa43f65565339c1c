import * as assert from 'uvu/assert';
import { byStaff, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('moving a project to another customer (core.md 7.3)');
let company: Personas;
let target: Json;

test.before.each(async () => {
  company = await createPersonas(fixture);
  target = await fixture.customer('Bob', { abbreviation: 'BOB', contact_details: 'Main Street' });
  fixture.events();
});

const move = (client = fixture.staff) => client.patch(company.project.url, { customer: target.url });
const limit = async (customer: Json, name: string, value: number): Promise<void> => {
  const { url } = customer.quotas.find((quota: Json) => quota.name === name);
  assert.is((await fixture.staff.patch(url, { limit: value })).status, 200);
};
const usage = async (customer: Json, name: string): Promise<number> =>
  (await fixture.staff.get(customer.url)).body.quotas.find((quota: Json) => quota.name === name).usage;

test('the moved project shows its new customer, and the event has both names', async () => {
  const { status, body } = await move();
  assert.equal(
    [status, body],
    [
      200,
      {
        ...company.project,
        customer: target.url,
        customer_uuid: target.uuid,
        customer_name: 'Bob',
        customer_native_name: '',
        customer_abbreviation: 'BOB',
      },
    ],
  );
  assert.equal(fixture.events(), [
    {
      type: 'project_update_succeeded',
      level: 'info',
      message: "Project Rocket has been updated. Customer has been changed from 'Alice' to 'Bob'.",
      context: {
        ...(await byStaff(fixture)),
        project_uuid: company.project.uuid,
        project_name: 'Rocket',
        customer_uuid: target.uuid,
        customer_name: 'Bob',
        customer_abbreviation: 'BOB',
        customer_contact_details: 'Main Street',
      },
    },
  ]);
});

test('the event of a move with other changes lists name, description and customer in this order', async () => {
  await fixture.staff.put(company.project.url, { customer: target.url, description: 'two', name: 'Two' });
  assert.equal(
    fixture.events().map(({ message }) => message),
    [
      "Project Two has been updated. Name has been changed from 'Rocket' to 'Two'. Description has been changed from '' to 'two'. Customer has been changed from 'Alice' to 'Bob'.",
    ],
  );
});

test('records a move between customers with the same name', async () => {
  await fixture.staff.patch(target.url, { name: 'Alice' });
  fixture.events();
  await move();
  assert.equal(
    fixture.events().map(({ message }) => message),
    ["Project Rocket has been updated. Customer has been changed from 'Alice' to 'Alice'."],
  );
});

test('project and user counts move to the other customer; roles stay with the project', async () => {
  assert.equal(
    [await usage(company.customer, 'nc_project_count'), await usage(company.customer, 'nc_user_count')],
    [1, 5],
  );
  await move();
  assert.equal(
    [await usage(company.customer, 'nc_project_count'), await usage(company.customer, 'nc_user_count')],
    [0, 2],
  );
  assert.equal([await usage(target, 'nc_project_count'), await usage(target, 'nc_user_count')], [1, 3]);
  const users = (await fixture.staff.get(`${company.project.url}users/`)).body.map((user: Json) => user.username);
  assert.equal(users, ['admin.of.project', 'manager', 'observer']);
});

test('people of the old customer lose sight of the project; its members see the new customer', async () => {
  await move();
  const seen = await asEachPersona(company, async (client) => [
    (await client.get(company.project.url)).status,
    (await client.get(company.customer.url)).status,
    (await client.get(target.url)).status,
  ]);
  assert.equal(seen, {
    staff: [200, 200, 200],
    support: [200, 200, 200],
    owner: [404, 200, 404],
    helper: [404, 200, 404],
    manager: [200, 404, 200],
    admin: [200, 404, 200],
    observer: [200, 404, 200],
    stranger: [404, 404, 404],
  });
});

test('only an owner of both customers can move a project', async () => {
  const invisible = await move(company.clients.owner);
  assert.equal([invisible.status, invisible.body], [400, { customer: ['Invalid hyperlink - Object does not exist.'] }]);
  const support = await fixture.grant(target, company.users.owner, 'support');
  const visible = await move(company.clients.owner);
  assert.equal([visible.status, visible.body], [403, { detail: 'You do not have permission to perform this action.' }]);
  await fixture.staff.delete(support.url);
  await fixture.grant(target, company.users.owner, 'owner');
  assert.is((await move(company.clients.owner)).status, 200);
});

test('an owner whose role expires in either customer cannot move projects between them', async () => {
  const { manager, owner, stranger } = company.users;
  const end = '2018-01-05T05:00:00Z';
  await fixture.grant(company.customer, stranger, 'owner', end);
  await fixture.grant(target, stranger, 'owner');
  await fixture.grant(target, owner, 'owner', end);
  await fixture.grant(company.customer, manager, 'owner', end);
  await fixture.grant(target, manager, 'owner', end);
  fixture.events();
  const { body: before } = await fixture.staff.get(company.project.url);
  for (const name of ['stranger', 'owner', 'manager'] as const) {
    const { status, body } = await move(company.clients[name]);
    assert.equal([status, body], [403, { detail: 'You do not have permission to perform this action.' }]);
  }
  assert.equal((await fixture.staff.get(company.project.url)).body, before);
  assert.equal(fixture.events(), []);
  const put = { name: 'Rocket', customer: company.customer.url, description: 'new' };
  assert.is((await company.clients.stranger.put(company.project.url, put)).status, 200);
});

test('owning only the target customer is not enough', async () => {
  await fixture.grant(target, company.users.manager, 'owner');
  assert.is((await move(company.clients.manager)).status, 403);
  await fixture.grant(target, company.users.stranger, 'owner');
  assert.is((await move(company.clients.stranger)).status, 404);
  assert.is((await move(company.clients.support)).status, 403);
});

test('rejects a move that exceeds quotas of the target completely, and names each quota in order', async () => {
  await limit(target, 'nc_user_count', 2);
  await limit(target, 'nc_project_count', 0);
  const before = (await fixture.staff.get(company.project.url)).body;
  const response = await fixture.staff.patch(company.project.url, { customer: target.url, name: 'Renamed' });
  assert.equal(
    [response.status, response.body],
    [
      409,
      {
        detail:
          'One or more quotas were exceeded: nc_project_count quota limit: 0.0, requires 1.0 (Bob (BOB)); nc_user_count quota limit: 2.0, requires 3.0 (Bob (BOB))',
      },
    ],
  );
  assert.equal((await fixture.staff.get(company.project.url)).body, before);
  assert.equal(
    [
      await usage(company.customer, 'nc_project_count'),
      await usage(target, 'nc_project_count'),
      await usage(target, 'nc_user_count'),
    ],
    [1, 0, 0],
  );
  assert.equal(fixture.events(), []);
});

test('does not count users again who are already in the target', async () => {
  await fixture.grant(target, company.users.manager, 'support');
  const there = await fixture.project('There', target);
  await fixture.grant(there, company.users.admin, 'admin');
  await limit(target, 'nc_user_count', 3);
  assert.is((await move()).status, 200);
  assert.is(await usage(target, 'nc_user_count'), 3);
});

test('does not count users whose role in the project has ended', async () => {
  const { body } = await fixture.staff.get(`/api/project-permissions/?user=${company.users.manager.uuid}`);
  await fixture.staff.delete(body[0].url);
  await limit(target, 'nc_user_count', 2);
  assert.is((await move()).status, 200);
});

test('the same customer is not a move, even when its quotas are full', async () => {
  await limit(company.customer, 'nc_project_count', 1);
  await limit(company.customer, 'nc_user_count', 5);
  const response = await fixture.staff.put(company.project.url, { name: 'Rocket 2', customer: company.customer.url });
  assert.is(response.status, 200);
});

test('a full quota of the old customer does not prevent a move', async () => {
  await limit(company.customer, 'nc_project_count', 1);
  assert.is((await move()).status, 200);
});

test('moving a project there and back restores everything', async () => {
  const before = [(await fixture.staff.get(company.customer.url)).body, (await fixture.staff.get(target.url)).body];
  await move();
  await fixture.staff.patch(company.project.url, { customer: company.customer.url });
  assert.equal(
    [(await fixture.staff.get(company.customer.url)).body, (await fixture.staff.get(target.url)).body],
    before,
  );
});

test.run();
