import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { Account } from '../../../vendors/digitalocean/account.ts';

const test = suite('SSH keys at DigitalOcean');
let account: Account;
let key: Json;

test.before.each(async () => {
  account = await Account.open();
  key = await account.key();
  await account.running('web-1', { ssh_public_key: key.url });
  assert.is(account.vendor.keys.size, 1);
});

test.after.each(() => account.close());

const lines = (): string[] => account.vendor.take().map(({ line }) => line);

/** Revokes a role of a user. */
async function revoke(structure: 'customer' | 'project', user: Json): Promise<void> {
  const [role] = (await account.fixture.staff.get(`/api/${structure}-permissions/?user=${user.uuid}`)).body;
  assert.is((await account.fixture.staff.delete(role.url)).status, 204);
}

test('deleting a key removes it at the vendor', async () => {
  const [id] = account.vendor.keys.keys();
  assert.is((await account.alice.delete(key.url)).status, 204);
  await account.advance(2);
  assert.equal(lines(), [`GET /account/keys/${key.fingerprint}`, `DELETE /account/keys/${id}`]);
  assert.is(account.vendor.keys.size, 0);
});

test('deleting a key that was never uploaded calls nothing', async () => {
  const { body } = await account.alice.post('/api/keys/', { name: 'desktop', public_key: publicKeys.rsa });
  await account.alice.delete(body.url);
  await account.advance(2);
  assert.equal(lines(), []);
});

test('removes the key at the vendor when its user loses the last role with access to the settings', async () => {
  await revoke('project', account.user);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 0);
  // The key itself stays with its user.
  assert.is((await account.alice.get(key.url)).status, 200);
});

test('keeps the key while another role gives access to the settings', async () => {
  await account.fixture.grant(account.customer, account.user, 'support');
  await revoke('project', account.user);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 1);
  await revoke('customer', account.user);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 0);
});

test('an expired role has the same effect', async () => {
  await revoke('project', account.user);
  await account.advance(2);
  await account.fixture.grant(account.project, account.user, 'admin', '2018-01-05T05:00:00Z');
  await account.running('web-2', { ssh_public_key: key.url });
  assert.is(account.vendor.keys.size, 1);
  account.fixture.clock.set('2018-01-05T05:00:00Z');
  await account.advance(2);
  assert.is(account.vendor.keys.size, 0);
});

test('deleting a user removes their keys at the vendor', async () => {
  assert.is((await account.fixture.staff.delete(account.user.url)).status, 204);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 0);
});

test('keeps an uploaded key until all users who added it have deleted it', async () => {
  const bob = await account.fixture.user('bob');
  await account.fixture.grant(account.project, bob, 'manager');
  const bobs = (
    await account.fixture.as('bob').post('/api/keys/', { name: 'shared laptop', public_key: publicKeys.ed25519 })
  ).body;
  const order = {
    name: 'web-2',
    service_project_link: account.link.url,
    ...(await account.choice()),
    ssh_public_key: bobs.url,
  };
  assert.is((await account.fixture.as('bob').post('/api/digitalocean-droplets/', order)).status, 201);
  await account.advance(20);
  await account.alice.delete(key.url);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 1);
  await account.fixture.as('bob').delete(bobs.url);
  await account.advance(2);
  assert.is(account.vendor.keys.size, 0);
});

test('a key that no longer exists at the vendor counts as removed', async () => {
  account.vendor.keys.clear();
  await account.alice.delete(key.url);
  await account.advance(2);
  assert.equal(lines(), [`GET /account/keys/${key.fingerprint}`]);
  await account.advance(120);
  assert.equal(lines(), []);
});

test('gives up a removal after five attempts', async () => {
  account.vendor.injectFault('DELETE /account/keys/:id', { status: 500 }, 9);
  await account.alice.delete(key.url);
  await account.advance(600);
  assert.is(lines().filter((line) => line.startsWith('DELETE')).length, 5);
  assert.is(account.vendor.keys.size, 1);
});

test.run();
