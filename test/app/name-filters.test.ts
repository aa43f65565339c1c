/**
 * Lists with a filter by part of a name also have an exact one. Both treat compatible Unicode characters as equal (core.md 1.9).
 */
import * as assert from 'uvu/assert';
import { endpoints } from '../support/catalogue.ts';
import type { Json } from '../support/fixture.ts';
import { publicKeys } from '../support/public-keys.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('filters by name');

const lists = endpoints.flatMap(({ operations: { GET }, path }) =>
  GET?.filters?.name?.help.startsWith('Part of')
    ? [{ path, filters: GET.filters, isList: GET.paginated === true }]
    : [],
);

test('has an exact filter for every partial one', () => {
  assert.ok(lists.length > 40);
  assert.equal(
    lists.filter(({ filters }) => !filters.name_exact).map(({ path }) => path),
    [],
  );
});

/** The names that `name` and `name_exact` search for objects without a name of their own. */
const namesOf = (path: string, item: Json): string[] =>
  path.startsWith('/api/users/')
    ? [item.full_name]
    : path.endsWith('-service-project-link/')
      ? [item.service_name, item.project_name]
      : [item.name];

const { test: sample, fixture: samples } = suiteWithServer('filters by name, in the sample data', { seed: 'demo' });

sample('finds the objects with exactly this name by name_exact in every list', async () => {
  const lackObjects: string[] = [];
  // Statistics share the filters of users but do not show names.
  const named = lists.filter(({ isList, path }) => isList && !path.includes(':') && path !== '/api/users/stats/');
  for (const { path } of named) {
    const namesFound = async (query: string): Promise<string[][]> => {
      const { body, status } = await samples.staff.get(`${path}?page_size=200&${query}`);
      assert.is(status, 200, path);
      return body.map((item: Json) => namesOf(path, item));
    };
    const all = await namesFound('');
    if (all.length === 0) lackObjects.push(path);
    for (const name of new Set(
      all
        .flat()
        .filter((each) => each.length > 1)
        .slice(0, 2),
    )) {
      const [whole, part] = [encodeURIComponent(name), encodeURIComponent(name.slice(0, -1))];
      const matches = await namesFound(`name_exact=${whole}`);
      const what = `${path} ${name}`;
      assert.ok(matches.length > 0 && matches.every((names) => names.includes(name)), what);
      assert.equal(await namesFound(`name=${whole}&name_exact=${whole}`), matches, what);
      assert.ok(
        (await namesFound(`name_exact=${part}`)).every((names) => names.includes(name.slice(0, -1))),
        what,
      );
      assert.ok((await namesFound(`name=${part}`)).length >= matches.length, what);
    }
  }
  // The sample data has none of these.
  assert.equal(lackObjects, [
    '/api-auth/saml2/providers/',
    '/api/api-keys/',
    '/api/service-accounts/',
    '/api/openstack-floating-ips/',
  ]);
});
sample.run();

/** Creates an object with this name in a list. */
const make: Readonly<Record<string, (name: string) => Promise<Json>>> = {
  '/api/customers/': (name) => fixture.customer(name),
  '/api/projects/': async (name) => fixture.project(name, await fixture.customer('Owner')),
  '/api/service-certifications/': (name) => created('/api/service-certifications/', { name }),
  '/api/service-settings/': (name) => created('/api/service-settings/', { name, type: 'GitLab' }),
  '/api/gitlab/': async (name) => created('/api/gitlab/', { name, customer: (await fixture.customer('Owner')).url }),
  '/api/keys/': (name) =>
    created('/api/keys/', { name, public_key: /two/.test(name) ? publicKeys.rsa : publicKeys.ed25519 }),
};

async function created(path: string, body: Json): Promise<Json> {
  const { body: creation, status } = await fixture.staff.post(path, body);
  assert.is(status, 201, JSON.stringify(creation));
  return creation;
}

const matches = async (path: string, query: string): Promise<string[]> =>
  (await fixture.staff.get(`${path}?${query}`)).body.map(({ name }: Json) => name);

for (const [path, makeOne] of Object.entries(make))
  test(`${path}: finds the equal name by name_exact`, async () => {
    await makeOne('Website');
    await makeOne('Website two');
    assert.equal(await matches(path, 'name_exact=Website'), ['Website']);
    assert.equal(await matches(path, 'name=website&name_exact=Website'), ['Website']);
    assert.equal(await matches(path, 'name=two&name_exact=Website'), []);
    assert.equal(await matches(path, 'name_exact=website'), []);
    assert.is((await matches(path, 'name=website')).length, 2);
  });

test('finds a part in compatible characters, also for plain ASCII', async () => {
  const names = ['ﬁnance', 'Ｆｉｎａｎｃｅ', '\u212aelvin', 'ﬀort', 'STRASSE', 'Tallinn\u00a0Port'];
  for (const name of names) await fixture.customer(name);
  for (const [part, expected] of [
    ['finance', ['ﬁnance', 'Ｆｉｎａｎｃｅ']],
    ['ﬁnance', ['ﬁnance', 'Ｆｉｎａｎｃｅ']],
    ['KELVIN', ['\u212aelvin']],
    ['ffo', ['ﬀort']],
    ['n port', ['Tallinn\u00a0Port']],
    ['strasse', ['STRASSE']],
    ['％', []],
    ['f_nance', []],
  ] as const)
    assert.equal(
      (await matches('/api/customers/', `name=${encodeURIComponent(part)}`)).sort(),
      [...expected].sort(),
      part,
    );
});

test.run();
