/** Authors choose the destinations of hooks. Limits protect those hosts from floods of requests. */
import type { ServerOptions } from 'tenantry';
import * as assert from 'uvu/assert';
import type { Client, Json } from '../support/fixture.ts';
import { Receiver } from '../support/receiver.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('attacks by hooks');

const web = (client: Client, url = 'https://victim.example.org/in'): Promise<{ status: number; body: Json }> =>
  client.post('/api/hooks-web/', { destination_url: url, event_types: ['user_update_succeeded'] });

test('limits the hooks of a user, of all kinds together, to hooks_per_user, except for staff', async () => {
  await fixture.open({ hooks_per_user: 3 });
  await fixture.user('mallory');
  const mallory = fixture.as('mallory');
  const [first] = [await web(mallory), await web(mallory)];
  const push = { type: 'Android', event_types: ['user_update_succeeded'] };
  assert.is((await mallory.post('/api/hooks-push/', push)).status, 201);
  const email = { email: 'stranger@example.org', event_types: ['user_update_succeeded'] };
  for (const response of [
    await web(mallory),
    await mallory.post('/api/hooks-push/', push),
    await mallory.post('/api/hooks-email/', email),
  ])
    assert.equal([response.status, response.body], [409, { detail: 'A user may have at most 3 hooks.' }]);
  assert.equal((await mallory.post('/api/hooks-email/', {})).status, 400, 'validation of the body comes first');
  assert.is((await mallory.get('/api/hooks/')).body.length, 3);
  assert.is((await mallory.delete(first.body.url)).status, 204);
  assert.is((await mallory.post('/api/hooks-push/', push)).status, 201, 'a deleted hook no longer counts');
  for (let i = 0; i < 5; i++) assert.is((await web(fixture.staff)).status, 201);
});

test('limits a user to 50 hooks by default', async () => {
  await fixture.user('mallory');
  const mallory = fixture.as('mallory');
  for (let i = 0; i < 50; i++) assert.is((await web(mallory)).status, 201);
  const rejection = await web(mallory);
  assert.equal([rejection.status, rejection.body], [409, { detail: 'A user may have at most 50 hooks.' }]);
});

/** Pending look-ups of host names, with a function that ends each without an address. */
const requests: { readonly name: string; readonly end: () => void }[] = [];
const resolve: NonNullable<ServerOptions['resolve']> = (name, callback) => {
  const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  requests.push({ name, end: () => callback(error, []) });
};

const yieldLoop = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

test('runs at most 20 deliveries to one host at a time for hooks of all users, without delaying other hosts', async () => {
  await fixture.open({ resolve });
  requests.length = 0;
  for (let i = 0; i < 30; i++)
    await web(fixture.staff, `http${i % 2 ? 's' : ''}://${i % 3 ? 'victim' : 'VICTIM'}.example.org:${8000 + i}/`);
  await web(fixture.staff, 'https://other.example.org/');
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  await fixture.staff.patch(me.url, { job_title: 'Boss' });
  await yieldLoop(200);
  const underWay = (name: string): number => requests.filter((each) => each.name === name).length;
  assert.equal([underWay('victim.example.org'), underWay('other.example.org')], [20, 1]);
  for (const { end } of requests.slice(0, 5)) end();
  await yieldLoop(200);
  assert.is(requests.length, 26);
  while (requests.length < 31) {
    for (const { end } of requests) end();
    await yieldLoop(50);
  }
  for (const { end } of requests) end();
  await fixture.server.settled();
  assert.equal([underWay('victim.example.org'), underWay('other.example.org')], [30, 1]);
});

test('starts at most 200 deliveries to one host per second', async () => {
  const instants: number[] = [];
  await fixture.open({
    resolve: (_, callback) => {
      instants.push(performance.now());
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    },
  });
  for (let i = 0; i < 250; i++) await web(fixture.staff);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  const before = performance.now();
  await fixture.staff.patch(me.url, { job_title: 'Boss' });
  await fixture.server.settled();
  assert.is(instants.length, 250);
  // An attempt resolves its host some time after its start, even later on a busy machine.
  for (const at of instants.slice(200)) assert.ok(at - before >= 1000, `${at - before} ms for 201`);
});

test('delivers to a hook that waits for a host after the hooks before it were deleted', async () => {
  await fixture.open({ resolve });
  requests.length = 0;
  const hooks: string[] = [];
  for (let i = 0; i < 41; i++) hooks.push((await web(fixture.staff)).body.url);
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  await fixture.staff.patch(me.url, { job_title: 'Boss' });
  await yieldLoop(200);
  assert.is(requests.length, 20);
  for (const hook of hooks.slice(20, 40)) assert.is((await fixture.staff.delete(hook)).status, 204);
  for (const { end } of requests) end();
  await yieldLoop(200);
  assert.is(requests.length, 21);
  for (const { end } of requests) end();
  await fixture.server.settled();
  const [last] = (await fixture.staff.get(`${hooks[40]}deliveries/`)).body;
  assert.is(last.attempts, 1);
});

test('applies no limit to networks of hooks_allowed_networks, and to names once they resolve into them', async () => {
  const receiver = await Receiver.start();
  let waiting: (() => void)[] = [];
  let most = 0;
  receiver.behaviour = () =>
    new Promise((done) => {
      waiting.push(() => done(200));
      most = Math.max(most, waiting.length);
    });
  await fixture.open({
    hooks_allowed_networks: ['127.0.0.1'],
    resolve: (_, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  /** Returns the number of concurrent attempts. */
  const atOnce = async (title: string, count: number): Promise<number> => {
    most = 0;
    await fixture.staff.patch(me.url, { job_title: title });
    let received = 0;
    while (received < 30) {
      while (waiting.length < Math.min(count, 30 - received)) await yieldLoop(1);
      received += waiting.length;
      for (const end of waiting.splice(0)) end();
    }
    await fixture.server.settled();
    return most;
  };
  for (let i = 0; i < 30; i++) await web(fixture.staff, receiver.url);
  assert.is(await atOnce('By number', 30), 30);
  for (const { url } of (await fixture.staff.get('/api/hooks-web/?page_size=50')).body)
    await fixture.staff.patch(url, { destination_url: `http://own.example.com:${receiver.port}/` });
  assert.is(await atOnce('By name, unknown', 20), 20);
  assert.is(await atOnce('By name, known', 30), 30);
  waiting = [];
  await receiver.close();
});

test.run();
