import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { expireRoles } from '../../../src/accounts/roles/roles.ts';
import { findDrift } from '../../../src/activity/quotas/recount.ts';
import { countQuotas } from '../../../src/activity/quotas/usage.ts';
import type { Caller } from '../../../src/kernel/access/caller.ts';
import { Request } from '../../../src/kernel/access/request.ts';
import { newUuid } from '../../../src/kernel/app.ts';
import type { Endpoint, Method } from '../../../src/kernel/collection/endpoint.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { HttpError } from '../../../src/kernel/http/error.ts';
import { IncomingRequest } from '../../../src/kernel/http/incoming-request.ts';
import { Router } from '../../../src/kernel/http/router.ts';
import { endpoints } from '../../support/catalogue.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { change, contextOf, idOf, settings } from '../../support/links.ts';

const test = suite('usages of quotas against a count from scratch (events.md 2.1)');

/** Generates pseudo-random numbers, equal in every run (mulberry32). */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

type Ask = (method: Method, path: string, body?: Json) => number;

const router = new Router<Endpoint>();
for (const endpoint of endpoints) router.add(endpoint);

/** Sends requests as staff without a network: runs the handler in a write. Returns the status. */
function directly({ server: { app } }: Fixture): Ask {
  const { clock, db } = app;
  const user = db.get<{ id: number; uuid: string }>(sql`SELECT id, uuid FROM user WHERE username = 'admin'`) as {
    id: number;
    uuid: string;
  };
  const caller: Caller = {
    ...user,
    username: 'admin',
    fullName: '',
    nativeName: '',
    isStaff: true,
    isSupport: false,
    isRestricted: false,
    mustEnrol: false,
    tokenId: 0,
    credential: '',
    token: '',
    userId: user.id,
    apiKey: null,
    impersonator: null,
    isServiceAccount: false,
  };
  return (method, path, body) => {
    const incoming = new IncomingRequest(
      'test',
      method,
      path,
      { 'content-type': 'application/json' },
      '127.0.0.1',
      'http://localhost',
    ).receive(Buffer.from(body === undefined ? '' : JSON.stringify(body)));
    const match = router.find(incoming.path);
    const operation = match?.endpoint.operations[method];
    if (!match || !operation) return 405;
    try {
      return db.write(() =>
        operation.handle(new Request(app, incoming, match.params, caller, clock.now()), undefined as never),
      ).status;
    } catch (error) {
      if (error instanceof HttpError) return error.status;
      throw error;
    }
  };
}

/** Returns the differences between the quotas and a new count of the rows. */
function wrong({
  server: {
    app: { db },
  },
}: Fixture): unknown[] {
  const usages = db.all(sql`
    WITH connected (customer_id, user_id) AS (
      SELECT customer_id, user_id FROM customer_role WHERE ended IS NULL
      UNION SELECT p.customer_id, r.user_id FROM project_role r JOIN project p ON p.id = r.project_id WHERE r.ended IS NULL
    ), expected (scope_kind, scope_id, name, usage) AS (
      SELECT 'customer', id, 'nc_project_count', (SELECT count(*) FROM project WHERE customer_id = customer.id) FROM customer
      UNION ALL SELECT 'customer', id, 'nc_user_count', (SELECT count(*) FROM connected WHERE customer_id = customer.id) FROM customer
      UNION ALL SELECT 'customer', id, 'nc_service_count', (SELECT count(*) FROM service WHERE customer_id = customer.id) FROM customer
      UNION ALL SELECT 'customer', id, 'nc_service_project_link_count',
        (SELECT count(*) FROM service_project_link WHERE project_id IN (SELECT id FROM project WHERE customer_id = customer.id)) FROM customer
      UNION ALL SELECT 'project', id, 'nc_service_project_link_count', (SELECT count(*) FROM service_project_link WHERE project_id = project.id) FROM project
      UNION ALL SELECT 'global', 0, 'nc_global_customer_count', (SELECT count(*) FROM customer)
      UNION ALL SELECT 'global', 0, 'nc_global_project_count', (SELECT count(*) FROM project)
    )
    SELECT q.scope_kind, q.scope_id, q.name, q.usage, ifnull(e.usage, 0) AS counted FROM quota q LEFT JOIN expected e USING (scope_kind, scope_id, name)
    WHERE q.usage <> ifnull(e.usage, 0)`);
  const alerts = db.all(sql`
    WITH expected (customer_id) AS (SELECT DISTINCT scope_id FROM quota WHERE scope_kind = 'customer' AND threshold > 0 AND usage >= threshold),
      open (customer_id) AS (SELECT scope_id FROM alert WHERE scope_kind = 'customer' AND alert_type = 'threshold_exceeded' AND closed IS NULL)
    SELECT 'raised' AS alert, customer_id FROM (SELECT * FROM open EXCEPT SELECT * FROM expected)
    UNION ALL SELECT 'missing', customer_id FROM (SELECT * FROM expected EXCEPT SELECT * FROM open)`);
  return [...usages, ...alerts];
}

/** Returns quotas whose newest version differs from the current values, and rows that belong to no object. */
const leftBehind = ({
  server: {
    app: { db },
  },
}: Fixture): unknown[] =>
  db.all(sql`
  SELECT q.id, q.name FROM quota q WHERE NOT ifnull(
    (SELECT v."limit" = q."limit" AND v.usage = q.usage FROM quota_version v WHERE v.quota_id = q.id ORDER BY at DESC LIMIT 1),
    q.first_limit = q."limit" AND q.first_usage = q.usage)
  UNION ALL SELECT id, name FROM quota WHERE (scope_kind = 'customer' AND scope_id NOT IN (SELECT id FROM customer)) OR (scope_kind = 'project' AND scope_id NOT IN (SELECT id FROM project))
  UNION ALL SELECT id, alert_type FROM alert WHERE scope_kind = 'customer' AND scope_id NOT IN (SELECT id FROM customer)
  UNION ALL SELECT quota_id, 'version' FROM quota_version WHERE quota_id NOT IN (SELECT id FROM quota)`);

/** Returns links of all objects that operations can change. The provider of services stays. */
function everything({
  server: {
    app: { db },
  },
}: Fixture) {
  return {
    customers: db.values<string>(sql`SELECT '/api/customers/' || uuid || '/' FROM customer WHERE name <> 'Provider'`),
    projects: db.values<string>(sql`SELECT '/api/projects/' || uuid || '/' FROM project`),
    users: db.values<string>(sql`SELECT '/api/users/' || uuid || '/' FROM user WHERE username <> 'admin'`),
    roles: db.values<string>(sql`SELECT '/api/customer-permissions/' || id || '/' FROM customer_role WHERE ended IS NULL
      UNION ALL SELECT '/api/project-permissions/' || id || '/' FROM project_role WHERE ended IS NULL`),
    limits: db.values<string>(
      sql`SELECT '/api/quotas/' || uuid || '/' FROM quota WHERE scope_kind = 'customer' AND name IN ('nc_project_count', 'nc_user_count', 'nc_service_project_link_count')`,
    ),
    links: db.all<LinkRow>(
      sql`SELECT l.id, l.project_id, p.customer_id FROM service_project_link l JOIN project p ON p.id = l.project_id`,
    ),
    free: db.all<
      Omit<LinkRow, 'id'> & { service_id: number }
    >(sql`SELECT s.id AS service_id, p.id AS project_id, p.customer_id FROM service s, project p
      WHERE NOT EXISTS (SELECT 1 FROM service_project_link WHERE service_id = s.id AND project_id = p.id)`),
  };
}

interface LinkRow {
  readonly id: number;
  readonly project_id: number;
  readonly customer_id: number;
}

/** Links a project to a service or removes a link, and updates the counts. */
function relink(fixture: Fixture, row: Omit<LinkRow, 'id'>, delta: 1 | -1, run: () => void): number {
  fixture.server.app.db.write(() => {
    run();
    const name = 'nc_service_project_link_count';
    countQuotas(contextOf(fixture), [
      { scope: 'project', id: row.project_id, name, delta },
      { scope: 'customer', id: row.customer_id, name, delta },
    ]);
  });
  return 200;
}

/** Runs one random operation if an object for it exists; returns its status. */
function operate(fixture: Fixture, ask: Ask, roll: (sides: number) => number): number | undefined {
  const {
    clock,
    server: { app },
  } = fixture;
  const { customers, projects, users, roles, limits, links, free } = everything(fixture);
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T;
  const end = () => pick([null, new Date(clock.now() / 1000 + 60_000 * (1 + roll(20))).toISOString()]);
  const operations: readonly (readonly [weight: number, possible: boolean, run: () => number])[] = [
    [2, customers.length < 12, () => ask('POST', '/api/customers/', { name: 'Customer' })],
    [
      4,
      customers.length > 0 && projects.length < 40,
      () => ask('POST', '/api/projects/', { name: 'Project', customer: pick(customers) }),
    ],
    [2, users.length < 15, () => ask('POST', '/api/users/', { username: `user${clock.now()}` })],
    [
      5,
      customers.length > 0 && users.length > 0,
      () =>
        ask('POST', '/api/customer-permissions/', {
          customer: pick(customers),
          user: pick(users),
          role: pick(['owner', 'support']),
          expiration_time: end(),
        }),
    ],
    [
      8,
      projects.length > 0 && users.length > 0,
      () =>
        ask('POST', '/api/project-permissions/', {
          project: pick(projects),
          user: pick(users),
          role: pick(['admin', 'manager', 'support']),
          expiration_time: end(),
        }),
    ],
    [3, roles.length > 0, () => ask('DELETE', pick(roles))],
    [2, roles.length > 0, () => ask('PATCH', pick(roles), { expiration_time: end() })],
    [4, projects.length > 0 && customers.length > 0, () => ask('PATCH', pick(projects), { customer: pick(customers) })],
    [1, projects.length > 0, () => ask('DELETE', pick(projects))],
    [1, customers.length > 0, () => ask('DELETE', pick(customers))],
    [1, users.length > 0, () => ask('DELETE', pick(users))],
    [1, users.length > 0, () => ask('PATCH', pick(users), { is_active: pick([true, false]) })],
    [1, limits.length > 0, () => ask('PATCH', pick(limits), { limit: pick([-1, 2, 4]) })],
    [2, limits.length > 0, () => ask('PATCH', pick(limits), { threshold: pick([0, 1, 2, 3]) })],
    [
      3,
      free.length > 0,
      () => {
        const { customer_id, project_id, service_id } = pick(free);
        const row = { uuid: newUuid(app), project_id, service_id };
        return relink(fixture, { customer_id, project_id }, 1, () => app.db.insert('service_project_link', row));
      },
    ],
    [
      1,
      links.length > 0,
      () => {
        const chosen = pick(links);
        return relink(fixture, chosen, -1, () =>
          app.db.run(sql`DELETE FROM service_project_link WHERE id = ${chosen.id}`),
        );
      },
    ],
  ];
  const [, possible, run] = pick(
    operations.flatMap((operation) => Array<typeof operation>(operation[0]).fill(operation)),
  );
  return possible ? run() : undefined;
}

/** A customer with two services to link projects to. The random operations do not change it. */
async function provider(fixture: Fixture): Promise<void> {
  const customer = await fixture.customer('Provider');
  const customerId = idOf(fixture, 'customer', customer);
  for (const name of ['Cloud', 'Forge']) {
    const { id: settingsId } = settings(fixture, name, customer);
    change(fixture, () => {
      const { app } = fixture.server;
      app.db.insert('service', { uuid: newUuid(app), customer_id: customerId, settings_id: settingsId });
      countQuotas(contextOf(fixture), [{ scope: 'customer', id: customerId, name: 'nc_service_count', delta: 1 }]);
    });
  }
}

const steps = 10_000;

test(`after ${steps} random creations, grants, revocations, expiries, moves, links and deletions every usage is correct`, async () => {
  const fixture = await Fixture.start();
  try {
    await provider(fixture);
    const { db } = fixture.server.app;
    const ask = directly(fixture);
    const roll = dice(20180105);
    const statuses = new Map<number | undefined, number>();
    for (let step = 1; step <= steps; step++) {
      const status = operate(fixture, ask, roll);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      fixture.clock.advance(roll(90) + 1);
      db.write(() => expireRoles(contextOf(fixture)));
      if (step % 10 === 0) assert.equal(wrong(fixture), [], `after step ${step}`);
      if (step % 100 === 0) {
        db.commit();
        await new Promise(setImmediate);
      }
    }
    for (const status of [200, 201, 204, 400, 409])
      assert.ok((statuses.get(status) ?? 0) > 100, `many responses were ${status}: ${[...statuses]}`);
    assert.equal([wrong(fixture), findDrift(fixture.server.app), leftBehind(fixture)], [[], [], []]);
    assert.ok(
      (db.value<number>(sql`SELECT sum(usage) FROM quota WHERE scope_kind = 'project'`) as number) > 5,
      'projects have links',
    );
    for (const customer of (await fixture.staff.get('/api/customers/?page_size=300')).body) {
      const { projects, users } = (await fixture.staff.get(`${customer.url}counters/`)).body;
      const usage = (name: string) => customer.quotas.find((quota: Json) => quota.name === name).usage;
      assert.equal([usage('nc_project_count'), usage('nc_user_count')], [projects, users]);
      assert.equal((await fixture.staff.get(`${customer.url}users/`)).headers.get('x-result-count'), String(users));
    }
    const reports = (type: string) => db.value<number>(sql`SELECT count(*) FROM event WHERE type = ${type}`) as number;
    const active = db.value(
      sql`SELECT (SELECT count(*) FROM customer_role WHERE ended IS NULL) + (SELECT count(*) FROM project_role WHERE ended IS NULL)`,
    );
    assert.is(
      reports('role_granted') - reports('role_revoked'),
      active,
      'every granted role that has ended has an event of its end',
    );
  } finally {
    await fixture.close();
  }
});

test.run();
