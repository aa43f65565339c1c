import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { certificate } from '../../support/certificate.ts';
import type { Json } from '../../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas, sameExcept } from '../../support/personas.ts';
import { setOptions, step, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';
import { Account } from '../../vendors/digitalocean/account.ts';

const { test, fixture } = suiteWithServerPerTest('changed provider accounts are tried again (services.md 2.3, 2.5)');
let people: Personas;

test.before.each(async () => {
  people = await createPersonas(fixture);
});

/** Settings after their first synchronisation. */
async function make(fields: Readonly<Record<string, unknown>> = {}): Promise<Json> {
  const { body } = await fixture.staff.post('/api/service-settings/', {
    name: 'Ocean',
    type: 'OpenStack',
    customer: people.customer.url,
    simulator_latency: '0',
    ...fields,
  });
  await work(fixture);
  return body;
}

const state = async ({ url }: Json): Promise<string> => (await fixture.staff.get(url)).body.state;
const jobs = (): number => fixture.server.app.db.scalar(sql`SELECT count(*) FROM job`);

test('a changed credential, address or option makes settings Sync Scheduled in the response, and synchronises them', async () => {
  const settings = await make({ username: 'u', password: 'p', token: 't', domain: 'd', tenant_name: 'n' });
  for (const change of [
    { username: 'other' },
    { username: null },
    { password: 'other' },
    { password: null },
    { token: 'other' },
    { domain: 'other' },
    { tenant_name: 'other' },
    { tenant_name: null },
    { backend_url: 'simulator://other', token: 'again' },
  ]) {
    assert.is(await state(settings), 'In Sync');
    const { body, status } = await fixture.staff.patch(settings.url, change);
    assert.equal([status, body.state, jobs()], [200, 'Sync Scheduled', 1], JSON.stringify(change));
    await work(fixture);
    assert.is(jobs(), 0);
  }
  const form = new FormData();
  form.set('certificate', new Blob([certificate.cert], { type: 'application/x-pem-file' }), 'ca.pem');
  assert.is((await fixture.staff.send('PATCH', settings.url, form)).body.state, 'Sync Scheduled');
  await work(fixture);
  const replaced = await fixture.staff.put(settings.url, { name: 'Ocean', username: 'put' });
  assert.equal([replaced.status, replaced.body.state], [200, 'Sync Scheduled']);
});

test('queues no synchronisation for unchanged or unrelated values', async () => {
  const settings = await make({ username: 'u', password: 'p', tenant_name: 'n', homepage: 'https://example.com' });
  for (const change of [
    { name: 'Sea', homepage: '', terms_of_services: 'https://example.com/terms', scope: null },
    { username: 'u', password: 'p', tenant_name: 'n', backend_url: null, domain: null },
    { password: '********' },
    { simulator_failures: 'ping', simulator_latency: '1' },
  ]) {
    const { body, status } = await fixture.staff.patch(settings.url, change);
    assert.equal([status, body.state, jobs()], [200, 'In Sync', 0], JSON.stringify(change));
  }
  fixture.clock.advance(30 * 60);
  await work(fixture);
  assert.is(await state(settings), 'Erred', 'options of the simulator count from its next operation on');
});

test('retries Erred settings after a change of a simulator option', async () => {
  const settings = await make({ simulator_failures: 'ping' });
  assert.is(await state(settings), 'Erred');
  const { body } = await fixture.staff.patch(settings.url, { simulator_failures: null });
  assert.is(body.state, 'Sync Scheduled');
  await work(fixture);
  assert.is(await state(settings), 'In Sync');
});

test('includes changes made before a synchronisation starts', async () => {
  const { body } = await fixture.staff.post('/api/service-settings/', {
    name: 'Ocean',
    type: 'DigitalOcean',
    simulator_latency: '0',
  });
  for (const token of ['a', 'b', 'c']) {
    const changed = await fixture.staff.patch(body.url, { token });
    assert.equal([changed.body.state, jobs()], ['Creation Scheduled', 1]);
  }
  await work(fixture);
  assert.equal([await state(body), jobs()], ['In Sync', 0]);
});

test('repeats a synchronisation after changes during it, regardless of its result', async () => {
  for (const [failures, first] of [
    [null, 'In Sync'],
    ['sync', 'Erred'],
  ]) {
    const settings = await make({ simulator_latency: 'sync=50,*=0', simulator_failures: failures });
    assert.is(await state(settings), first);
    assert.is((await fixture.staff.post(`${settings.url}pull/`)).status, 202);
    fixture.clock.advance(1);
    fixture.server.tick();
    for (const token of ['a', 'b']) {
      const { body } = await fixture.staff.patch(settings.url, { token, simulator_failures: null });
      assert.equal([body.state, jobs()], ['Syncing', 1]);
    }
    await fixture.server.settled();
    assert.equal([await state(settings), jobs()], ['Sync Scheduled', 1]);
    await step(fixture);
    assert.equal([await state(settings), jobs()], ['In Sync', 0]);
    await work(fixture);
    assert.equal([await state(settings), jobs()], ['In Sync', 0]);
  }
});

test('pull schedules a synchronisation from In Sync and Erred, and responds 409 otherwise', async () => {
  const settings = await make();
  const pull = async (): Promise<unknown[]> => {
    const { body, status } = await fixture.staff.post(`${settings.url}pull/`);
    return [status, body, await state(settings), jobs()];
  };
  const rejection = { detail: 'Valid states for operation: In Sync, Erred.' };
  assert.equal(await pull(), [202, { status: 'Pull has been scheduled.' }, 'Sync Scheduled', 1]);
  assert.equal(await pull(), [409, rejection, 'Sync Scheduled', 1]);
  await work(fixture);
  await setOptions(fixture, settings, { simulator_failures: 'ping' });
  await pull();
  await work(fixture);
  assert.is(await state(settings), 'Erred');
  assert.equal(await pull(), [202, { status: 'Pull has been scheduled.' }, 'Sync Scheduled', 1]);
  fixture.events();
  await work(fixture);
  assert.equal(fixture.events(), [], 'settings emit no events');
});

test('users with the right to change settings can pull them', async () => {
  const own = await make();
  const shared = await make({ customer: null, shared: true });
  const status = (url: string) =>
    asEachPersona(people, async (client) => {
      await work(fixture);
      return (await client.post(`${url}pull/`)).status;
    });
  assert.equal(await status(own.url), {
    staff: 202,
    support: 403,
    owner: 202,
    helper: 403,
    manager: 404,
    admin: 404,
    observer: 404,
    stranger: 404,
  });
  assert.equal(await status(shared.url), sameExcept(403, { staff: 202 }));
  assert.is((await fixture.anonymous.post(`${own.url}pull/`)).status, 401);
});

test('calls a vendor with the new token within two seconds', async () => {
  const account = await Account.open();
  try {
    const { url } = await account.settings();
    account.vendor.tokens.delete('full-access');
    await account.fixture.staff.post(`${url}pull/`);
    await account.advance(3);
    assert.equal([(await account.settings()).state, account.vendor.take().length], ['Erred', 1]);
    account.vendor.tokens.set('renewed', 'write');
    await account.fixture.staff.patch(url, { token: 'renewed' });
    await account.advance(3);
    assert.is((await account.settings()).state, 'In Sync');
    assert.is(account.vendor.take()[0]?.authorization, 'Bearer renewed');
  } finally {
    await account.close();
  }
});

test.run();
