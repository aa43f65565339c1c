import { readdirSync, readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { sendOverWire } from '../../support/wire.ts';

const { test, fixture } = suiteWithServer('cached representations', {
  // Disable the comparison: it would add to the counts.
  selfChecks: { caches: false },
});

/** Counts the objects that `work` builds from their rows. */
async function creation(work: () => Promise<unknown>): Promise<number> {
  const { db } = fixture.server.app;
  const { named } = Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(db)));
  let count = 0;
  db.named = <T>(...requests: Parameters<typeof db.named>): T[] => {
    const texts: T[] = named.apply(db, requests);
    count += texts.length;
    return texts;
  };
  try {
    await work();
  } finally {
    Reflect.deleteProperty(db, 'named');
  }
  return count;
}

let address = 0;
/** A new address, so that no response is cached. */
const fresh = (path: string): string => `${path}?fresh=${++address}`;

test('represents an object once for all callers who see everything and once for each other viewer', async () => {
  const customer = await fixture.customer('Kept');
  const owner = await fixture.user('kept.owner');
  await fixture.user('kept.support', { is_support: true });
  await fixture.grant(customer, owner, 'owner');
  const ask = (...clients: readonly { get: (path: string) => Promise<unknown> }[]) =>
    creation(async () => {
      for (const client of clients) await client.get(fresh(customer.url));
    });
  const [staff, support, owning] = [fixture.staff, fixture.as('kept.support'), fixture.as('kept.owner')];
  assert.is(await ask(staff, staff, support, support, owning, owning), 3);
  assert.is(await ask(staff, support, owning), 0);
});

test('an unrelated write keeps it, also in lists', async () => {
  const [first, second] = [await fixture.customer('First'), await fixture.customer('Second')];
  const list = () => fixture.staff.get(fresh('/api/customers/'));
  await list();
  await fixture.staff.patch(second.url, { phone_number: '1' });
  await fixture.user('elsewhere');
  await list();
  await fixture.staff.patch(second.url, { phone_number: '2' });
  assert.is(await creation(() => fixture.staff.get(fresh(first.url))), 0);
  assert.is(await creation(list), 1);
  const third = await fixture.customer('Third');
  assert.is(await creation(list), 1);
  assert.is((await fixture.staff.get(fresh(third.url))).body.name, 'Third');
});

test('does not respond for a deleted customer with the representation of the next one in its row', async () => {
  const gone = await fixture.customer('Gone');
  const { db, objectCaches } = fixture.server.app;
  await fixture.staff.get(fresh(gone.url));
  // The pages fill the budget, so that the representation is evicted.
  const half = fixture.server.app.config.memory_budget_bytes / 4;
  objectCaches.page('a page that fills half', () => Buffer.alloc(half));
  await fixture.staff.get(fresh(gone.url));
  const row = () => db.value<number>(sql`SELECT max(id) FROM customer`);
  const before = row();
  assert.is((await fixture.staff.delete(gone.url)).status, 204);
  const next = await fixture.customer('Next');
  assert.is(row(), before);
  assert.is((await fixture.staff.get(fresh(next.url))).body.name, 'Next');
  assert.is((await fixture.staff.get(fresh(gone.url))).status, 404);
});

test('represents an object again after a change of its projects, roles, quotas or names', async () => {
  const customer = await fixture.customer('Tells');
  const project = await fixture.project('Told', customer);
  const user = await fixture.user('teller');
  const ask = async (url: string) => (await fixture.staff.get(fresh(url))).body;
  await ask(customer.url);
  await fixture.grant(customer, user, 'owner');
  assert.is((await ask(customer.url)).owners[0].username, 'teller');
  await fixture.staff.patch(user.url, { full_name: 'New Name' });
  assert.is((await ask(customer.url)).owners[0].full_name, 'New Name');
  await fixture.staff.patch(project.url, { name: 'Renamed' });
  assert.is((await ask(customer.url)).projects[0].name, 'Renamed');
  assert.is((await ask(project.url)).customer_name, 'Tells');
  await fixture.staff.patch(customer.url, { name: 'Told' });
  assert.is((await ask(project.url)).customer_name, 'Told');
  const [quota] = (await ask(customer.url)).quotas;
  await fixture.staff.patch(quota.url, { limit: 77 });
  assert.is((await ask(customer.url)).quotas[0].limit, 77);
});

test('hides a cached object from a user who can no longer see it', async () => {
  const customer = await fixture.customer('Lost from sight');
  const project = await fixture.project('Lost as well', customer);
  const user = await fixture.user('kept.manager');
  const role = await fixture.grant(project, user, 'manager');
  const client = fixture.as('kept.manager');
  const statuses = async () => [
    (await client.get(fresh(customer.url))).status,
    (await client.get(fresh(project.url))).status,
  ];
  assert.equal(await statuses(), [200, 200]);
  await fixture.staff.delete(role.url);
  assert.equal(await statuses(), [404, 404]);
});

test('does not cache an object created by a failed request', async () => {
  const customer = await fixture.customer('Rolled back');
  const { db } = fixture.server.app;
  const count = async () => (await fixture.staff.get(fresh('/api/customers/'))).headers.get('x-result-count');
  const before = await count();
  assert.throws(() =>
    db.write(() => {
      db.insert('customer', { uuid: '0'.repeat(32), created: 0, name: 'Never there' });
      db.update('customer', 1, { name: 'Never so' });
      assert.is(db.rowsIn('customer'), Number(before) + 1);
      throw new Error('on purpose');
    }),
  );
  assert.is(await count(), before);
  assert.is((await fixture.staff.get(fresh(customer.url))).body.name, 'Rolled back');
});

test('clients with ever new host names get responses, without filling the memory', async () => {
  const customer = await fixture.customer('Called by many names');
  const path = new URL(customer.url).pathname;
  const token = `Authorization: Token ${fixture.staff.token}`;
  for (let i = 0; i < 12; i++) {
    const host = `name-${i}.example`;
    const { body } = await sendOverWire(fixture.url, `GET ${path} HTTP/1.1`, `Host: ${host}`, token, '');
    assert.is(JSON.parse(body).url, `http://${host}${path}`);
  }
});

test('no statement uses REPLACE on watched tables, which would delete rows unnoticed', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const replaced = sources.flatMap((file) =>
    [...readFileSync(`src/${file}`, 'utf8').matchAll(/(?:OR\s+REPLACE|REPLACE)\s+INTO\s+(\w+)/g)].map(
      ([, table]) => table,
    ),
  );
  const reports = ['customer', 'customer_image', 'customer_role', 'project', 'project_role', 'quota'];
  assert.equal(
    replaced.filter((table) => reports.includes(table ?? '')),
    [],
  );
});

test.run();
