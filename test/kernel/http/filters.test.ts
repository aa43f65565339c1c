/** core.md 1.9: filters and orderings that all lists share. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: filters, fixture } = suiteWithServer('filters and orderings');
let alpha: Json;
let beta: Json;

filters.before(async () => {
  alpha = await fixture.customer('Alpha Works', { abbreviation: 'AW', native_name: 'Álpha' });
  beta = await fixture.customer('Beta Works', { abbreviation: 'BW', contact_details: '50% off_season \\' });
  await fixture.customer('Gamma', { abbreviation: 'AW' });
  await fixture.user('alice', { organization: 'Org' });
  await fixture.user('bob', { is_active: false });
  await fixture.project('Bridge', alpha);
});

const list = (query: string, path = 'customers') => fixture.staff.get(`/api/${path}/?${query}`);
const names = async (query: string, path = 'customers', key = 'name'): Promise<string[]> => {
  const { status, body } = await list(query, path);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((object: Json) => object[key]);
};

filters('filters are ANDed', async () => {
  assert.equal(await names('name=works&abbreviation=aw'), ['Alpha Works']);
  assert.equal(await names('name=gamma&abbreviation=bw'), []);
});

filters('"partial" is a case-insensitive substring, of any script, without wildcards', async () => {
  assert.equal(await names('name=WORK'), ['Alpha Works', 'Beta Works']);
  assert.equal(await names('native_name=ÁLP'), ['Alpha Works']);
  assert.equal(await names('contact_details=50%25 OFF_'), ['Beta Works']);
  assert.equal(await names('contact_details=5_%25'), []);
  assert.equal(await names('contact_details=%5C'), ['Beta Works']);
  assert.equal(await names("name=' OR 1=1 --"), []);
  assert.equal(await names('name=%00'), []);
});

filters('the last of a repeated single-valued parameter wins', async () => {
  assert.equal(await names('name=alpha&name=beta'), ['Beta Works']);
});

filters('an empty value counts as missing', async () => {
  assert.equal(await names('name=&user_uuid=&o=&page=&page_size='), ['Alpha Works', 'Beta Works', 'Gamma']);
  assert.equal(await names('is_active=&username=ali', 'users', 'username'), ['alice']);
});

filters('ignores unknown parameters on every method and path', async () => {
  const query = 'uuid=nonsense&nothing=1&page=77&o=nothing&%ff=%ff&=&&a[]=1';
  assert.is((await fixture.staff.get(`${alpha.url}?${query}`)).status, 200);
  assert.is((await fixture.staff.patch(`${alpha.url}?${query}`, {})).status, 200);
  assert.is((await fixture.staff.get(`/api/?${query}`)).status, 200);
  assert.is((await fixture.staff.options(`/api/customers/?${query}`)).status, 200);
  assert.is((await list('nothing=1&uuid=nonsense')).status, 200);
});

filters('a malformed value of a typed parameter is 400 under its name', async () => {
  const wrong: [string, string, Json][] = [
    ['customers', 'user_uuid=zz', { user_uuid: ['"zz" is not a valid UUID.'] }],
    ['projects', 'customer=12', { customer: ['"12" is not a valid UUID.'] }],
    ['users', 'is_active=2', { is_active: ['"2" is not a valid boolean.'] }],
    [
      'projects',
      'created=today',
      {
        created: [
          'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
        ],
      },
    ],
    ['customer-permissions', `user_url=${alpha.url}`, { user_url: ['Invalid hyperlink - Incorrect URL match.'] }],
    ['customer-permissions', 'customer_url=/nothing/', { customer_url: ['Invalid hyperlink - No URL match.'] }],
  ];
  for (const [path, query, body] of wrong) {
    const response = await list(query, path);
    assert.equal([query, response.status, response.body], [query, 400, body]);
  }
});

filters('a well-formed value that nothing matches is 200 []', async () => {
  const none = '0'.repeat(32);
  for (const [path, query] of [
    ['customers', `user_uuid=${none}`],
    ['projects', `customer=${none}`],
    ['projects', 'created=2018-01-05T04:47:05Z'],
    ['customer-permissions', 'role=emperor'],
    ['customer-permissions', `user_url=/api/users/${none}/`],
    ['customer-permissions', `customer_url=${alpha.url}`],
  ] as const)
    assert.equal([query, await names(query, path)], [query, []]);
});

filters('booleans have the spellings of bodies, so true and True alike', async () => {
  for (const word of ['false', 'False', 'FALSE', '0', 'no', 'Off', 'f', 'N'])
    assert.equal([word, await names(`is_active=${word}`, 'users', 'username')], [word, ['bob']]);
  for (const word of ['true', 'True', '1', 'YES', 'on', 'T'])
    assert.equal([word, await names(`is_active=${word}`, 'users', 'username')], [word, ['admin', 'alice']]);
});

filters('any value, also an empty one, sets a presence flag, except an explicit false', async () => {
  for (const query of ['current', 'current=', 'current=1', 'current=whatever', 'current=False&current=x'])
    assert.equal([query, await names(query, 'users', 'username')], [query, ['admin']]);
  for (const query of ['current=false', 'current=False', 'current=0', 'current=no', 'current=x&current=off'])
    assert.is((await names(query, 'users', 'username')).length, 3, query);
  assert.equal(await names('organization_claimed', 'users', 'username'), ['alice']);
});

filters('o is a comma list, - means descending, and it replaces the default order', async () => {
  assert.equal(await names('o=-name'), ['Gamma', 'Beta Works', 'Alpha Works']);
  assert.equal(await names('o=abbreviation,-name'), ['Gamma', 'Alpha Works', 'Beta Works']);
  assert.equal(await names('o=-abbreviation,name'), ['Beta Works', 'Alpha Works', 'Gamma']);
  assert.equal(await names('o=-name&o=name'), ['Alpha Works', 'Beta Works', 'Gamma']);
});

filters('an unknown name in o is 400', async () => {
  for (const [o, name] of [
    ['nothing', 'nothing'],
    ['-nothing', 'nothing'],
    ['name,uuid', 'uuid'],
    ['--name', '-name'],
    ['Name', 'Name'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['name;DROP', 'name;DROP'],
  ]) {
    const response = await list(`o=${o}`);
    assert.equal([response.status, response.body], [400, { o: [`"${name}" is not a valid choice.`] }]);
  }
});

filters('the internal id completes every ordering', async () => {
  for (let i = 0; i < 5; i++) await fixture.customer('Same', { registration_code: String(i) });
  const codes = (query: string) => names(`${query}&name=Same`, 'customers', 'registration_code');
  assert.equal(await codes('o=name'), ['0', '1', '2', '3', '4']);
  assert.equal(await codes('o=name&page_size=2&page=2'), ['2', '3']);
  assert.equal((await codes('o=-name')).sort(), ['0', '1', '2', '3', '4']);
});

filters('a list without declared orderings ignores o', async () => {
  const path = `/api/customers/${beta.uuid}/users/`;
  assert.is((await fixture.staff.get(`${path}?o=concatenated_name`)).status, 200);
  assert.is((await fixture.staff.get('/api/user-counters/?o=nothing')).status, 200);
});

filters('field= and fields= select the keys of customers and projects, in their normal order', async () => {
  for (const query of [
    'field=name&field=url',
    'fields=name&fields=url',
    'field=name&fields=url&field=nothing&field=name',
  ]) {
    assert.equal((await fixture.staff.get(`${alpha.url}?${query}`)).body, { url: alpha.url, name: 'Alpha Works' });
    assert.equal((await list(`${query}&name=alpha`)).body, [{ url: alpha.url, name: 'Alpha Works' }]);
  }
  assert.equal((await list('field=customer_name&field=name', 'projects')).body, [
    { name: 'Bridge', customer_name: 'Alpha Works' },
  ]);
});

filters('without a known name they return the whole representation', async () => {
  const whole = (await fixture.staff.get(alpha.url)).body;
  for (const query of ['field=nothing', 'field=', 'fields=__proto__'])
    assert.equal((await fixture.staff.get(`${alpha.url}?${query}`)).body, whole);
});

filters(
  'all that is wrong with the parameters is reported at once; about several of them together only when each is right',
  async () => {
    const wrong = {
      'users/?customer_uuid=x&is_active=x&o=x': {
        customer_uuid: ['"x" is not a valid UUID.'],
        is_active: ['"x" is not a valid boolean.'],
        o: ['"x" is not a valid choice.'],
      },
      'alerts/?from=x&to=y&aggregate=z&uuid=z': {
        from: ['Value "x" should be valid UNIX timestamp.'],
        to: ['Value "y" should be valid UNIX timestamp.'],
        aggregate: ['"z" is not a valid choice.'],
        uuid: ['"z" is not a valid UUID.'],
      },
      'alerts/?from=5&to=5&acknowledged=x': { acknowledged: ['"x" is not a valid boolean.'] },
      'alerts/?from=5&to=5': { non_field_errors: ['End must occur after start.'] },
      'events/count_history/?point=x&from=x': {
        point: ['Value "x" should be valid UNIX timestamp.'],
        from: ['Value "x" should be valid UNIX timestamp.'],
      },
      'hooks/?author_uuid=x&is_active=x': {
        author_uuid: ['"x" is not a valid UUID.'],
        is_active: ['"x" is not a valid boolean.'],
      },
      'stats/quota/?aggregate=x&uuid=x': {
        aggregate: ['"x" is not a valid choice.'],
        uuid: ['"x" is not a valid UUID.'],
      },
      'stats/quota/timeline/?interval=x&from=x&uuid=x': {
        interval: ['"x" is not a valid choice.'],
        from: ['Value "x" should be valid UNIX timestamp.'],
        uuid: ['"x" is not a valid UUID.'],
      },
    };
    for (const [path, body] of Object.entries(wrong)) {
      const response = await fixture.staff.get(`/api/${path}`);
      assert.equal([response.status, response.body], [400, body], path);
    }
  },
);

filters('field= selects on every list, and does not affect responses to writes', async () => {
  assert.equal(Object.keys((await list('field=username&current', 'users')).body[0]), ['username']);
  const changed = await fixture.staff.patch(`${alpha.url}?field=name`, {});
  assert.ok('uuid' in changed.body);
  const created = await fixture.staff.post('/api/customers/?field=name', { name: 'Delta' });
  assert.ok('uuid' in created.body);
});

filters.run();
