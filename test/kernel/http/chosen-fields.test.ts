/** `field=` on every list and object (core.md 1.9). */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: fields, fixture } = suiteWithServer('chosen fields');

fields.before(async () => {
  const customer = await fixture.customer('Ministry');
  const user = await fixture.user('carol');
  await fixture.grant(customer, user, 'owner');
  await fixture.project('Bridge', customer);
  await fixture.staff.post('/api/hooks-email/', {
    email: 'carol@example.com',
    event_types: ['user_creation_succeeded'],
  });
});

fields('every collection in the root supports it, in lists and details', async () => {
  const { staff } = fixture;
  const root: Json = (await staff.get('/api/')).body;
  const seen: string[] = [];
  for (const [name, url] of Object.entries<string>(root)) {
    const { body: all } = await staff.get(url);
    if (!Array.isArray(all) || typeof all[0] !== 'object') continue;
    const [last = ''] = Object.keys(all[0]).slice(-1);
    const { body: some } = await staff.get(`${url}?field=${encodeURIComponent(last)}&field=unknown`);
    assert.equal([name, some[0]], [name, { [last]: all[0][last] }]);
    assert.equal([name, (await staff.get(`${url}?field=unknown`)).body], [name, all]);
    seen.push(name);
    if (all[0].url === undefined) continue;
    const detail = (await staff.get(all[0].url)).body;
    assert.equal((await staff.get(`${all[0].url}?fields=url`)).body, { url: detail.url });
  }
  for (const name of ['customers', 'customer-permissions', 'events', 'hooks', 'hooks-email', 'quotas', 'users'])
    assert.ok(seen.includes(name), name);
});

fields('members of customers also support it, but the history of a quota does not', async () => {
  const { staff } = fixture;
  const customer = (await staff.get('/api/customers/')).body[0];
  assert.equal(Object.keys((await staff.get(`${customer.url}users/?field=username`)).body[0]), ['username']);
  const quota = (await staff.get('/api/quotas/')).body[0];
  const { body } = await staff.get(`${quota.url}history/?point=1600000000&field=name`);
  assert.ok(Object.keys(body[0].object).length > 2);
});

fields('a request may select only members that some callers cannot see', async () => {
  const carol = fixture.as('carol');
  const { body: me } = await carol.get('/api/users/?current');
  const [{ token, url, token_lifetime }] = me;
  assert.equal((await carol.get(`${url}?field=token`)).body, { token });
  assert.equal((await carol.get(`${url}?field=is_staff&field=token&field=token_lifetime`)).body, {
    token_lifetime,
    token,
  });
  assert.equal((await fixture.staff.get(`${url}?field=token`)).body, {});
  const { body: hidden } = await carol.get('/api/users/?field=is_staff&field=description');
  assert.equal(new Set(hidden.map((user: Json) => JSON.stringify(user))), new Set(['{}']));
});

fields('every user can select any single member of an object', async () => {
  const { staff } = fixture;
  for (const [name, url] of Object.entries<string>((await staff.get('/api/')).body)) {
    const { body: all } = await staff.get(url);
    if (!Array.isArray(all) || typeof all[0] !== 'object') continue;
    for (const member of Object.keys(all[0]))
      for (const client of [staff, fixture.as('carol')]) {
        const { status, body } = await client.get(`${url}?field=${encodeURIComponent(member)}`);
        assert.is(status, 200, `${name} ${member}`);
        for (const object of body)
          assert.ok([member, ''].includes(Object.keys(object).join()), `${url} ${member} ${JSON.stringify(object)}`);
      }
  }
});

fields.run();
