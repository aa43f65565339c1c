import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type PersonaName, type Personas } from '../../support/personas.ts';

const unknown = ['Invalid hyperlink - Object does not exist.'];
const sooner = '2018-03-01T00:00:00Z';
const endOfRole = '2018-06-01T00:00:00Z';
const later = '2018-06-01T00:00:00.000001Z';
let count = 0;

/** Expected statuses by role: a default, and the exceptions. */
const statuses = (rest: number, named: Partial<Record<PersonaName, number>>): Record<PersonaName, number> => ({
  staff: rest,
  support: rest,
  owner: rest,
  helper: rest,
  manager: rest,
  admin: rest,
  observer: rest,
  stranger: rest,
  ...named,
});

/** A deployment with a user for each role, and their clients. */
class Setup {
  private constructor(
    readonly fixture: Fixture,
    readonly people: Personas,
  ) {}

  static async start(options: Parameters<typeof Fixture.start>[0] = {}): Promise<Setup> {
    const fixture = await Fixture.start(options);
    return new Setup(fixture, await createPersonas(fixture));
  }

  newcomer = (): Promise<Json> => this.fixture.user(`newcomer.${count++}`);

  /** The status for each role. */
  ask = (request: (client: Client) => Promise<{ status: number }>) =>
    asEachPersona(this.people, async (client) => (await request(client)).status);

  /** Sends an action of each caller, each on a separate role of a new user. */
  askAboutRole = (scope: Json, role: string, request: (client: Client, role: Json) => Promise<{ status: number }>) =>
    asEachPersona(
      this.people,
      async (client) => (await request(client, await this.fixture.grant(scope, await this.newcomer(), role))).status,
    );

  grant = async (client: Client, scope: Json, expiration_time: string | null = null): Promise<number> => {
    const structure = scope.url.includes('/customers/') ? 'customer' : 'project';
    const { url } = await this.newcomer();
    return (
      await client.post(`/api/${structure}-permissions/`, {
        [structure]: scope.url,
        user: url,
        role: 'support',
        expiration_time,
      })
    ).status;
  };
}

const customers = suite('who sees and writes customer permissions (core.md 8.2)');
let setup: Setup;
let open: Setup;

customers.before(async () => {
  setup = await Setup.start();
  open = await Setup.start({ owners_can_manage_owners: true });
  const foreign = await setup.fixture.customer('Foreign');
  await setup.fixture.grant(foreign, await setup.newcomer(), 'owner');
});
customers.after(async () => {
  await setup.fixture.close();
  await open.fixture.close();
});

customers(
  'staff and global support list all permissions, connected users those of the customer, others none',
  async () => {
    const lists = await asEachPersona(setup.people, async (client) =>
      (await client.get('/api/customer-permissions/')).body.map((role: Json) => role.customer_name),
    );
    const own = ['Alice', 'Alice'];
    assert.equal(lists, {
      staff: ['Foreign', ...own],
      support: ['Foreign', ...own],
      owner: own,
      helper: own,
      manager: own,
      admin: own,
      observer: own,
      stranger: [],
    });
    const {
      body: [foreign, alice],
    } = await setup.fixture.staff.get('/api/customer-permissions/');
    assert.equal(await setup.ask((client) => client.get(alice.url)), statuses(200, { stranger: 404 }));
    assert.equal(await setup.ask((client) => client.get(foreign.url)), statuses(404, { staff: 200, support: 200 }));
  },
);

customers('only staff grant roles; the link is invalid for callers who cannot see the customer', async () => {
  const { customer } = setup.people;
  assert.equal(
    await asEachPersona(setup.people, (client) => setup.grant(client, customer)),
    statuses(403, { staff: 201, stranger: 400 }),
  );
  const { body } = await setup.people.clients.stranger.post('/api/customer-permissions/', {
    customer: customer.url,
    user: setup.people.users.stranger.url,
    role: 'owner',
  });
  assert.equal(body, { customer: unknown });
});

customers('only staff change and revoke roles; callers who cannot see the customer get 404', async () => {
  const { customer } = setup.people;
  const expected = statuses(403, { staff: 200, stranger: 404 });
  assert.equal(
    await setup.askAboutRole(customer, 'owner', (client, role) =>
      client.patch(role.url, { expiration_time: endOfRole }),
    ),
    expected,
  );
  assert.equal(await setup.askAboutRole(customer, 'support', (client, role) => client.put(role.url, {})), expected);
  assert.equal(await setup.askAboutRole(customer, 'support', (client, role) => client.delete(role.url)), {
    ...expected,
    staff: 204,
  });
});

customers('with owners_can_manage_owners, an owner also grants, changes and revokes roles', async () => {
  const { customer } = open.people;
  const expected = statuses(403, { staff: 200, owner: 200, stranger: 404 });
  assert.equal(
    await asEachPersona(open.people, (client) => open.grant(client, customer)),
    statuses(403, { staff: 201, owner: 201, stranger: 400 }),
  );
  assert.equal(
    await open.askAboutRole(customer, 'owner', (client, role) =>
      client.patch(role.url, { expiration_time: endOfRole }),
    ),
    expected,
  );
  assert.equal(await open.askAboutRole(customer, 'owner', (client, role) => client.put(role.url, {})), expected);
  assert.equal(await open.askAboutRole(customer, 'owner', (client, role) => client.delete(role.url)), {
    ...expected,
    staff: 204,
    owner: 204,
  });
});

customers('with that setting, an owner acts only until their own role ends', async () => {
  const { customer } = open.people;
  const owner = await open.newcomer();
  await open.fixture.grant(customer, owner, 'owner', endOfRole);
  const client = open.fixture.as(owner.username);
  assert.is(await open.grant(client, customer, endOfRole), 201);
  assert.is(await open.grant(client, customer, later), 403);
  assert.is(await open.grant(client, customer, null), 403);
});

customers('the last owner can be removed, also by themselves', async () => {
  const customer = await open.fixture.customer('Lonely');
  const owner = await open.newcomer();
  const role = await open.fixture.grant(customer, owner, 'owner');
  assert.is((await open.fixture.as(owner.username).delete(role.url)).status, 204);
  assert.equal((await open.fixture.staff.get(customer.url)).body.owners, []);
  const last = await setup.fixture.customer('Lonely');
  assert.is(
    (await setup.fixture.staff.delete((await setup.fixture.grant(last, await setup.newcomer(), 'owner')).url)).status,
    204,
  );
});

customers('a customer can have any number of owners', async () => {
  const customer = await setup.fixture.customer('Crowded');
  for (let i = 0; i < 5; i++) await setup.fixture.grant(customer, await setup.newcomer(), 'owner');
  assert.is((await setup.fixture.staff.get(customer.url)).body.owners.length, 5);
});

customers.run();

const projects = suite('who sees and writes project permissions (core.md 8.2)');

projects.before(async () => {
  setup = await Setup.start();
  const foreign = await setup.fixture.customer('Foreign');
  await setup.fixture.grant(await setup.fixture.project('Foreign project', foreign), await setup.newcomer(), 'admin');
});
projects.after(() => setup.fixture.close());

projects(
  'staff, global support and owners of the customer list and retrieve all, members of the project their own roles',
  async () => {
    const lists = await asEachPersona(setup.people, async (client) =>
      (await client.get('/api/project-permissions/')).body.map((role: Json) => role.project_name),
    );
    const own = ['Rocket', 'Rocket', 'Rocket'];
    assert.equal(lists, {
      staff: ['Foreign project', ...own],
      support: ['Foreign project', ...own],
      owner: own,
      helper: [],
      manager: ['Rocket'],
      admin: ['Rocket'],
      observer: ['Rocket'],
      stranger: [],
    });
    const { body: all } = await setup.fixture.staff.get('/api/project-permissions/');
    const [foreign, own1] = all;
    assert.is(own1.user_username, 'observer');
    const { body: mine } = await setup.people.clients.observer.get('/api/project-permissions/');
    assert.equal(mine, [own1]);
    assert.equal(
      await setup.ask((client) => client.get(own1.url)),
      statuses(404, { staff: 200, support: 200, owner: 200, observer: 200 }),
    );
    assert.equal(await setup.ask((client) => client.get(foreign.url)), statuses(404, { staff: 200, support: 200 }));
  },
);

projects(
  'staff and owners of the customer grant any role; the link is invalid for callers who cannot see the project',
  async () => {
    const { project } = setup.people;
    assert.equal(
      await asEachPersona(setup.people, (client) => setup.grant(client, project)),
      statuses(403, { staff: 201, owner: 201, stranger: 400 }),
    );
    for (const role of ['admin', 'manager', 'support']) {
      const { url } = await setup.newcomer();
      assert.is(
        (await setup.people.clients.owner.post('/api/project-permissions/', { project: project.url, user: url, role }))
          .status,
        201,
      );
    }
  },
);

projects(
  'staff and owners change and revoke; for members the record counts as visible, strangers find nothing',
  async () => {
    const { project } = setup.people;
    const expected = statuses(403, { staff: 200, owner: 200, stranger: 404 });
    assert.equal(
      await setup.askAboutRole(project, 'admin', (client, role) =>
        client.patch(role.url, { expiration_time: endOfRole }),
      ),
      expected,
    );
    assert.equal(await setup.askAboutRole(project, 'admin', (client, role) => client.put(role.url, {})), expected);
    assert.equal(await setup.askAboutRole(project, 'admin', (client, role) => client.delete(role.url)), {
      ...expected,
      staff: 204,
      owner: 204,
    });
  },
);

projects('members of a project see their own active roles, cannot write them, and cannot see the log', async () => {
  const { clients } = setup.people;
  const {
    body: [role],
  } = await clients.manager.get('/api/project-permissions/');
  assert.equal([role.role, role.user_username], ['manager', 'manager']);
  assert.equal((await clients.manager.get(role.url)).body, role);
  for (const { body, status } of [
    await clients.manager.patch(role.url, { expiration_time: endOfRole }),
    await clients.manager.put(role.url, {}),
    await clients.manager.delete(role.url),
  ])
    assert.equal([status, body], [403, { detail: 'You do not have permission to perform this action.' }]);
  const leaver = await setup.newcomer();
  const left = await setup.fixture.grant(setup.people.project, leaver, 'admin');
  const client = setup.fixture.as(leaver.username);
  assert.equal((await client.get('/api/project-permissions/')).body, [left]);
  await setup.fixture.staff.delete(left.url);
  assert.equal((await client.get('/api/project-permissions/')).body, []);
  assert.is((await client.get(left.url)).status, 404);
  assert.equal((await client.get('/api/project-permissions-log/')).body, []);
});

projects('an owner of another customer neither sees nor grants roles', async () => {
  const owner = await setup.newcomer();
  await setup.fixture.grant(await setup.fixture.customer('Remote'), owner, 'owner');
  const client = setup.fixture.as(owner.username);
  assert.equal((await client.get('/api/project-permissions/')).body, []);
  assert.is(await setup.grant(client, setup.people.project), 400);
});

projects('an owner whose role expires grants, changes and revokes only roles that end no later', async () => {
  setup.fixture.clock.hold();
  const { customer, project } = setup.people;
  const owner = await setup.newcomer();
  await setup.fixture.grant(customer, owner, 'owner', endOfRole);
  const client = setup.fixture.as(owner.username);
  for (const [until, granted] of [
    [sooner, 201],
    [endOfRole, 201],
    [later, 403],
    [null, 403],
  ] as const) {
    assert.is(await setup.grant(client, project, until), granted, String(until));
  }
  for (const [stored, requests, status] of [
    [null, sooner, 200],
    [null, endOfRole, 200],
    [null, later, 403],
    [null, null, 403],
    [null, undefined, 403],
    [later, sooner, 200],
    [later, undefined, 403],
    [sooner, undefined, 200],
    [sooner, later, 403],
    [sooner, null, 403],
    [endOfRole, undefined, 200],
  ] as const) {
    for (const method of ['PUT', 'PATCH']) {
      const role = await setup.fixture.grant(project, await setup.newcomer(), 'admin', stored);
      const response = await client.send(method, role.url, requests === undefined ? {} : { expiration_time: requests });
      assert.is(response.status, status, `${method} ${stored} ${requests}`);
      const saved = status === 200 && requests !== undefined ? requests : stored;
      assert.is((await setup.fixture.staff.get(role.url)).body.expiration_time, saved);
    }
  }
  for (const [stored, status] of [
    [sooner, 204],
    [endOfRole, 204],
    [later, 403],
    [null, 403],
  ] as const) {
    const role = await setup.fixture.grant(project, await setup.newcomer(), 'admin', stored);
    assert.is((await client.delete(role.url)).status, status, String(stored));
  }
});

projects('an owner whose role no longer expires grants roles without an end', async () => {
  const { customer, project } = setup.people;
  const owner = await setup.newcomer();
  const role = await setup.fixture.grant(customer, owner, 'owner', endOfRole);
  const client = setup.fixture.as(owner.username);
  assert.is(await setup.grant(client, project), 403);
  await setup.fixture.staff.patch(role.url, { expiration_time: null });
  assert.is(await setup.grant(client, project), 201);
});

projects('an owner loses the right together with the role, from one request to the next', async () => {
  const { customer, project } = setup.people;
  const owner = await setup.newcomer();
  const role = await setup.fixture.grant(customer, owner, 'owner');
  const client = setup.fixture.as(owner.username);
  assert.is(await setup.grant(client, project), 201);
  await setup.fixture.staff.delete(role.url);
  assert.is(await setup.grant(client, project), 400);
  assert.equal((await client.get('/api/project-permissions/')).body, []);
});

projects('a global support user who owns the customer also has the rights of its owner', async () => {
  const { customer, project } = setup.people;
  const both = await setup.fixture.user('both', { is_support: true });
  const client = setup.fixture.as('both');
  assert.is(await setup.grant(client, project), 403);
  await setup.fixture.grant(customer, both, 'owner');
  assert.is(await setup.grant(client, project), 201);
  const role = await setup.fixture.grant(project, await setup.newcomer(), 'admin');
  assert.is((await client.patch(role.url, { expiration_time: sooner })).status, 200);
  assert.is((await client.delete(role.url)).status, 204);
  const foreign = (await client.get('/api/project-permissions/?page_size=300')).body.find(
    (one: Json) => one.project_name === 'Foreign project',
  );
  assert.is((await client.delete(foreign.url)).status, 403);
});

projects('an owner revokes their own role in a project', async () => {
  const { project, users, clients } = setup.people;
  const role = await setup.fixture.grant(project, users.owner, 'manager');
  assert.is((await clients.owner.delete(role.url)).status, 204);
});

projects.run();

const managers = suite('managers who manage administrators (core.md 8.2)');

managers.before(async () => {
  setup = await Setup.start();
  open = await Setup.start({ managers_can_manage_admins: true });
});
managers.after(async () => {
  await setup.fixture.close();
  await open.fixture.close();
});

const forbidden = { detail: 'You do not have permission to perform this action.' };

/** A body that grants a role in the project. */
const roleOf = (user: Json, role: string, expiration_time: string | null = null) => ({
  project: open.people.project.url,
  user: user.url,
  role,
  expiration_time,
});

const typesAndNames = (fixture: Fixture) =>
  fixture
    .events()
    .map(({ context, type }) => [
      type,
      context.affected_user_username,
      context.role_name,
      context.user_username ?? null,
    ]);

managers('without the setting, a manager neither sees nor writes the roles of administrators', async () => {
  const { clients, project } = setup.people;
  const role = await setup.fixture.grant(project, await setup.newcomer(), 'admin');
  const { url } = await setup.newcomer();
  const created = await clients.manager.post('/api/project-permissions/', {
    project: project.url,
    user: url,
    role: 'admin',
  });
  assert.equal([created.status, created.body], [403, forbidden]);
  assert.is((await clients.manager.get(role.url)).status, 404);
  assert.equal(
    (await clients.manager.get('/api/project-permissions/')).body.map((one: Json) => one.user_username),
    ['manager'],
  );
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { body, status } = await clients.manager.send(method, role.url, { expiration_time: endOfRole });
    assert.equal([status, body], [403, forbidden], method);
  }
  assert.equal((await clients.manager.options('/api/project-permissions/')).headers.get('x-permitted'), '');
});

managers('with the setting, a manager grants, changes and revokes the role of an administrator', async () => {
  const { clients, project, users } = open.people;
  const user = await open.newcomer();
  open.fixture.events();
  const created = await clients.manager.post('/api/project-permissions/', roleOf(user, 'admin'));
  assert.is(created.status, 201);
  assert.equal(created.body, (await open.fixture.staff.get(created.body.url)).body);
  assert.is(created.body.created_by, users.manager.url);
  assert.equal(typesAndNames(open.fixture), [['role_granted', user.username, 'Administrator', 'manager']]);

  const seen = await clients.manager.get(`/api/project-permissions/?project=${project.uuid}`);
  assert.equal(
    seen.body.map((one: Json) => [one.user_username, one.role]),
    [
      [user.username, 'admin'],
      ['admin.of.project', 'admin'],
      ['manager', 'manager'],
    ],
  );
  const metadata = await clients.manager.options(created.body.url);
  assert.is(metadata.headers.get('x-permitted'), 'PUT, PATCH, DELETE');

  const changed = await clients.manager.patch(created.body.url, { expiration_time: endOfRole });
  assert.equal([changed.status, changed.body], [200, { ...created.body, expiration_time: endOfRole }]);
  const cleared = await clients.manager.put(created.body.url, { expiration_time: null });
  assert.equal([cleared.status, cleared.body], [200, created.body]);
  assert.equal(typesAndNames(open.fixture), []);

  assert.is((await clients.manager.delete(created.body.url)).status, 204);
  assert.equal(typesAndNames(open.fixture), [['role_revoked', user.username, 'Administrator', 'manager']]);
  assert.is((await clients.manager.get(created.body.url)).status, 404);
  assert.equal((await clients.manager.get('/api/project-permissions-log/')).body, []);
});

managers('the setting gives no right to other members of the project', async () => {
  const { project } = open.people;
  const rest = statuses(403, { staff: 201, owner: 201, manager: 201, stranger: 400 });
  const granted = await asEachPersona(
    open.people,
    async (client) => (await client.post('/api/project-permissions/', roleOf(await open.newcomer(), 'admin'))).status,
  );
  assert.equal(granted, rest);
  const changes = statuses(403, { staff: 200, owner: 200, manager: 200, stranger: 404 });
  assert.equal(await open.askAboutRole(project, 'admin', (client, role) => client.put(role.url, {})), changes);
  assert.equal(await open.askAboutRole(project, 'admin', (client, role) => client.delete(role.url)), {
    ...changes,
    staff: 204,
    owner: 204,
    manager: 204,
  });
});

managers(
  'a manager manages no other role, no other project, no customer, not themselves, and invites no one',
  async () => {
    const { clients, customer, project, users } = open.people;
    const { manager } = clients;
    for (const role of ['manager', 'support']) {
      const { body, status } = await manager.post('/api/project-permissions/', roleOf(await open.newcomer(), role));
      assert.equal([status, body], [403, forbidden], role);
      const held = await open.fixture.grant(project, await open.newcomer(), role);
      assert.is((await manager.get(held.url)).status, 404, role);
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        assert.is(
          (await manager.send(method, held.url, { expiration_time: endOfRole })).status,
          403,
          `${method} ${role}`,
        );
    }
    assert.is((await manager.post('/api/project-permissions/', roleOf(users.manager, 'admin'))).status, 403);
    const [own] = (await manager.get('/api/project-permissions/?username=manager')).body;
    for (const method of ['PUT', 'PATCH', 'DELETE']) assert.is((await manager.send(method, own.url, {})).status, 403);

    const other = await open.fixture.project('Other', customer);
    const remote = await open.fixture.grant(other, await open.newcomer(), 'admin');
    const { url: user } = await open.newcomer();
    const foreign = await manager.post('/api/project-permissions/', { project: other.url, user, role: 'admin' });
    assert.equal([foreign.status, foreign.body], [400, { project: unknown }]);
    assert.is((await manager.delete(remote.url)).status, 404);
    await open.fixture.grant(other, users.manager, 'admin');
    assert.is(
      (await manager.post('/api/project-permissions/', { project: other.url, user, role: 'admin' })).status,
      403,
    );
    assert.is((await manager.delete(remote.url)).status, 403);

    assert.is(
      (await manager.post('/api/customer-permissions/', { customer: customer.url, user, role: 'owner' })).status,
      403,
    );
    const invitation = await manager.post('/api/user-invitations/', {
      link_template: 'https://app.example.com/{uuid}/',
      email: 'erin@example.com',
      project: project.url,
      project_role: 'admin',
    });
    assert.is(invitation.status, 403);
  },
);

managers('a manager whose role expires manages only roles that end no later, and none afterwards', async () => {
  const { project } = open.people;
  const user = await open.newcomer();
  await open.fixture.grant(project, user, 'manager', endOfRole);
  const client = open.fixture.as(user.username);
  const grant = async (until: string | null) =>
    (await client.post('/api/project-permissions/', roleOf(await open.newcomer(), 'admin', until))).status;
  for (const [until, status] of [
    [sooner, 201],
    [endOfRole, 201],
    [later, 403],
    [null, 403],
  ] as const)
    assert.is(await grant(until), status, String(until));
  for (const [stored, requests, status] of [
    [null, sooner, 200],
    [null, later, 403],
    [null, undefined, 403],
    [later, sooner, 200],
    [sooner, later, 403],
    [sooner, null, 403],
    [sooner, undefined, 200],
  ] as const) {
    const role = await open.fixture.grant(project, await open.newcomer(), 'admin', stored);
    const response = await client.patch(role.url, requests === undefined ? {} : { expiration_time: requests });
    assert.is(response.status, status, `${stored} ${requests}`);
    const saved = status === 200 && requests !== undefined ? requests : stored;
    assert.is((await open.fixture.staff.get(role.url)).body.expiration_time, saved);
  }
  const endless = await open.fixture.grant(project, await open.newcomer(), 'admin');
  assert.is((await client.delete(endless.url)).status, 403);
  const ending = await open.fixture.grant(project, await open.newcomer(), 'admin', later);
  open.fixture.clock.set(endOfRole);
  assert.is((await client.delete(ending.url)).status, 404);
  assert.is(await grant(later), 400);
});

managers.run();

const logs = suite('who sees the permission logs (core.md 8.2)');

logs.before(async () => {
  setup = await Setup.start();
  const foreign = await setup.fixture.customer('Foreign');
  const scopes = [
    setup.people.customer,
    setup.people.project,
    foreign,
    await setup.fixture.project('Foreign project', foreign),
  ];
  for (const scope of scopes)
    await setup.fixture.staff.delete((await setup.fixture.grant(scope, await setup.newcomer(), 'support')).url);
});
logs.after(() => setup.fixture.close());

logs(
  'the customer log: staff and global support all, owner and support of the customer its records, others none',
  async () => {
    const path = '/api/customer-permissions-log/';
    const lists = await asEachPersona(setup.people, async (client) =>
      (await client.get(path)).body.map((role: Json) => role.customer_name),
    );
    assert.equal(lists, {
      staff: ['Foreign', 'Alice'],
      support: ['Foreign', 'Alice'],
      owner: ['Alice'],
      helper: ['Alice'],
      manager: [],
      admin: [],
      observer: [],
      stranger: [],
    });
    const {
      body: [foreign, alice],
    } = await setup.fixture.staff.get(path);
    assert.equal(
      await setup.ask((client) => client.get(alice.url)),
      statuses(404, { staff: 200, support: 200, owner: 200, helper: 200 }),
    );
    assert.equal(await setup.ask((client) => client.get(foreign.url)), statuses(404, { staff: 200, support: 200 }));
  },
);

logs(
  'the project log: staff and global support all, owners those of the projects of their customers, others none',
  async () => {
    const path = '/api/project-permissions-log/';
    const lists = await asEachPersona(setup.people, async (client) =>
      (await client.get(path)).body.map((role: Json) => role.project_name),
    );
    assert.equal(lists, {
      staff: ['Foreign project', 'Rocket'],
      support: ['Foreign project', 'Rocket'],
      owner: ['Rocket'],
      helper: [],
      manager: [],
      admin: [],
      observer: [],
      stranger: [],
    });
    const {
      body: [foreign, rocket],
    } = await setup.fixture.staff.get(path);
    assert.equal(
      await setup.ask((client) => client.get(rocket.url)),
      statuses(404, { staff: 200, support: 200, owner: 200 }),
    );
    assert.equal(await setup.ask((client) => client.get(foreign.url)), statuses(404, { staff: 200, support: 200 }));
  },
);

logs('the logs are read only', async () => {
  for (const structure of ['customer', 'project']) {
    const {
      body: [record],
    } = await setup.fixture.staff.get(`/api/${structure}-permissions-log/`);
    for (const [method, path] of [
      ['POST', `/api/${structure}-permissions-log/`],
      ['PUT', record.url],
      ['PATCH', record.url],
      ['DELETE', record.url],
    ] as const) {
      const { status, headers, body } = await setup.fixture.staff.send(method, path, {});
      assert.is(status, 405);
      assert.is(headers.get('allow'), 'GET, HEAD, OPTIONS');
      assert.equal(body, { detail: `Method "${method}" not allowed.` });
    }
  }
  assert.equal((await setup.people.clients.owner.post('/api/customer-permissions-log/', {})).status, 405);
});

logs('callers without a token see neither permissions nor logs', async () => {
  for (const path of [
    'customer-permissions',
    'project-permissions',
    'customer-permissions-log',
    'project-permissions-log',
  ]) {
    for (const detail of ['', '1/'])
      assert.is((await setup.fixture.anonymous.get(`/api/${path}/${detail}`)).status, 401);
  }
  assert.equal((await setup.fixture.anonymous.post('/api/customer-permissions/', {})).body, {
    detail: 'Authentication credentials were not provided.',
  });
});

logs.run();
