/** Connection tests before settings are stored: the failing check, for every vendor (services.md 4.3). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { certificate } from '../../support/certificate.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { createPersonas } from '../../support/personas.ts';
import { Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';
import type { FaultyAccount, FaultyVendor } from '../../vendors/faulty-vendor.ts';
import { faultyVendors } from '../../vendors/faulty-vendors.ts';

const names = ['endpoint', 'certificate', 'authentication', 'inventory'];

/** The checks of an account over HTTP, one of which fails. */
const checks = (failed?: string, message = ''): Json => ({
  is_successful: failed === undefined,
  checks: names.map((name, index) => {
    const at = failed === undefined ? names.length : names.indexOf(failed);
    const status = index === at ? 'failed' : index > at || name === 'certificate' ? 'skipped' : 'passed';
    return { name, status, message: index === at ? message : '' };
  }),
});

const vendors = suite('connection tests at vendors');

for (const [key, vendor] of Object.entries<FaultyVendor>(faultyVendors)) {
  const { name, prefix, denial: rejection, routes } = vendor;
  vendors(`names the check that fails at ${name}, and stores nothing`, async () => {
    const account: FaultyAccount = await vendor.open();
    const { faulty, fixture } = account;
    const path = `/api/${prefix}/`;
    const before = (await fixture.staff.get(path)).body.length;
    const body = account.body({ name: 'Second' });
    const test = async (fields: Record<string, unknown> = {}): Promise<[number, Json]> => {
      const response = await fixture.staff.post(`${path}test/`, { ...body, ...fields });
      return [response.status, response.body];
    };
    fixture.events();
    assert.equal(await test(), [200, checks()]);
    faulty.injectFault(routes.ping, rejection(401, 'Who are you?'));
    const [, rejected] = await test();
    assert.equal(
      rejected.checks.map(({ status }: Json) => status),
      ['passed', 'skipped', 'failed', 'skipped'],
    );
    faulty.injectFault(routes.ping, rejection(500, 'Oops'));
    const [, broken] = await test();
    assert.equal(broken, checks('endpoint', broken.checks[0].message));
    assert.match(broken.checks[0].message, /status 50[03]$/);
    const [status, unreachable] = await test({ backend_url: 'http://127.0.0.1:1/' });
    assert.equal([status, unreachable], [200, checks('endpoint', unreachable.checks[0].message)]);
    assert.not.ok(faulty.secrets.some((secret) => JSON.stringify([rejected, broken, unreachable]).includes(secret)));
    assert.is((await fixture.staff.get(path)).body.length, before);
    assert.equal(fixture.events(), [], key);
    await account.close();
  });
}

vendors('reports that credentials can log in but not read the objects', async () => {
  const account = await faultyVendors.digitalocean.open({});
  account.faulty.injectFault('GET /regions', faultyVendors.digitalocean.denial(403, 'You are not allowed to do that'));
  const { body } = await account.fixture.staff.post('/api/digitalocean/test/', account.body({ name: 'Second' }));
  assert.equal(body, checks('inventory', 'You are not allowed to do that'));
  await account.close();
});

vendors.run();

const { test, fixture } = suiteWithServer('connection tests', { provider_allowed_networks: ['127.0.0.1'] });
const path = '/api/digitalocean/test/';
let secure: Receiver;
let valid: Json;
let clients: Readonly<Record<string, Client>>;

test.before(async () => {
  secure = await Receiver.start(certificate);
  const people = await createPersonas(fixture);
  clients = people.clients;
  valid = { name: 'Ocean', customer: people.customer.url };
});
test.after(() => secure.close());

test('names an untrusted certificate, and a response from something other than the API', async () => {
  const account = { ...valid, backend_url: secure.url, token: 'secret-token' };
  const { body } = await fixture.staff.post(path, account);
  assert.equal(
    body.checks.map(({ status }: Json) => status),
    ['passed', 'failed', 'skipped', 'skipped'],
  );
  assert.match(body.checks[1].message, /self.signed certificate/);
  secure.behaviour = { status: 200, headers: {}, body: 'Welcome to nginx!' };
  const form = new FormData();
  for (const [name, value] of Object.entries(account)) form.set(name, String(value));
  form.set('certificate', new Blob([certificate.cert], { type: 'application/x-pem-file' }), 'ca.pem');
  const other = await fixture.staff.post(path, form);
  assert.equal(
    other.body.checks.map(({ status }: Json) => status),
    ['failed', 'skipped', 'skipped', 'skipped'],
  );
  assert.is(other.body.checks[0].message, 'Unexpected answer of backend');
});

test('passes for the simulator, without a certificate', async () => {
  assert.equal((await fixture.staff.post(path, valid)).body, checks());
});

test('evaluates the options of the simulator, of which it stores nothing', async () => {
  const rows = (): unknown =>
    fixture.server.app.db.all(
      sql`SELECT * FROM simulated_counter UNION ALL SELECT id, kind, ordinal FROM simulated_object`,
    );
  const before = rows();
  assert.equal((await fixture.staff.post(path, { ...valid, simulator_inventory: 3 })).body, checks());
  const failing = { ...valid, simulator_inventory: 3, simulator_failures: 'sync=1' };
  assert.equal((await fixture.staff.post(path, failing)).body, {
    is_successful: false,
    checks: names.map((name) => ({
      name,
      status: name === 'inventory' ? 'failed' : name === 'certificate' ? 'skipped' : 'passed',
      message: name === 'inventory' ? 'Simulated failure of sync' : '',
    })),
  });
  assert.equal(rows(), before);
});

test('has the rights and rules of a creation', async () => {
  assert.is((await clients.owner?.post(path, valid))?.status, 200);
  for (const name of ['manager', 'admin']) assert.is((await clients[name]?.post(path, valid))?.status, 403, name);
  assert.is((await fixture.anonymous.post(path, valid)).status, 401);
  assert.equal((await fixture.staff.get(path)).status, 405);
  const wrong = await fixture.staff.post(path, { customer: valid.customer });
  assert.equal([wrong.status, wrong.body], [400, { name: ['Name cannot be empty'] }]);
  const { url } = (
    await fixture.staff.post('/api/service-settings/', { name: 'S', type: 'DigitalOcean', shared: true })
  ).body;
  const stored = await fixture.staff.post(path, { ...valid, settings: url });
  assert.equal([stored.status, stored.body], [400, { settings: ['Only new credentials can be tested.'] }]);
});

test('rejects forbidden provider addresses', async () => {
  const { body } = await (clients.owner as Client).post(path, {
    ...valid,
    backend_url: 'http://10.0.0.1/',
    token: 'secret-token',
  });
  assert.equal(body, checks('endpoint', 'Destination address is not allowed by provider_allowed_networks'));
});

test.run();
