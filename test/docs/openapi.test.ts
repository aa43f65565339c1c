/** core.md 3: /docs/. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endpoints } from '../../src/api.ts';
import { Fixture, type Json } from '../support/fixture.ts';

const docs = suite('documentation');
let fixture: Fixture;
let document: Json;

docs.before(async () => {
  fixture = await Fixture.start();
  document = (await fixture.anonymous.get('/docs/')).body;
});
docs.after(() => fixture.close());

const operations = (): [string, string, Json][] =>
  Object.entries<Json>(document.paths).flatMap(([path, { parameters: _, ...methods }]) => Object.entries<Json>(methods).map(([method, operation]) => [path, method, operation] as [string, string, Json]));

docs('GET /docs/ is open and answers an OpenAPI 3.1 document as application/json', async () => {
  const answer = await fixture.anonymous.get('/docs/');
  assert.equal([answer.status, answer.headers.get('content-type')], [200, 'application/json']);
  assert.match(answer.body.openapi, /^3\.1\.\d+$/);
  assert.is(answer.body.info.version, (await fixture.anonymous.get('/api/version/')).body.version);
});

docs('it is the same for every caller', async () => {
  await fixture.user('alice');
  for (const client of [fixture.staff, fixture.as('alice')]) assert.equal((await client.get('/docs/')).body, document);
});

docs('it has every endpoint with every method', () => {
  const expected = endpoints.flatMap(({ path, operations }) => Object.keys(operations).map((method) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`));
  assert.equal(operations().map(([path, method]) => `${method} ${path}`).sort(), expected.sort());
});

docs('every operation has an id of its own, a summary and its success', () => {
  const ids = operations().map(([path, method, operation]) => {
    assert.type(operation.summary, 'string');
    assert.ok(Object.keys(operation.responses).some((status) => status.startsWith('2')), `${method} ${path}`);
    return operation.operationId;
  });
  assert.is(new Set(ids).size, ids.length);
});

docs('every key of a path is declared, as uuid or as integer', () => {
  for (const [path, { parameters = [] }] of Object.entries<Json>(document.paths)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.equal(parameters.map(({ name }: Json) => name), names, path);
    for (const { in: place, required, schema } of parameters) {
      assert.equal([place, required], ['path', true]);
      assert.is(schema.type, /^\/api\/(customer|project)-permissions/.test(path) ? 'integer' : 'string', path);
    }
  }
});

docs('every reference resolves', () => {
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
    const found = (reference as string).replace('#/', '').split('/').reduce((node: Json, name) => node?.[name], document);
    assert.ok(found, reference);
  }
});

docs('bodies name the fields that are accepted and those that are required', () => {
  const schema = document.paths['/api/customers/'].post.requestBody.content['application/json'].schema;
  assert.equal(schema.required, ['name']);
  assert.is(schema.properties.name.maxLength, 150);
  assert.ok('agreement_number' in schema.properties);
  assert.not.ok('url' in schema.properties);
  assert.not.ok('agreement_number' in document.paths['/api/customers/{key}/'].put.requestBody.content['application/json'].schema.properties);
});

docs('open endpoints need no token, all others do', () => {
  assert.equal(document.security, [{ token: [] }]);
  for (const [path, , { security }] of operations()) {
    const endpoint = endpoints.find((candidate) => candidate.path.replace(/:(\w+)/g, '{$1}') === path);
    assert.equal(security, endpoint?.open ? [] : undefined, path);
  }
});

docs('an Accept header that names text/html gets a page of the same content', async () => {
  for (const Accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'TEXT/HTML']) {
    const { status, headers, body } = await fixture.anonymous.get('/docs/', { Accept });
    assert.equal([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    for (const path of Object.keys(document.paths)) assert.ok(body.includes(`<code>${path}</code>`), path);
  }
});

docs('unless ?format=openapi asks for the document', async () => {
  const answer = await fixture.anonymous.get('/docs/?format=openapi', { Accept: 'text/html' });
  assert.equal([answer.headers.get('content-type'), answer.body], ['application/json', document]);
});

docs('the page is self-contained: it loads nothing and runs nothing', async () => {
  const { body, headers } = await fixture.anonymous.get('/docs/', { Accept: 'text/html' });
  assert.not.match(body, /<(script|link|img|iframe|object)\b|@import|url\(/i);
  assert.match(headers.get('content-security-policy') as string, /^default-src 'none'/);
});

docs('caches are told that the answer depends on Accept', async () => {
  for (const headers of [{}, { Accept: 'text/html' }]) assert.match((await fixture.anonymous.get('/docs/', headers)).headers.get('vary') as string, /(^|, )Accept(,|$)/);
});

docs.run();
