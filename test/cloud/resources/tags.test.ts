import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('tags (services.md 7.5)');
let cloud: Droplets;
let droplet: Json;

test.before(async () => {
  const customer = await fixture.customer('Alice');
  cloud = await dropletService(fixture, { customer, project: await fixture.project('Rocket', customer) });
  droplet = await cloud.make();
});

const write = async (tags: unknown): Promise<unknown[]> => {
  const { body, status } = await fixture.staff.patch(droplet.url, { tags });
  return [status, status === 200 ? body.tags : body];
};

test('accepts tags as a list or as JSON text, and returns them sorted without duplicates', async () => {
  assert.equal(await write(['b', 'a:2', 'a:1', 'b']), [200, ['a:1', 'a:2', 'b']]);
  assert.equal(await write('["z", "y"]'), [200, ['y', 'z']], 'the set is replaced');
  assert.equal(await write([' padded ']), [200, ['padded']]);
  assert.equal(await write([]), [200, []]);
});

test('rejects everything except a list of strings', async () => {
  const type = (name: string): unknown[] => [400, { tags: [`Expected a list of items but got type "${name}".`] }];
  assert.equal(await write({ a: 1 }), type('dict'));
  assert.equal(await write(5), type('int'));
  assert.equal(await write('"x"'), type('str'));
  assert.equal(await write('{"a":1}'), type('dict'));
  assert.equal(await write('a,b'), [
    400,
    { tags: ['Invalid json list. A tag list submitted in string form must be valid json.'] },
  ]);
  assert.equal(await write(['a', 1]), [400, { tags: ['All list items must be of string type.'] }]);
  assert.equal(await write(['a', null]), [400, { tags: ['All list items must be of string type.'] }]);
  assert.equal(await write(['']), [400, { tags: ['This field may not be blank.'] }]);
  assert.equal(await write(['x'.repeat(256)]), [400, { tags: ['Ensure this field has no more than 255 characters.'] }]);
  assert.equal(await write(['x'.repeat(255)]), [200, ['x'.repeat(255)]]);
});

test('a change of only tags is an update with an event; unchanged tags are not', async () => {
  await write(['a']);
  fixture.events();
  await write(['a', 'a']);
  assert.equal(fixture.events(), []);
  await write(['b']);
  assert.equal(
    fixture.events().map(({ message, type }) => [type, message]),
    [['resource_update_succeeded', 'DigitalOcean Droplet web has been updated.']],
  );
});

test('splits a tag at its first colon; without one it has no prefix', async () => {
  const matches = async (query: string): Promise<number> =>
    (await fixture.staff.get(`/api/resources/?${query}`)).body.length;
  await write(['env:prod:eu', 'plain', ':odd']);
  assert.equal(
    [
      await matches('tag__env=prod:eu'),
      await matches('tag__env=prod'),
      await matches('tag__plain='),
      await matches('tag=plain'),
      await matches('tag__=odd'),
    ],
    [1, 0, 1, 1, 1],
  );
  assert.equal(
    [await matches('o=tag__env'), await matches('o=tag__plain')],
    [1, 0],
    'rows without the prefix are left out',
  );
});

test.run();
