import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { Account, stateOf } from '../../../vendors/digitalocean/account.ts';
import type { Fault } from '../../../vendors/digitalocean/stand-in.ts';

const test = suite('calls of DigitalOcean without a response');
let account: Account;

test.before.each(async () => {
  account = await Account.open();
});

test.after.each(() => account.close());

/** Counts the requests with each of these lines while time passes. */
async function sent(line: string, seconds = 60): Promise<number> {
  await account.advance(seconds);
  return account.vendor.take().filter((seen) => seen.line === line).length;
}

const create = 'POST /droplets';

const done: readonly (readonly [string, Fault])[] = [
  ['is lost', 'lost'],
  ['breaks off', 'broken off'],
  ['is truncated JSON', 'half'],
];

for (const [what, fault] of done) {
  test(`finds a creation whose response ${what} by its name, and does not repeat it`, async () => {
    account.vendor.injectFault(create, fault);
    const { url } = await account.order('web-1');
    assert.is(await sent(create), 1);
    const droplet = await account.read(url);
    assert.equal(stateOf(droplet), ['OK', 'online', '']);
    assert.equal([...account.vendor.droplets.keys()].map(String), [droplet.backend_id]);
    assert.is(droplet.external_ips.length, 1);
  });

  test(`finds an action whose response ${what}, and does not repeat it`, async () => {
    const droplet = await account.running('web-1');
    account.vendor.injectFault('POST /droplets/:id/actions', fault);
    await account.alice.post(`${droplet.url}restart/`);
    assert.is(await sent(`POST /droplets/${droplet.backend_id}/actions`), 1);
    assert.equal(stateOf(await account.read(droplet.url)), ['OK', 'online', '']);
    assert.equal(
      [...account.vendor.actions.values()].map(({ status, type }) => `${type} ${status}`),
      ['create completed', 'reboot completed'],
    );
  });
}

for (const [what, fault] of [
  ['reset', 'reset'],
  ['answered with 503', { status: 503 }],
] as readonly [string, Fault][]) {
  test(`repeats a creation that is ${what} if there is no such droplet`, async () => {
    account.vendor.injectFault(create, fault);
    const { url } = await account.order('web-1');
    assert.is(await sent(create), 2);
    const droplet = await account.read(url);
    assert.equal(stateOf(droplet), ['OK', 'online', '']);
    assert.equal([...account.vendor.droplets.keys()].map(String), [droplet.backend_id]);
  });

  test(`repeats an action that is ${what} if it has not started`, async () => {
    const droplet = await account.running('web-1');
    account.vendor.injectFault('POST /droplets/:id/actions', fault);
    await account.alice.post(`${droplet.url}stop/`);
    assert.is(await sent(`POST /droplets/${droplet.backend_id}/actions`), 2);
    assert.equal(stateOf(await account.read(droplet.url)), ['OK', 'offline', '']);
  });
}

test('fails a creation after four calls without a response', async () => {
  account.vendor.injectFault(create, 'reset', 5);
  const { url } = await account.order('web-1');
  assert.is(await sent(create, 100), 4);
  assert.equal(stateOf(await account.read(url)), ['Erred', '', 'Backend does not respond']);
});

test('finds a droplet created by the fourth call', async () => {
  account.vendor.injectFault(create, 'reset', 3);
  account.vendor.injectFault(create, 'lost');
  const { url } = await account.order('web-1');
  assert.is(await sent(create, 100), 4);
  const droplet = await account.read(url);
  assert.equal([droplet.state, droplet.backend_id], ['OK', String([...account.vendor.droplets.keys()][0])]);
});

test('does not mistake an existing droplet with the same name for the lost one', async () => {
  const older = account.vendor.order('web-1');
  account.vendor.injectFault(create, 'reset');
  const { url } = await account.order('web-1');
  assert.is(await sent(create), 2);
  const droplet = await account.read(url);
  assert.equal([...account.vendor.droplets.keys()].map(String), [String(older.id), droplet.backend_id]);
  assert.equal(stateOf(droplet), ['OK', 'online', '']);
});

test('finds the droplet of each creation with the same name after lost responses', async () => {
  account.vendor.injectFault(create, 'lost', 4);
  const orders: Json[] = [];
  for (let n = 0; n < 4; n++) orders.push(await account.order('web'));
  assert.is(await sent(create, 100), 4);
  const droplets = await Promise.all(orders.map(({ url }) => account.read(url)));
  assert.equal(
    droplets.map(({ state }) => state),
    ['OK', 'OK', 'OK', 'OK'],
  );
  assert.equal(droplets.map((droplet) => droplet.backend_id).sort(), [...account.vendor.droplets.keys()].map(String));
});

test('does not mistake an earlier reboot for the lost one', async () => {
  const droplet = await account.running('web-1');
  await account.alice.post(`${droplet.url}restart/`);
  await account.advance(16);
  account.fixture.clock.advance(600);
  await account.advance(1);
  account.vendor.take();
  account.vendor.injectFault('POST /droplets/:id/actions', 'reset');
  await account.alice.post(`${droplet.url}restart/`);
  assert.is(await sent(`POST /droplets/${droplet.backend_id}/actions`), 2);
  assert.equal(
    [...account.vendor.actions.values()].map(({ type }) => type),
    ['create', 'reboot', 'reboot'],
  );
});

test('waits if the vendor limits calls during recovery', async () => {
  account.vendor.injectFault(create, { status: 429, headers: { 'Retry-After': '7' } }, 2);
  const { url } = await account.order('web-1');
  assert.is(await sent(create), 3);
  assert.equal(stateOf(await account.read(url)), ['OK', 'online', '']);
  assert.is(account.vendor.droplets.size, 1);
});

test.run();
