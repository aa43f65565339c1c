/** Long lists in queries and bodies, and bodies that are expensive to parse (core.md 1.1 "Lists"). */
import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';
import { sendOverWire } from '../support/wire.ts';

const { test: lists, fixture } = suiteWithServer('long lists');

const repeated = (name: string, count: number, value = 'x') => Array(count).fill(`${name}=${value}`).join('&');
const values = 'Ensure this list has no more than 100 values.';
const elements = 'Ensure this field has no more than 1000 elements.';
const link = '/api/certifications/00000000000000000000000000000000/';

const ask = async (target: string) => {
  const { status, body } = await sendOverWire(
    fixture.url,
    `GET ${target} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Token ${fixture.staff.token}`,
    '',
  );
  return [status, JSON.parse(body)];
};

lists('responds 400 to a parameter with more than a hundred values in every endpoint that reads it', async () => {
  for (const [path, name] of [
    ['/api/alerts/', 'severity'],
    ['/api/alerts/', 'alert_type'],
    ['/api/events/', 'event_type'],
    ['/api/resources/', 'tag'],
    ['/api/resources/', 'rtag'],
    ['/api/resources/', 'resource_type'],
    ['/api/openstack-instances/', 'rtag'],
    ['/api/customers/', 'field'],
    ['/api/customers/', 'name'],
    ['/api/stats/quota/', 'quota_name'],
  ] as const) {
    assert.equal([path, ...(await ask(`${path}?${repeated(name, 1000)}`))], [path, 400, { [name]: [values] }]);
    const [status] = await ask(`${path}?${repeated(name, 100)}`);
    assert.ok(status === 200 || status === 400, path);
    if (!['event_type', 'severity', 'field', 'quota_name'].includes(name)) assert.is(status, 200, path);
  }
});

lists('responds 400 to more than a hundred values separated by commas', async () => {
  for (const path of ['/api/customers/', '/api/events/', '/api/resources/', '/api/openstack-instances/'])
    assert.equal(await ask(`${path}?o=${Array(101).fill('name').join()}`), [400, { o: [values] }]);
  assert.equal(await ask(`/api/users/?potential&potential_organization=${Array(101).fill('x').join()}`), [
    400,
    { potential_organization: [values] },
  ]);
});

lists('responds 400 to more orderings by tags than SQLite can join tables', async () => {
  const tags = (count: number) => Array.from({ length: count }, (_, i) => `tag__${i}`).join();
  assert.is((await ask(`/api/resources/?o=${tags(40)}`))[0], 200);
  assert.equal(await ask(`/api/resources/?o=${tags(80)}`), [
    400,
    { o: ['Ensure this list has no more than 40 values of SLA, monitoring and tags.'] },
  ]);
});

lists('limits a history to a thousand points', async () => {
  assert.is((await ask(`/api/events/count/history/?${repeated('point', 1000, '1')}`))[0], 200);
  assert.equal(await ask(`/api/events/count/history/?${repeated('point', 1001, '1')}`), [400, { point: [elements] }]);
});

lists('limits a list in a body to a thousand items of any type in any format', async () => {
  const { staff } = fixture;
  const customer = await fixture.customer('Ministry');
  const project = await fixture.project('Bridge', customer);
  const links = Array(13_000).fill({ url: link });
  const rejection = [400, { certifications: [elements] }];
  const respond = async (method: string, path: string, body: unknown, type?: string) => {
    const response = await staff.send(method, path, body, type ? { 'Content-Type': type } : {});
    return [response.status, response.body];
  };
  assert.equal(await respond('POST', `${project.url}update_certifications/`, { certifications: links }), rejection);
  assert.equal(
    await respond(
      'POST',
      `${project.url}update_certifications/`,
      new URLSearchParams({ certifications: JSON.stringify(links.slice(0, 1001)) }),
    ),
    rejection,
  );
  const hook = (event_types: unknown) => ({ destination_url: 'http://203.0.113.9/', event_types });
  const names = Array(90_000).fill('x');
  assert.equal(await respond('POST', '/api/hooks-web/', hook(names)), [400, { event_types: [elements] }]);
  assert.equal(
    await respond('POST', '/api/hooks-web/', repeated('event_types', 70_000), 'application/x-www-form-urlencoded'),
    [400, { event_types: [elements] }],
  );
  const form = new FormData();
  for (let i = 0; i < 1001; i++) form.append('event_types', 'x');
  assert.equal(await respond('POST', '/api/hooks-web/', form), [400, { event_types: [elements] }]);
  assert.equal(await respond('POST', '/api/events/count/history/', { event_type: names }), [
    400,
    { event_type: [elements] },
  ]);
});

lists('responds 400 to bodies with too many values', async () => {
  const respond = async (body: string, type: string) => {
    const response = await fixture.staff.send('POST', '/api/customers/', body, { 'Content-Type': type });
    return [response.status, response.body];
  };
  assert.equal(await respond(`{"name":[${Array(300_000).fill('[]').join()}]}`, 'application/json'), [
    400,
    { detail: 'JSON parse error - more than 200000 values' },
  ]);
  const fields = Array.from({ length: 10_001 }, (_, i) => `a${i}=`).join('&');
  assert.equal(await respond(fields, 'application/x-www-form-urlencoded'), [
    400,
    { detail: 'Form parse error - more than 10000 fields' },
  ]);
  const members = Array.from({ length: 20_001 }, (_, i) => `"a${i}":1`).join();
  assert.equal(await respond(`{${members}}`, 'application/json'), [
    400,
    { detail: 'JSON parse error - more than 20000 members of objects' },
  ]);
});

const multipart = (body: string): Promise<ApiResponse<Json>> =>
  fixture.staff.send('POST', '/api/customers/', body, { 'Content-Type': 'multipart/form-data; boundary=b' });
const part = (head: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n\r\n`;
const parts = (count: number, name: (i: number) => string) =>
  `${Array.from({ length: count }, (_, i) => part(`name="${name(i)}"`)).join('')}--b--\r\n`;
const distinct = (i: number) => `a${i}`;

lists('responds 400 to a multipart form with too many parts, with and without a file first', async () => {
  for (const start of ['', part('name="image"; filename="a.png"')]) {
    const { body, status } = await multipart(start + parts(2001, distinct));
    assert.equal(
      [status, body],
      [400, { detail: 'Multipart form parse error - more than 2000 fields or 10 files' }],
      start,
    );
  }
});

lists('does not read the rest of a multipart form that it rejects', async () => {
  for (const [body, response] of [
    [parts(2001, distinct), { detail: 'Multipart form parse error - more than 2000 fields or 10 files' }],
    [parts(1001, () => 'name'), { name: ['Ensure this field has no more than 1000 elements.'] }],
  ] as const)
    assert.equal((await multipart(body.replace('--b--', '--b malformed'))).body, response);
});

lists('rejects an object as the value of a text field', async () => {
  const odd = { toString: 1, valueOf: 1 };
  const { staff } = fixture;
  for (const [path, body] of [
    ['/api/service-settings/', { name: 'x', type: odd }],
    ['/api/customers/', { name: odd, country: odd }],
    ['/api/hooks-web/', { destination_url: odd, event_types: [odd], content_type: odd }],
    ['/api/users/', { username: odd, email: odd, is_staff: odd, token_lifetime: odd }],
    ['/api-auth/password/', { username: odd, password: odd }],
    ['/api/alerts/', { scope: odd, alert_type: odd, severity: odd, message: odd }],
  ] as const) {
    const response = await staff.post(path, body);
    assert.ok(
      response.status === 400 || response.status === 401,
      `${path} ${response.status} ${JSON.stringify(response.body)}`,
    );
  }
});

lists.run();
