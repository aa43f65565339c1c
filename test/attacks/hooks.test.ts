/** Hooks are sent to addresses that their authors choose: none of them becomes a weapon against others. */
import * as assert from 'uvu/assert';
import type { Client, Json } from '../support/fixture.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('attacks by hooks');

const web = (client: Client, url = 'https://victim.example.org/in'): Promise<{ status: number; body: Json }> =>
  client.post('/api/hooks-web/', { destination_url: url, event_types: ['user_update_succeeded'] });

test('a user has at most so many hooks as hooks_per_user says, all kinds counted; staff has any number', async () => {
  await fixture.open({ hooks_per_user: 3 });
  await fixture.user('mallory');
  const mallory = fixture.as('mallory');
  const [first] = [await web(mallory), await web(mallory)];
  const push = { type: 'Android', event_types: ['user_update_succeeded'] };
  assert.is((await mallory.post('/api/hooks-push/', push)).status, 201);
  const email = { email: 'stranger@example.org', event_types: ['user_update_succeeded'] };
  for (const answer of [
    await web(mallory),
    await mallory.post('/api/hooks-push/', push),
    await mallory.post('/api/hooks-email/', email),
  ])
    assert.equal([answer.status, answer.body], [409, { detail: 'A user may have at most 3 hooks.' }]);
  assert.equal((await mallory.post('/api/hooks-email/', {})).status, 400, 'what is wrong with the body is told first');
  assert.is((await mallory.get('/api/hooks/')).body.length, 3);
  assert.is((await mallory.delete(first.body.url)).status, 204);
  assert.is((await mallory.post('/api/hooks-push/', push)).status, 201, 'one that is deleted makes room');
  for (let i = 0; i < 5; i++) assert.is((await web(fixture.staff)).status, 201);
});

test('by default a user has at most 50 hooks', async () => {
  await fixture.user('mallory');
  const mallory = fixture.as('mallory');
  for (let i = 0; i < 50; i++) assert.is((await web(mallory)).status, 201);
  const refused = await web(mallory);
  assert.equal([refused.status, refused.body], [409, { detail: 'A user may have at most 50 hooks.' }]);
});

test.run();
