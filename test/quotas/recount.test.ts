import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../src/db/sql.ts';
import { Fixture, type Json } from '../support/fixture.ts';

const test = suite('usages of quotas against a count from scratch (core.md 10.2)');

/** Numbers that look random and are the same in every run (mulberry32). */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

/** Every usage that is not what counting the rows from scratch gives. */
function drift({ server }: Fixture): unknown[] {
  return server.deployment.db.all(sql`
    WITH connected (customer_id, user_id) AS (
      SELECT customer_id, user_id FROM customer_role WHERE ended IS NULL
      UNION SELECT p.customer_id, r.user_id FROM project_role r JOIN project p ON p.id = r.project_id WHERE r.ended IS NULL
    ), expected (scope_kind, scope_id, name, usage) AS (
      SELECT 'customer', id, 'nc_project_count', (SELECT count(*) FROM project WHERE customer_id = customer.id) FROM customer
      UNION ALL SELECT 'customer', id, 'nc_user_count', (SELECT count(*) FROM connected WHERE customer_id = customer.id) FROM customer
      UNION ALL SELECT 'global', 0, 'nc_global_customer_count', (SELECT count(*) FROM customer)
      UNION ALL SELECT 'global', 0, 'nc_global_project_count', (SELECT count(*) FROM project)
    )
    SELECT q.scope_kind, q.scope_id, q.name, q.usage, ifnull(e.usage, 0) AS counted FROM quota q LEFT JOIN expected e USING (scope_kind, scope_id, name)
    WHERE q.usage <> ifnull(e.usage, 0)`);
}

/** Links of everything there is that operations can change. */
function everything({ server: { deployment: { db } } }: Fixture) {
  return {
    customers: db.values<string>(sql`SELECT '/api/customers/' || uuid || '/' FROM customer`),
    projects: db.values<string>(sql`SELECT '/api/projects/' || uuid || '/' FROM project`),
    users: db.values<string>(sql`SELECT '/api/users/' || uuid || '/' FROM user WHERE username <> 'admin'`),
    roles: db.values<string>(sql`SELECT '/api/customer-permissions/' || id || '/' FROM customer_role WHERE ended IS NULL
      UNION ALL SELECT '/api/project-permissions/' || id || '/' FROM project_role WHERE ended IS NULL`),
    limits: db.values<string>(sql`SELECT '/api/quotas/' || uuid || '/' FROM quota WHERE scope_kind = 'customer' AND name IN ('nc_project_count', 'nc_user_count')`),
  };
}

/** Does one operation that the roll chooses, if there is anything to do it on, and answers its status. */
async function operate(fixture: Fixture, roll: (sides: number) => number): Promise<number | undefined> {
  const { staff, clock } = fixture;
  const { customers, projects, users, roles, limits } = everything(fixture);
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T;
  const end = () => pick([null, new Date(clock.now() / 1000 + 60_000 * (1 + roll(20))).toISOString()]);
  const operations: readonly (readonly [weight: number, possible: boolean, run: () => Promise<{ status: number }>])[] = [
    [2, customers.length < 8, () => staff.post('/api/customers/', { name: 'Customer' })],
    [4, customers.length > 0, () => staff.post('/api/projects/', { name: 'Project', customer: pick(customers) })],
    [2, users.length < 10, () => staff.post('/api/users/', { username: `user${clock.now()}` })],
    [5, customers.length > 0 && users.length > 0, () =>
      staff.post('/api/customer-permissions/', { customer: pick(customers), user: pick(users), role: pick(['owner', 'support']), expiration_time: end() })],
    [8, projects.length > 0 && users.length > 0, () =>
      staff.post('/api/project-permissions/', { project: pick(projects), user: pick(users), role: pick(['admin', 'manager', 'support']), expiration_time: end() })],
    [3, roles.length > 0, () => staff.delete(pick(roles))],
    [2, roles.length > 0, () => staff.patch(pick(roles), { expiration_time: end() })],
    [4, projects.length > 0, () => staff.patch(pick(projects), { customer: pick(customers) })],
    [1, projects.length > 0, () => staff.delete(pick(projects))],
    [1, customers.length > 0, () => staff.delete(pick(customers))],
    [1, users.length > 0, () => staff.delete(pick(users))],
    [1, limits.length > 0, () => staff.patch(pick(limits), { limit: pick([-1, 2, 4]) })],
  ];
  const [, possible, run] = pick(operations.flatMap((operation) => Array<typeof operation>(operation[0]).fill(operation)));
  return possible ? (await run()).status : undefined;
}

test('after random creations, grants, revocations, expiries, moves and deletions every usage is right', async () => {
  const fixture = await Fixture.start();
  try {
    const roll = dice(20180105);
    const statuses = new Set<number | undefined>();
    for (let step = 0; step < 400; step++) {
      statuses.add(await operate(fixture, roll));
      fixture.clock.advance(roll(90) + 1);
      // Any request ends the roles whose time has come.
      await fixture.staff.get('/api/version/');
      assert.equal(drift(fixture), [], `after step ${step}`);
    }
    for (const status of [200, 201, 204, 400, 409]) assert.ok(statuses.has(status), `some answer was ${status}`);
    for (const customer of (await fixture.staff.get('/api/customers/?page_size=300')).body) {
      const { projects, users } = (await fixture.staff.get(`${customer.url}counters/`)).body;
      const usage = (name: string) => customer.quotas.find((quota: Json) => quota.name === name).usage;
      assert.equal([usage('nc_project_count'), usage('nc_user_count')], [projects, users]);
      assert.equal((await fixture.staff.get(`${customer.url}users/`)).headers.get('x-result-count'), String(users));
    }
    const { db } = fixture.server.deployment;
    const told = (type: string) => db.value<number>(sql`SELECT count(*) FROM event WHERE type = ${type}`) as number;
    const active = db.value(sql`SELECT (SELECT count(*) FROM customer_role WHERE ended IS NULL) + (SELECT count(*) FROM project_role WHERE ended IS NULL)`);
    assert.is(told('role_granted') - told('role_revoked'), active, 'every role that was granted and is over was told to be lost');
  } finally {
    await fixture.close();
  }
});

test.run();
