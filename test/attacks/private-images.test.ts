/** Only users with access to an account see its objects at the provider (providers.md 1.3). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client, Json } from '../support/fixture.ts';
import { Account } from '../vendors/digitalocean/account.ts';

const images = suite('private images');
let account: Account;

images.before.each(async () => {
  account = await Account.open();
});
images.after.each(() => account.close());

const isPrivate = 'CentOS web server before the move';
const names = async (client: Client, path = '/api/digitalocean-images/'): Promise<string[]> =>
  (await client.get(path)).body.map(({ name }: Json) => name);

images('lists no objects of the account of another customer to a user without roles', async () => {
  const { fixture } = account;
  await fixture.user('stranger');
  const stranger = fixture.as('stranger');
  for (const kind of ['images', 'regions', 'sizes']) {
    assert.equal(await names(stranger, `/api/digitalocean-${kind}/`), [], kind);
    const [{ url }] = (await fixture.staff.get(`/api/digitalocean-${kind}/`)).body;
    assert.is((await stranger.get(url)).status, 404, kind);
  }
  assert.ok((await names(account.alice)).includes(isPrivate), 'users with access to the account still see it');
  const image = (await account.alice.get('/api/digitalocean-images/?name=Debian')).body[0];
  assert.equal(
    image.regions.map(({ name }: Json) => name),
    ['Frankfurt 1', 'New York 3'],
  );
});

images('does not let a second account at the same address rename or delete objects of the first', async () => {
  const { alice, fixture, vendor } = account;
  const before = (await alice.get('/api/digitalocean-images/')).body;
  const bob = await fixture.user('bob');
  const customer = await fixture.customer('Bob');
  await fixture.grant(customer, bob, 'owner');
  vendor.images = vendor.images
    .filter((image) => image.public)
    .map((image) => ({ ...image, name: `${image.name} of Bob` }));
  const { body, status } = await fixture.staff.post('/api/digitalocean/', {
    name: 'Of Bob',
    customer: customer.url,
    backend_url: vendor.url,
    token: 'full-access',
  });
  assert.is(status, 201, JSON.stringify(body));
  await account.advance(2);
  assert.equal((await alice.get('/api/digitalocean-images/')).body, before);
  const bobs = await names(fixture.as('bob'));
  assert.equal(bobs, ['Debian 9.2 x64 of Bob', 'Ubuntu 16.04.3 x64 of Bob']);
  const [{ url: foreign }] = before;
  assert.is((await fixture.as('bob').get(foreign)).status, 404);
});

images('shows private images of shared settings to users with a service there', async () => {
  const { fixture, vendor } = account;
  await fixture.user('stranger');
  const { body, status } = await fixture.staff.post('/api/service-settings/', {
    name: 'Public',
    type: 'DigitalOcean',
    shared: true,
    backend_url: vendor.url,
    token: 'full-access',
  });
  assert.is(status, 201, JSON.stringify(body));
  await account.advance(2);
  const path = `/api/digitalocean-images/?settings_uuid=${body.uuid}`;
  assert.equal(await names(fixture.as('stranger'), path), ['Debian 9.2 x64', 'Ubuntu 16.04.3 x64']);
  assert.equal(await names(account.alice, path), [isPrivate, 'Debian 9.2 x64', 'Ubuntu 16.04.3 x64']);
});

images.run();
