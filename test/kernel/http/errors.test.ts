/** core.md 1.3: statuses and error bodies. */
import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: errors, fixture } = suiteWithServer('statuses and error bodies');

const reports = ({ status, body }: ApiResponse<Json>) => [status, body];
const post = (body: string | Uint8Array, type = 'application/json') =>
  fixture.staff.send('POST', '/api/customers/', body, type === '' ? {} : { 'Content-Type': type });

errors('201 returns the whole object and its Location, 200 the whole object, 204 nothing', async () => {
  const created = await fixture.staff.post('/api/customers/', { name: 'Ministry' });
  assert.is(created.status, 201);
  assert.is(created.headers.get('location'), created.body.url);
  assert.equal((await fixture.staff.get(created.body.url)).body, created.body);
  const changed = await fixture.staff.patch(created.body.url, { name: 'Bureau' });
  assert.equal(reports(changed), [200, { ...created.body, name: 'Bureau' }]);
  const deleted = await fixture.staff.delete(created.body.url);
  assert.equal(reports(deleted), [204, undefined]);
  assert.is(deleted.headers.get('content-length'), null);
});

errors('malformed JSON is 400 with the message of the parser', async () => {
  for (const text of ['{', '{"name":}', '{"name":"x"', "{'name':1}", '{"name":NaN}', '{"name":"x"}}', ' ', '\u0000']) {
    const { status, body } = await post(text);
    assert.equal([text, status, Object.keys(body)], [text, 400, ['detail']]);
    assert.match(body.detail, /^JSON parse error - \S/);
  }
});

errors('ignores a byte order mark before JSON', async () => {
  assert.is((await post('\ufeff{"name":"Marked"}')).status, 201);
});

errors('a JSON body that is not an object is 400 and names its type', async () => {
  for (const [text, kind] of [
    ['[]', 'list'],
    ['"x"', 'str'],
    ['1', 'int'],
    ['1.5', 'float'],
    ['true', 'bool'],
  ] as const) {
    assert.equal(reports(await post(text)), [
      400,
      { non_field_errors: [`Invalid data. Expected a dictionary, but got ${kind}.`] },
    ]);
  }
  assert.equal(reports(await post('null')), [400, { non_field_errors: ['No data provided'] }]);
});

errors('401 without credentials', async () => {
  const response = await fixture.anonymous.get('/api/');
  assert.equal(reports(response), [401, { detail: 'Authentication credentials were not provided.' }]);
  assert.is(response.headers.get('www-authenticate'), 'Token');
});

errors('415 names the media type as it was sent', async () => {
  for (const type of [
    'text/plain',
    'Text/Plain; charset=utf-8',
    'application/vnd.api+json',
    'application/json, text/plain',
    'json',
    'multipart/mixed; boundary=x',
  ]) {
    assert.equal(reports(await post('{"name":"x"}', type)), [
      415,
      { detail: `Unsupported media type "${type}" in request.` },
    ]);
  }
  assert.equal(reports(await post(Buffer.from('{}'), '')), [415, { detail: 'Unsupported media type "" in request.' }]);
});

errors('a body in a content coding is 415, which names the codings that are accepted', async () => {
  const send = (coding: string, body: string, path = '/api/customers/', method = 'POST') =>
    fixture.staff.send(method, path, body, { 'Content-Type': 'application/json', 'Content-Encoding': coding });
  for (const coding of ['gzip', 'br', 'x-gzip', 'identity, gzip', 'aes128gcm']) {
    const rejection = await send(coding, '{"name":"Packed"}');
    assert.equal(
      [reports(rejection), rejection.headers.get('accept-encoding')],
      [[415, { detail: `Unsupported content encoding "${coding}" in request.` }], 'identity'],
    );
  }
  const created = await send('Identity', '{"name":"Plain"}');
  assert.is(created.status, 201);
  assert.is((await send('gzip', '')).status, 400, 'an empty body is in no coding');
  assert.is((await send('gzip', 'x', '/api/customers/00000000000000000000000000000000/', 'PUT')).status, 404);
  assert.is((await send('gzip', 'x', created.body.url, 'DELETE')).status, 204, 'a body that is ignored');
});

errors('an invalid multipart body is 400', async () => {
  const bodies = [
    ['multipart/form-data', '--x\r\n'],
    ['multipart/form-data; boundary=', '--x\r\n'],
    [`multipart/form-data; boundary=${'x'.repeat(1000)}`, '--x\r\n'],
    ['multipart/form-data; boundary=x', 'no part at all'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nunfinished'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="name"; filename="a"\r\n\r\nunfinished',
    ],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Dispo'],
  ] as const;
  for (const [type, body] of bodies) {
    const response = await post(body, type);
    assert.equal([type, body, response.status, Object.keys(response.body)], [type, body, 400, ['detail']]);
    assert.match(response.body.detail, /^Multipart form parse error - \S/);
  }
});

errors('form text that is not UTF-8 is 400, in names and values, as in JSON', async () => {
  const urlencoded = 'application/x-www-form-urlencoded';
  for (const body of [
    'name=%FF',
    'name=Caf%E9',
    'name=%C3',
    'name=%ED%A0%80',
    'name=x&%FF=y',
    'name=%C0%AF',
    Buffer.from('name=Caf\xe9', 'latin1'),
  ])
    assert.equal(
      reports(await post(body, urlencoded)),
      [400, { detail: 'Form parse error - invalid UTF-8' }],
      String(body),
    );
  const parts = (head: string, value: string): Buffer =>
    Buffer.from(`--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n--x--\r\n`, 'latin1');
  for (const body of [
    parts('name="name"', 'Caf\xe9'),
    parts('name="n\xffme"', 'x'),
    parts('name="image"; filename="\xff.png"', 'x'),
  ])
    assert.equal(reports(await post(body, 'multipart/form-data; boundary=x')), [
      400,
      { detail: 'Multipart form parse error - invalid UTF-8' },
    ]);
  assert.equal(reports(await post(Buffer.from('{"name":"Caf\xe9"}', 'latin1'))), [
    400,
    { detail: 'JSON parse error - invalid UTF-8' },
  ]);
  for (const [sent, name] of [
    ['%EF%BF%BD', '\ufffd'],
    ['100%+of+%zz', '100% of %zz'],
    ['%F0%9F%A6%8A', '🦊'],
  ])
    assert.is((await post(`&name=${sent}&&`, urlencoded)).body.name, name);
});

errors('keys such as __proto__ are data like any other unknown key', async () => {
  const text =
    '{"name":"Plain","__proto__":{"is_company":true,"polluted":1},"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1}';
  const created = await post(text);
  assert.equal([created.status, created.body.is_company], [201, false]);
  assert.is(({} as Json).polluted, undefined);
  const form = await post(
    'name=Plain&__proto__=x&__proto__=y&constructor=z&toString=1',
    'application/x-www-form-urlencoded',
  );
  assert.is(form.status, 201);
  assert.equal(reports(await post('{"__proto__":{"name":"hidden"}}')), [400, { name: ['This field is required.'] }]);
});

errors('JSON nested deeper than 64 levels is 400', async () => {
  const nested = (depth: number) => `{"name":"Deep","unknown":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  assert.is((await post(nested(60))).status, 201);
  assert.equal(reports(await post(nested(100))), [400, { detail: 'JSON parse error - nested deeper than 64 levels' }]);
  assert.equal(reports(await post(nested(400_000))), [
    400,
    { detail: 'JSON parse error - nested deeper than 64 levels' },
  ]);
});

errors(
  'an internal fault is 500 with the request id and without internals; nothing is written and the process lives',
  async () => {
    const { db } = fixture.server.app;
    const { run } = db;
    db.run = (change) => {
      if (/^\s*INSERT INTO event /.test(change.text)) throw new Error('secret of the inside');
      return run.call(db, change);
    };
    const response = await fixture.staff.post('/api/customers/', { name: 'Half made' });
    db.run = run;
    assert.equal(reports(response), [
      500,
      { detail: 'Internal server error.', request_id: response.headers.get('x-request-id') },
    ]);
    assert.is(response.headers.get('allow'), 'GET, POST, HEAD, OPTIONS');
    assert.equal((await fixture.staff.get('/api/customers/?name=half')).body, []);
    assert.is((await fixture.staff.post('/api/customers/', { name: 'Half made' })).status, 201);
  },
);

errors.run();
