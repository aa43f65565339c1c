/** Attempts to move foreign projects to a user's own customer (core.md 7.3). */
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('moving projects');

test('does not let an owner of two customers move a project between them', async () => {
  const owner = await fixture.user('mover');
  const client = fixture.as('mover');
  const [victim, own] = [await fixture.customer('Victim'), await fixture.customer('Own')];
  const project = await fixture.project('Taken', victim);
  await fixture.grant(own, owner, 'owner');
  await fixture.grant(victim, owner, 'owner', new Date(fixture.clock.now() / 1000 + 3000).toISOString());
  fixture.events();
  for (const response of [
    await client.patch(project.url, { customer: own.url }),
    await client.put(project.url, { name: 'Taken', customer: own.url }),
  ])
    assert.is(response.status, 403);
  assert.is((await fixture.staff.get(project.url)).body.customer, victim.url);
  assert.equal(fixture.events(), []);
});

test.run();
