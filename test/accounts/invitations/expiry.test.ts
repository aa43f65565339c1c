import * as assert from 'uvu/assert';
import { raw } from '../../../src/kernel/db/sql.ts';
import { type Json, start } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('invitations that expire (services.md 10.2)');
const end = '2018-01-12T04:47:04Z';
let customer: Json;

test.before.each(async () => {
  customer = await fixture.customer('Alice');
});

const invite = async (): Promise<Json> =>
  (
    await fixture.staff.post('/api/user-invitations/', {
      link_template: 'https://app.example.com/{uuid}',
      email: 'new@example.com',
      customer: customer.url,
      customer_role: 'owner',
    })
  ).body;
const stored = (): unknown => fixture.server.app.db.values(raw('SELECT state FROM invitation ORDER BY id'));

test('an invitation is pending until its end and expired from then on', async () => {
  fixture.clock.hold();
  const { url } = await invite();
  fixture.clock.set('2018-01-12T04:47:03.999Z');
  assert.is((await fixture.staff.get(url)).body.state, 'pending');
  assert.equal((await fixture.staff.get('/api/user-invitations/?state=expired')).body, []);
  fixture.clock.set(end);
  assert.is((await fixture.staff.get(url)).body.state, 'expired');
  assert.is((await fixture.staff.get('/api/user-invitations/?state=expired')).body.length, 1);
  assert.equal(
    fixture.events().filter(({ type }) => type !== 'customer_creation_succeeded'),
    [],
    'that is no event',
  );
});

test('the first request after the end, of any kind, finds it expired', async () => {
  for (const [method, path] of [
    ['GET', '/api/version/'],
    ['OPTIONS', '/api/users/'],
    ['DELETE', '/api/nothing/'],
  ] as const) {
    fixture.clock.set(start);
    await invite();
    fixture.clock.set(end);
    await fixture.anonymous.send(method, path);
    assert.ok(
      (stored() as string[]).every((state) => state === 'expired'),
      `${method} ${path}`,
    );
  }
});

test('the hourly timer expires it without a request', async () => {
  await invite();
  fixture.server.tick();
  fixture.clock.set(end);
  fixture.server.tick();
  assert.equal(stored(), ['expired']);
});

test('an invitation that ended earlier keeps its state', async () => {
  const [canceled, pending] = [await invite(), await invite()];
  await fixture.staff.post(`${canceled.url}cancel/`);
  fixture.clock.set(end);
  assert.equal(
    [(await fixture.staff.get(canceled.url)).body.state, (await fixture.staff.get(pending.url)).body.state],
    ['canceled', 'expired'],
  );
});

test('cancel and send of an expired invitation return 409', async () => {
  const { url } = await invite();
  fixture.clock.set(end);
  assert.equal((await fixture.staff.post(`${url}cancel/`)).body, {
    detail: 'Only pending invitation can be canceled.',
  });
  assert.equal((await fixture.staff.post(`${url}send/`)).body, { detail: 'Only pending invitation can be resent.' });
});

test.run();
