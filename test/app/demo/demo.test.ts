import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePublicKey } from '../../../src/accounts/keys/keys.ts';
import { demo, demoPassword } from '../../../src/app/demo/demo.ts';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

let output: string;
/** The contents of the database before the first test. */
let initial: unknown;

const { test: setup, fixture } = suiteWithServer('sample data');
setup.before(async () => {
  output = await demo(fixture.server.app);
  initial = contents(fixture);
});

const count = async (client: Client, path: string): Promise<number> =>
  Number((await client.get(path)).headers.get('x-result-count'));

async function everyPage(client: Client, path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let next: string | undefined = `${path}?page_size=300`; next !== undefined; ) {
    const { body, headers } = await client.get(next);
    items.push(...body);
    next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return items;
}

/** Logs in with the printed username and password. */
async function loggedIn(username: string): Promise<Client> {
  const { status, body } = await fixture.anonymous.post('/api-auth/password/', { username, password: demoPassword });
  assert.is(status, 200, `${username}: ${JSON.stringify(body)}`);
  const client = fixture.as(username);
  return Object.assign(client, { token: body.token });
}

setup('has 12 customers, 40 projects, 120 users and their keys', async () => {
  const { staff } = fixture;
  assert.is(await count(staff, '/api/customers/'), 12);
  assert.is(await count(staff, '/api/projects/'), 40);
  assert.is(await count(staff, '/api/users/'), 120 + 1, 'with the staff user admin');
  assert.ok((await count(staff, '/api/keys/')) > 80);
});

setup('prints the number of objects, except those being deleted, and the first date', async () => {
  const events = fixture.server.app.db.value<number>(sql`SELECT count(*) FROM event`);
  const deleted = await count(fixture.staff, '/api/resources/?state=Deleting&state=Deletion+Scheduled');
  assert.is(deleted, 3);
  const resources = (await count(fixture.staff, '/api/resources/')) - deleted;
  const [first, second] = output.split('\n');
  assert.match(first ?? '', /^The sample data is ready: 12 customers, 40 projects, 121 users, \d+ SSH keys,$/);
  assert.match(
    second ?? '',
    new RegExp(`^12 provider accounts, ${resources} resources and ${events} events since 2016-01-06\\.$`),
  );
});

setup('has customers of several countries, companies with their VAT numbers and private persons', async () => {
  const customers = await everyPage(fixture.staff, '/api/customers/');
  assert.is(new Set(customers.map(({ country }) => country)).size, 12);
  const [companies, persons] = [
    customers.filter(({ is_company }) => is_company),
    customers.filter(({ is_company }) => !is_company),
  ];
  assert.equal([companies.length, persons.length], [9, 3]);
  for (const company of companies) {
    assert.is.not(company.vat_code, '');
    assert.is.not(company.abbreviation, '');
    const { status, body } = await fixture.staff.patch(company.url, { vat_code: company.vat_code });
    assert.is(status, 200, JSON.stringify(body));
  }
  for (const customer of customers) {
    assert.match(customer.email, /\.example(\.org)?$/);
    assert.ok(customer.owners.length > 0);
    for (const key of ['contact_details', 'phone_number', 'created'])
      assert.ok(customer[key], `${customer.name}: ${key}`);
  }
});

setup('has people with names in their own scripts, and complete accounts', async () => {
  const people = (await everyPage(fixture.staff, '/api/users/')).filter(({ username }) => username !== 'admin');
  const natives = people.map(({ native_name }) => native_name).join(' ');
  for (const script of [
    'Cyrillic',
    'Greek',
    'Han',
    'Hangul',
    'Arabic',
    'Hebrew',
    'Georgian',
    'Armenian',
    'Devanagari',
  ]) {
    assert.match(natives, new RegExp(`\\p{Script=${script}}`, 'u'));
  }
  for (const person of people) {
    assert.match(person.username, /^[a-z.-]+$/);
    assert.match(person.email, /\.example(\.net|\.org)?$/);
    assert.match(person.phone_number, /^\+\d+ 555 0\d{3}$/);
    assert.ok(person.agreement_date > person.date_joined);
  }
  assert.ok(people.filter(({ job_title }) => job_title !== '').length > 100);
  assert.is(people.filter(({ is_active }) => !is_active).length, 3);
});

setup('has complete and different SSH keys', async () => {
  const keys = await everyPage(fixture.staff, '/api/keys/');
  assert.is(new Set(keys.map(({ fingerprint_sha256 }) => fingerprint_sha256)).size, keys.length);
  assert.equal([...new Set(keys.map(({ public_key }) => public_key.split(' ')[0]))].sort(), [
    'ecdsa-sha2-nistp256',
    'ssh-ed25519',
  ]);
  for (const key of keys) assert.is(parsePublicKey(key.public_key)?.fingerprint, key.fingerprint);
});

setup(
  'has permanent roles, roles that end soon or later, and roles that were revoked, replaced or have expired',
  async () => {
    const now = fixture.clock.now() / 1000;
    const inDays = ({ expiration_time }: Json): number => (Date.parse(expiration_time) - now) / 86_400_000;
    for (const structure of ['customer', 'project']) {
      const active = await everyPage(fixture.staff, `/api/${structure}-permissions/`);
      const past = await everyPage(fixture.staff, `/api/${structure}-permissions-log/`);
      assert.ok(active.some(({ expiration_time }) => expiration_time === null));
      assert.ok(active.some((role) => inDays(role) > 30));
      assert.ok(active.every((role) => role.expiration_time === null || inDays(role) > 0));
      assert.ok(past.length > 5);
      assert.ok(past.every((role) => inDays(role) < 0));
      if (structure === 'project')
        assert.ok(active.filter((role) => role.expiration_time !== null && inDays(role) < 11).length > 3);
    }
    const revocations = events().filter(({ type }) => type === 'role_revoked');
    assert.ok(
      revocations.some(({ context }) => context.user_username === undefined),
      'expired',
    );
    assert.ok(
      revocations.some(({ context }) => context.user_username !== undefined),
      'revoked',
    );
  },
);

setup('has invitations and hooks, and sends nothing to people and hosts that do not exist', async () => {
  const invitations = (await fixture.staff.get('/api/user-invitations/')).body;
  assert.equal(
    invitations.map(({ state }: Json) => state),
    ['pending', 'canceled', 'pending', 'expired'],
  );
  const hooks = (await fixture.staff.get('/api/hooks/')).body;
  assert.equal(hooks.map(({ hook_type, is_active }: Json) => [hook_type, is_active]).sort(), [
    ['email', true],
    ['webhook', false],
    ['webhook', true],
  ]);
  assert.equal((await fixture.staff.get('/api/outbox/')).body, []);
});

interface Event {
  readonly at: number;
  readonly type: string;
  readonly message: string;
  readonly context: Readonly<Record<string, string>>;
}

function events(of = fixture): Event[] {
  const rows = of.server.app.db.all<Omit<Event, 'context'> & { context: string }>(
    sql`SELECT at, type, message, context FROM event ORDER BY id`,
  );
  return rows.map((row) => ({ ...row, context: JSON.parse(row.context) }));
}

setup('has a history of two years in which every object has its event at its time', async () => {
  const history = events();
  const times = history.map(({ at }) => at);
  assert.equal(
    times,
    [...times].sort((a, b) => a - b),
  );
  assert.is(new Date((times[0] as number) / 1000).toISOString().slice(0, 10), '2016-01-06');
  assert.ok((times.at(-1) as number) < fixture.clock.now());
  assert.ok((times.at(-1) as number) > fixture.clock.now() - 3 * 86_400_000_000);

  const created = new Map(
    history
      .filter(({ type }) => type === 'project_creation_succeeded')
      .map(({ at, context }) => [context.project_uuid, at]),
  );
  for (const project of await everyPage(fixture.staff, '/api/projects/')) {
    assert.is(Date.parse(project.created) * 1000, created.get(project.uuid));
  }
  assert.ok(
    history.some(({ message }) => message.endsWith("Name has been changed from 'Backup pilot' to 'Backup vault'.")),
  );
  assert.ok(
    history.some(({ message }) =>
      message.endsWith("Customer has been changed from 'Nordlicht Rechenzentrum GmbH' to 'Baltijas Datu Centrs SIA'."),
    ),
  );
  const kinds = new Set(history.map(({ type }) => type));
  for (const type of [
    'auth_logged_in_with_username',
    'auth_logged_out',
    'auth_login_failed_with_username',
    'customer_update_succeeded',
    'project_deletion_succeeded',
    'ssh_key_deletion_succeeded',
    'user_deactivated',
    'user_activated',
    'user_deletion_succeeded',
    'user_organization_approved',
    'user_token_lifetime_updated',
  ]) {
    assert.ok(kinds.has(type as Event['type']), type);
  }
});

setup('has quotas that match the existing objects', () => {
  assert.equal(examine(fixture.server.app, false), { problems: [], isHealthy: true });
});

setup('has no open session and no locked user', () => {
  const { db } = fixture.server.app;
  const sessions = sql`SELECT count(*) FROM token t JOIN user u ON u.id = t.user_id WHERE t.revoked IS NULL AND u.username <> 'admin' AND t.created < ${fixture.clock.now()}`;
  assert.is(db.value(sessions), 0);
  assert.is(db.value(sql`SELECT count(*) FROM login_failure`), 0);
});

setup('prints logins, each with the described access', async () => {
  const logins = [...output.matchAll(/^ {2}(\S+) +(.*)$/gm)].map(
    ([, username, promise]) => [username, promise] as [string, string],
  );
  const seen: Record<string, readonly [customers: number, projects: number]> = {};
  for (const [username, promise] of logins) {
    const client = await loggedIn(username);
    seen[promise] = [await count(client, '/api/customers/'), await count(client, '/api/projects/')];
  }
  assert.match(output, `all with the password ${demoPassword}`);
  assert.equal(seen, {
    'staff: sees and does everything': [12, 40],
    'global support: sees everything': [12, 40],
    'owner of three customers': [3, 13],
    'owner of Põhjarannik Pilveteenused OÜ': [1, 5],
    'support of Põhjarannik Pilveteenused OÜ': [1, 5],
    'manager of the project Client portal': [1, 1],
    'administrator of the project Client portal': [1, 1],
    'member of three projects of three customers': [3, 3],
    'support of a project, for three more days': [1, 1],
    'no role anywhere': [0, 0],
  });
});

setup('continues: the role with three days left ends with them', async () => {
  const [username = ''] = /\S+(?= +support of a project, for three more days)/.exec(output) ?? [];
  const guest = await loggedIn(username);
  fixture.clock.advance(3 * 86_400);
  assert.equal((await fixture.as(username).get('/api/projects/')).body, []);
  assert.is((await guest.get('/api/projects/')).status, 401);
  assert.ok(
    events().some(
      ({ at, message }) =>
        at === fixture.clock.now() && message === `User ${username} has lost role of Support in project Backup vault.`,
    ),
  );
});

setup.run();

const seeding = suite('sample data from a seed');

/** All data except parts that are independent of the seed: the salt in the password's hash, the global quotas, and the user `admin`. */
function contents({ server }: Fixture): unknown {
  const { db } = server.app;
  return [
    db.all(
      sql`SELECT id, uuid, username, full_name, native_name, email, phone_number, date_joined, is_active FROM user WHERE username <> 'admin' ORDER BY id`,
    ),
    db.all(sql`SELECT * FROM customer ORDER BY id`),
    db.all(sql`SELECT * FROM project ORDER BY id`),
    db.all(sql`SELECT * FROM customer_role ORDER BY id`),
    db.all(sql`SELECT * FROM project_role ORDER BY id`),
    db.all(sql`SELECT * FROM ssh_key ORDER BY id`),
    db.all(sql`SELECT * FROM quota WHERE scope_kind <> 'global' ORDER BY id`),
    db.all(sql`SELECT * FROM event ORDER BY id`),
    db.all(sql`SELECT id, uuid, name, type, state, options FROM service_settings ORDER BY id`),
    db.all(sql`SELECT * FROM service ORDER BY id`),
    db.all(sql`SELECT * FROM service_project_link ORDER BY id`),
    db.all(
      sql`SELECT id, uuid, name, state, runtime_state, error_message, backend_id, created, external_ips, internal_ips, details FROM resource ORDER BY id`,
    ),
    db.all(sql`SELECT * FROM resource_tag ORDER BY resource_id, tag`),
    db.all(sql`SELECT * FROM resource_sla ORDER BY resource_id, period`),
    db.all(sql`SELECT * FROM monitoring_item ORDER BY resource_id, name`),
    db.all(sql`SELECT * FROM jira_issue ORDER BY id`),
    db.all(sql`SELECT * FROM jira_comment ORDER BY id`),
    db.all(sql`SELECT operation, parameters, memo, due FROM job ORDER BY id`),
  ];
}

async function filled(seed?: string): Promise<unknown> {
  const server = await Fixture.start();
  try {
    await demo(server.server.app, seed);
    return contents(server);
  } finally {
    await server.close();
  }
}

seeding('creates the same data with uuids from the same seed and time, and other data from another seed', async () => {
  const [second, other] = [await filled(), await filled('another')];
  assert.equal(initial, second);
  const uuids = (data: unknown): string[] => JSON.stringify(data).match(/[0-9a-f]{32}/g) ?? [];
  const known = new Set(uuids(initial));
  assert.is(
    uuids(other).some((uuid) => known.has(uuid)),
    false,
  );
});

seeding('exits with one line and without a change when customers exist', async () => {
  const server = await Fixture.start();
  await server.customer('Alice');
  const before = contents(server);
  const message = await demo(server.server.app).catch((error: Error) => error.message);
  assert.is(message, 'the database already has customers: sample data needs an empty one');
  assert.equal(contents(server), before);
  await server.close();
});

seeding('leaves nothing behind when one of its names is taken', async () => {
  const server = await Fixture.start();
  await server.user('mari.tamm');
  const before = contents(server);
  const message = await demo(server.server.app).catch((error: Error) => error.message);
  assert.match(
    message,
    /^POST \/api\/users\/ .* was refused: \{"username":\["user with this username already exists\."\]\}$/,
  );
  assert.equal(contents(server), before);
  await server.close();
});

seeding.run();
