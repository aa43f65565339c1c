/** core.md 1.8: pagination. */
import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: pages, fixture } = suiteWithServer('pagination');

pages.before(async () => {
  for (let i = 1; i <= 25; i++) await fixture.customer(`Customer ${String(i).padStart(2, '0')}`);
});

const list = (query: string) => fixture.staff.get(`/api/customers/${query}`);
const names = ({ body }: { body: Json }): string[] => body.map(({ name }: Json) => Number(name.split(' ')[1]));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** Parses a Link header into pairs `[rel, rest after the path]`. */
const links = (headers: Headers): [string, string][] =>
  (headers.get('link') ?? '').split(', ').map((link) => {
    const [, url = '', rel = ''] = /^<([^>]*)>; rel="(\w+)"$/.exec(link) ?? assert.unreachable(link) ?? [];
    assert.ok(url.startsWith(`${fixture.url}/api/customers/`), url);
    return [rel, url.slice(`${fixture.url}/api/customers/`.length)];
  });

pages('a page has 10 objects by default, in a plain array, with the number of objects on all pages', async () => {
  const first = await list('');
  assert.equal([first.status, names(first), first.headers.get('x-result-count')], [200, range(1, 10), '25']);
  assert.equal(names(await list('?page=1')), range(1, 10));
  assert.equal(names(await list('?page=2')), range(11, 20));
  assert.equal(names(await list('?page=3')), range(21, 25));
  assert.equal(names(await list('?page=last')), range(21, 25));
});

pages('counts the objects after the filters', async () => {
  const filtered = await list('?name=Customer 1&page_size=3');
  assert.equal([names(filtered), filtered.headers.get('x-result-count')], [range(10, 12), '10']);
});

pages('page 1 of an empty list is 200 []', async () => {
  for (const page of ['1', 'last']) {
    const empty = await list(`?name=nothing&page=${page}`);
    assert.equal([empty.status, empty.body, empty.headers.get('x-result-count')], [200, [], '0']);
    assert.equal(links(empty.headers), [
      ['first', '?name=nothing'],
      ['last', '?name=nothing'],
    ]);
  }
  assert.is((await list('?name=nothing&page=2')).status, 404);
});

pages('beyond the last page, 0, negative and not a number are 404', async () => {
  const wrong = [
    '4',
    '0',
    '-1',
    '1e9',
    '1000000000',
    '999999999999999',
    '9999999999999999999999',
    'NaN',
    'Infinity',
    'two',
    '1.0',
    '1,2',
    '0x1',
    'LAST',
    '%D9%A1',
    '%EF%BC%91',
    '%2B1',
    '%201',
    '1%00',
  ];
  for (const page of wrong) {
    const response = await list(`?page=${page}`);
    assert.equal([page, response.status, response.body], [page, 404, { detail: 'Invalid page.' }]);
  }
});

pages('an empty page parameter counts as missing, and the last of several wins', async () => {
  assert.equal(names(await list('?page=')), range(1, 10));
  assert.equal(names(await list('?page=9&page=2')), range(11, 20));
});

pages('page_size is at most 300; a value that is not an integer or below 1 counts as 10', async () => {
  assert.equal(names(await list('?page_size=4')), range(1, 4));
  for (const size of ['300', '301', '1000000000', '9'.repeat(40)])
    assert.equal(names(await list(`?page_size=${size}`)), range(1, 25), size);
  for (const size of ['0', '-1', '-0', 'NaN', '1e1', '2.5', 'ten', '', '%D9%A1', '0x5', 'null'])
    assert.equal(names(await list(`?page_size=${size}`)), range(1, 10), size);
});

pages('limits a page to 300 objects', async () => {
  for (let i = 26; i <= 302; i++) await fixture.customer(`Customer ${i}`, { abbreviation: 'more' });
  const clamped = await list('?page_size=1000');
  assert.equal([clamped.body.length, clamped.headers.get('x-result-count')], [300, '302']);
  assert.equal(links(clamped.headers), [
    ['first', '?page_size=1000'],
    ['next', '?page=2&page_size=1000'],
    ['last', '?page=2&page_size=1000'],
  ]);
  for (const { url } of (await list('?abbreviation=more&page_size=300')).body) await fixture.staff.delete(url);
});

pages('Link has first, prev, next and last, in this order, prev and next only if they exist', async () => {
  assert.equal(links((await list('')).headers), [
    ['first', ''],
    ['next', '?page=2'],
    ['last', '?page=3'],
  ]);
  assert.equal(links((await list('?page=2')).headers), [
    ['first', ''],
    ['prev', ''],
    ['next', '?page=3'],
    ['last', '?page=3'],
  ]);
  assert.equal(links((await list('?page=last')).headers), [
    ['first', ''],
    ['prev', '?page=2'],
    ['last', '?page=3'],
  ]);
  assert.equal(links((await list('?page_size=300')).headers), [
    ['first', '?page_size=300'],
    ['last', '?page_size=300'],
  ]);
});

pages('links keep the other parameters, sorted by name; links to page 1 omit page', async () => {
  const { headers } = await list('?page=2&unknown=%3E%22%0D%0A&page_size=2&field=name&field=url&a=1&name=Customer 1');
  const stored = (page: string) => `?a=1&field=name&field=url&name=Customer+1${page}&page_size=2&unknown=%3E%22%0D%0A`;
  assert.equal(links(headers), [
    ['first', stored('')],
    ['prev', stored('')],
    ['next', stored('&page=3')],
    ['last', stored('&page=5')],
  ]);
});

pages('following next from the first page visits every object once', async () => {
  const met: string[] = [];
  for (let url: string | undefined = `${fixture.url}/api/customers/?page_size=7`; url; ) {
    const page = await fixture.staff.get(url);
    met.push(...names(page));
    url = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  assert.equal(met, range(1, 25));
});

pages('HEAD also has X-Result-Count and Link', async () => {
  const head = await fixture.staff.send('HEAD', '/api/customers/?page=2');
  assert.equal([head.headers.get('x-result-count'), links(head.headers).length], ['25', 4]);
});

pages('every list is paginated, also the users of a customer and of a project', async () => {
  const customer = await fixture.customer('Members');
  const project = await fixture.project('Bridge', customer);
  for (const name of ['ann', 'bob', 'cid']) {
    const user = await fixture.user(name);
    await fixture.grant(customer, user, 'support');
    await fixture.grant(project, user, 'support');
  }
  for (const path of [`${customer.url}users/`, `${project.url}users/`]) {
    const second = await fixture.staff.get(`${path}?page_size=2&page=2`);
    assert.equal([second.body.length, second.headers.get('x-result-count')], [1, '3']);
    assert.is(
      second.headers.get('link'),
      `<${path}?page_size=2>; rel="first", <${path}?page_size=2>; rel="prev", <${path}?page=2&page_size=2>; rel="last"`,
    );
    assert.is((await fixture.staff.get(`${path}?page=3`)).status, 404);
  }
  for (const path of [
    'users',
    'keys',
    'projects',
    'customer-permissions',
    'project-permissions',
    'customer-permissions-log',
    'project-permissions-log',
  ]) {
    assert.type((await fixture.staff.get(`/api/${path}/`)).headers.get('x-result-count'), 'string', path);
  }
});

pages('counters are never paginated', async () => {
  const [customer] = (await list('')).body;
  for (const path of ['/api/user-counters/', `${customer.url}counters/`]) {
    const response = await fixture.staff.get(`${path}?page=77`);
    assert.equal(
      [response.status, response.headers.get('x-result-count'), response.headers.get('link')],
      [200, null, null],
    );
  }
});

pages(
  'quotas, alerts, events, hooks of each kind and their deliveries are lists of pages, too (events.md 1.1)',
  async () => {
    const hook = (
      await fixture.staff.post('/api/hooks-web/', {
        destination_url: 'https://example.com/',
        event_types: ['user_activated'],
        is_active: false,
      })
    ).body;
    for (const path of [
      '/api/quotas/',
      '/api/alerts/',
      '/api/stats/alerts/',
      '/api/events/',
      '/api/hooks/',
      '/api/hooks-web/',
      '/api/hooks-push/',
      '/api/hooks-email/',
      `${hook.url}deliveries/`,
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const { headers, status } = await fixture.staff.send(method, `${path}?page_size=1`);
        assert.equal(
          [
            status,
            /^\d+$/.test(headers.get('x-result-count') ?? ''),
            /rel="first".*rel="last"$/.test(headers.get('link') ?? ''),
          ],
          [200, true, true],
          path,
        );
      }
      const beyond = await fixture.staff.get(`${path}?page=9999`);
      assert.equal([beyond.status, beyond.body], [404, { detail: 'Invalid page.' }], path);
    }
    await fixture.staff.delete(hook.url);
  },
);

pages('histories, counts, groups and statistics are never paginated or truncated (events.md 1.1)', async () => {
  const [customer] = (await list('')).body;
  const points = Array.from({ length: 12 }, (_, i) => `point=${i}`).join('&');
  const paths: [string, number | undefined][] = [
    [`${customer.quotas[0].url}history/?${points}`, 12],
    ['/api/events/count/?', undefined],
    [`/api/events/count_history/?${points}`, 12],
    [`/api/events/count/history/?${points}`, 12],
    ['/api/events/event_groups/?', undefined],
    ['/api/events/scope_types/?', 23],
    ['/api/alerts/alert_groups/?', undefined],
    ['/api/alerts/stats/?', undefined],
    ['/api/stats/creation-time/?type=customer&datapoints=12', 12],
    ['/api/stats/quota/?', undefined],
    ['/api/stats/quota/timeline/?interval=day&from=0&to=1036800', 12],
  ];
  for (const [path, length] of paths) {
    for (const page of ['', '&page=7&page_size=2', '&page=last']) {
      const { body, headers, status } = await fixture.staff.get(path + page);
      assert.equal(
        [status, body.length, headers.get('x-result-count'), headers.get('link')],
        [200, length, null, null],
        path + page,
      );
    }
  }
});

pages.run();
