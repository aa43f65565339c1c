/** core.md 3: /docs/. */

import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as assert from 'uvu/assert';
import { documented as endpoints } from '../../support/catalogue.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: docs, fixture } = suiteWithServer('documentation');
let document: Json;

docs.before(async () => {
  document = (await fixture.anonymous.get('/docs/')).body;
});

const operations = (): [string, string, Json][] =>
  Object.entries<Json>(document.paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries<Json>(methods).map(([method, operation]) => [path, method, operation] as [string, string, Json]),
  );

docs('serves an OpenAPI 3.1 document as application/json at /docs/ without a token', async () => {
  const response = await fixture.anonymous.get('/docs/');
  assert.equal([response.status, response.headers.get('content-type')], [200, 'application/json']);
  assert.match(response.body.openapi, /^3\.1\.\d+$/);
  assert.is(response.body.info.version, (await fixture.anonymous.get('/api/version/')).body.version);
});

docs('serves the same document to every caller', async () => {
  await fixture.user('alice');
  for (const client of [fixture.staff, fixture.as('alice')]) assert.equal((await client.get('/docs/')).body, document);
});

docs('links the response of a creation to every operation on the new object', () => {
  const { links } = document.paths['/api/keys/'].post.responses[201];
  assert.equal(links, {
    getSSHKey: { operationId: 'getSSHKey', parameters: { key: '$response.body#/uuid' } },
    deleteSSHKey: { operationId: 'deleteSSHKey', parameters: { key: '$response.body#/uuid' } },
  });
  const { links: ofPermissions } = document.paths['/api/project-permissions/'].post.responses[201];
  assert.equal(
    [...new Set(Object.values<Json>(ofPermissions).map(({ parameters }) => parameters.key))],
    ['$response.body#/pk'],
  );
  const ids = operations().map(([, , { operationId }]) => operationId);
  for (const [path, method, { responses }] of operations())
    for (const [status, { links: matches = {} }] of Object.entries<Json>(responses)) {
      assert.ok(status === '201' || Object.keys(matches).length === 0, `${method} ${path}`);
      for (const { operationId } of Object.values<Json>(matches)) assert.ok(ids.includes(operationId), operationId);
    }
});

docs('allows null in the schema of nullable fields, links included', () => {
  const { properties } =
    document.components.schemas[
      document.paths['/api/service-settings/'].post.requestBody.content['application/json'].schema.$ref
        .split('/')
        .at(-1)
    ];
  assert.equal(properties.customer.type, ['string', 'null']);
  assert.equal(properties.name.type, 'string');
});

docs('documents both notations of uuids in parameters', async () => {
  const [{ schema }] = document.paths['/api/projects/'].get.parameters.filter(({ name }: Json) => name === 'customer');
  const pattern = new RegExp(schema.pattern);
  const uuid = '0192f3a1-4c5d-7e6f-8a9b-0c1d2e3f4a5b';
  for (const [text, isRead] of [
    [uuid, true],
    [uuid.replaceAll('-', ''), true],
    [uuid.toUpperCase(), true],
    [`${uuid}0`.slice(1), false],
    [`${uuid.replaceAll('-', '')}----`, false],
  ] as const) {
    const { status } = await fixture.staff.get(`/api/projects/?customer=${text}`);
    assert.equal([text, pattern.test(text), status], [text, isRead, isRead ? 200 : 400]);
  }
});

docs('documents parameters that are compared with a number as numbers', async () => {
  const [{ schema }] = document.paths['/api/resources/'].get.parameters.filter(
    ({ name }: Json) => name === 'actual_sla',
  );
  assert.equal(schema, { type: 'number' });
  assert.is((await fixture.staff.get('/api/resources/?actual_sla=99.5')).status, 200);
  assert.is((await fixture.staff.get('/api/resources/?actual_sla=x')).status, 400);
});

docs('marks a parameter as required if requests without it are rejected', async () => {
  const requiredOf = (path: string, method: string): string[] =>
    document.paths[path][method].parameters.filter(({ required }: Json) => required).map(({ name }: Json) => name);
  assert.equal(requiredOf('/api/stats/creation-time/', 'get'), ['type']);
  assert.equal(requiredOf('/api/resource-sla/', 'delete'), ['scope', 'period']);
  assert.equal(requiredOf('/api/monitoring-items/', 'delete'), ['scope', 'name']);
  assert.equal(requiredOf('/api/monitoring-items/', 'get'), []);
  const message = ['This field is required.'];
  assert.equal((await fixture.staff.get('/api/stats/creation-time/')).body, { type: message });
  assert.equal((await fixture.staff.delete('/api/resource-sla/')).body, { scope: message, period: message });
  assert.equal((await fixture.staff.delete('/api/monitoring-items/')).body, { scope: message, name: message });
});

docs('documents a minimum length of 1 for text that may not be blank', async () => {
  const { properties } =
    document.components.schemas[
      document.paths['/api/projects/'].post.requestBody.content['application/json'].schema.$ref.split('/').at(-1)
    ];
  assert.equal([properties.name.minLength, properties.description.minLength], [1, undefined]);
});

docs('documents times with fractions as numbers', async () => {
  const typeOf = (path: string, parameter: string): string =>
    document.paths[path].get.parameters.find(({ name }: Json) => name === parameter).schema.type;
  assert.equal([typeOf('/api/alerts/', 'created_to'), typeOf('/api/events/', 'from')], ['number', 'integer']);
  assert.is((await fixture.staff.get('/api/alerts/?created_to=0.5')).status, 200);
  assert.is((await fixture.staff.get('/api/events/?from=0.5')).status, 400);
});

docs('uses only links to paths of the document in examples of bodies', () => {
  const known = Object.keys(document.paths).map((path) => new RegExp(`^${path.replace('{key}', '[0-9a-f]{32}')}$`));
  const examples = Object.values<Json>(document.components.schemas).flatMap(({ properties = {} }) =>
    Object.values<Json>(properties)
      .filter(({ format }) => format === 'uri-reference')
      .flatMap((property): string[] => property.examples ?? []),
  );
  assert.ok(examples.length > 20, String(examples.length));
  const lost = examples.filter((link) => !known.some((pattern) => pattern.test(new URL(link).pathname)));
  assert.equal([...new Set(lost)], []);
});

docs('prefixes paths with the path of base_url', async () => {
  assert.equal(document.servers, [{ url: '/', description: 'This server.' }]);
  for (const [base_url, path] of [
    ['https://example.com', '/'],
    ['https://example.com/tenantry', '/tenantry'],
  ] as const) {
    const other = await Fixture.start({ base_url });
    assert.is((await other.anonymous.get('/docs/')).body.servers[0].url, path);
    assert.match(
      (await other.anonymous.get('/docs/', { Accept: 'text/html' })).body,
      new RegExp(`"servers":\\[{"url":"${path}"`),
    );
    await other.close();
  }
});

/** Returns a schema or response, or the target of its reference. */
const resolved = (node: Json): Json =>
  node.$ref
    ? node.$ref
        .slice(2)
        .split('/')
        .reduce((matches: Json, name: string) => matches[name], document)
    : node;

docs('has every endpoint with every method', () => {
  const expected = endpoints.flatMap(({ path, operations }) =>
    Object.keys(operations).map((method) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`),
  );
  assert.equal(
    operations()
      .map(([path, method]) => `${method} ${path}`)
      .sort(),
    expected.sort(),
  );
});

docs('gives every operation a unique id, a summary and a success response', () => {
  const ids = operations().map(([path, method, operation]) => {
    assert.type(operation.summary, 'string');
    assert.ok(
      Object.keys(operation.responses).some((status) => /^2|^302$/.test(status)),
      `${method} ${path}`,
    );
    return operation.operationId;
  });
  assert.is(new Set(ids).size, ids.length);
});

docs('gives operations common names that differ in more than case or marks', () => {
  const ids = operations().map(([, , { operationId }]) => operationId as string);
  for (const id of ids) assert.match(id, /^[a-z]+([A-Z][A-Za-z0-9]*)*$/);
  assert.is(new Set(ids.map((id) => id.toLowerCase())).size, ids.length);
  const of = (method: string, path: string): string => document.paths[path][method].operationId;
  assert.equal(
    [
      of('get', '/api/customers/'),
      of('post', '/api/customers/'),
      of('get', '/api/customers/{key}/'),
      of('put', '/api/customers/{key}/'),
      of('patch', '/api/customers/{key}/'),
      of('delete', '/api/customers/{key}/'),
      of('get', '/api/customers/{key}/users/'),
      of('post', '/api/users/{key}/password/'),
      of('get', '/api/service-settings/'),
      of('post', '/api/service-settings/'),
      of('post', '/api/openstack-instances/{key}/change_flavor/'),
      of('get', '/api/hooks-web/{key}/deliveries/'),
      of('get', '/api/events/count_history/'),
      of('get', '/api/events/count/history/'),
      of('post', '/api/events/count/history/'),
      of('post', '/api-auth/password/'),
    ],
    [
      'listCustomers',
      'createCustomer',
      'getCustomer',
      'updateCustomer',
      'patchCustomer',
      'deleteCustomer',
      'listCustomerUsers',
      'setUserPassword',
      'listServiceSettings',
      'createServiceSettings',
      'changeOpenStackInstanceFlavor',
      'listWebHookDeliveries',
      'getEventHistory',
      'getEventCountHistory',
      'postEventCountHistory',
      'passwordLogin',
    ],
  );
});

docs('writes summaries as sentences with the right articles', () => {
  for (const [path, method, { summary }] of operations()) {
    assert.match(summary, /^[A-Z].*\.$/, `${method} ${path}`);
    assert.not.match(
      summary,
      /\b[Aa] ([AEIOaeio]|SSH|SLA)|\b[Aa]n ([b-df-hj-np-tv-z]|user)|\b[Aa]n? [\w ]*settings\b/,
      `${method} ${path}`,
    );
  }
  const summaryOf = (method: string, path: string): string => document.paths[path][method].summary;
  assert.equal(
    [
      summaryOf('post', '/api/openstack-tenants/'),
      summaryOf('post', '/api/keys/'),
      summaryOf('get', '/api/users/'),
      summaryOf('put', '/api/service-settings/{key}/'),
      summaryOf('delete', '/api/aws/{key}/'),
    ],
    [
      'Creates an OpenStack tenant.',
      'Creates an SSH key.',
      'Lists the users that the caller sees.',
      'Updates service settings.',
      'Deletes an Amazon service.',
    ],
  );
});

docs('documents states as enumerations, and applies schemas of map values to named members', () => {
  const schemas = Object.entries<Json>(document.components.schemas);
  for (const [name, { additionalProperties: others, properties = {} }] of schemas) {
    for (const member of ['state', 'service_settings_state', 'hook_type'])
      if (properties[member]) assert.ok(properties[member].enum?.length > 0, `${name}.${member}`);
    if (typeof others !== 'object') continue;
    for (const { type } of Object.values<Json>(properties)) assert.ok([others.type].flat().includes(type), name);
  }
});

docs('declares every key of a path as uuid or integer', () => {
  for (const [path, { parameters = [] }] of Object.entries<Json>(document.paths)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.equal(
      parameters.map(({ name }: Json) => name),
      names,
      path,
    );
    for (const { in: place, required, schema } of parameters) {
      assert.equal([place, required], ['path', true]);
      assert.is(schema.type, /^\/api\/((customer|project)-permissions|jobs)/.test(path) ? 'integer' : 'string', path);
    }
  }
});

docs('resolves every reference', () => {
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
    const matches = (reference as string)
      .replace('#/', '')
      .split('/')
      .reduce((node: Json, name) => node?.[name], document);
    assert.ok(matches, reference);
  }
});

docs('lists accepted and required fields of bodies', () => {
  const schema = resolved(document.paths['/api/customers/'].post.requestBody.content['application/json'].schema);
  assert.equal(schema.required, ['name']);
  assert.is(schema.properties.name.maxLength, 150);
  assert.ok('agreement_number' in schema.properties);
  assert.not.ok('url' in schema.properties);
  assert.not.ok(
    'agreement_number' in
      resolved(document.paths['/api/customers/{key}/'].put.requestBody.content['application/json'].schema).properties,
  );
});

docs('documents who may call each operation, and its rejections with a body', () => {
  for (const [path, method, { description, responses }] of operations()) {
    const what = `${method} ${path}`;
    assert.match(description, /^Who may call it: [A-Z].*\.$/, what);
    for (const [status, rejection] of Object.entries<Json>(responses)) {
      if (/^[23]/.test(status)) continue;
      const { content } = resolved(rejection).content ? resolved(rejection) : { content: undefined };
      assert.ok(content?.['application/json'].examples.example.value, `${what} ${status}`);
    }
  }
});

docs('documents actions that fewer users may call than may change the resource', () => {
  const description = (path: string, method: string): string => document.paths[path][method].description;
  assert.equal(
    [
      description('/api/openstack-tenants/{key}/set_quotas/', 'post'),
      description('/api/openstack-tenants/', 'post'),
      description('/api/openstack-tenants/{key}/', 'delete'),
      description('/api/openstack-tenants/{key}/unlink/', 'post'),
      description('/api/jira-projects/{key}/', 'delete'),
      description('/api/jira-projects/{key}/unlink/', 'post'),
    ],
    [
      'Staff.',
      'Staff; on private settings owners of the customer, managers and administrators of the project.',
      'Staff; owners of the customer; managers and administrators of the project on private settings, on shared ones with the setting manager_can_manage_tenants.',
      'Staff; owners of the customer on private settings.',
      'Staff.',
      'Staff.',
    ].map((words) => `Who may call it: ${words}`),
  );
});

docs('has all parameters of lists: filters, orderings, pages, keys', () => {
  const { parameters } = document.paths['/api/customers/'].get;
  const names = parameters.map((parameter: Json) => resolved(parameter).name);
  for (const name of ['name', 'native_name', 'abbreviation', 'o', 'field', 'page', 'page_size'])
    assert.ok(names.includes(name), name);
  for (const { operations: declared, path } of endpoints) {
    for (const [method, { filters = {}, orderings = [] }] of Object.entries(declared)) {
      const written = (document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()].parameters ?? []).map(
        resolved,
      );
      for (const name of Object.keys(filters))
        assert.ok(
          written.some((parameter: Json) => parameter.name === name && parameter.in === 'query'),
          `${method} ${path} ${name}`,
        );
      const items = written.find(({ name }: Json) => name === 'o')?.schema.items ?? { enum: [] };
      // A star matches any name, so no list is complete.
      const named = orderings.filter((name) => !name.endsWith('*'));
      assert.equal(
        (items.anyOf?.[0] ?? items).enum,
        named.flatMap((name) => [name, `-${name}`]),
        `${method} ${path}`,
      );
      assert.is(items.anyOf !== undefined, named.length < orderings.length, `${method} ${path}`);
    }
  }
});

docs('has a valid example for every JSON body', () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });
  for (const [path, method, { requestBody }] of operations()) {
    const json = requestBody?.content['application/json'];
    if (!json) continue;
    const { $ref } = json.schema;
    const validate = ajv.compile($ref ? { $ref: `document${$ref}` } : json.schema);
    assert.ok(
      validate(json.examples.example.value),
      `${method} ${path}: ${JSON.stringify(json.examples.example.value)} ${ajv.errorsText(validate.errors)}`,
    );
  }
});

docs('requires no token for public endpoints, an optional one for some, and a token or API key for all others', () => {
  assert.equal(document.security, [{ token: [] }]);
  for (const [path, , { security, 'x-scope': scope }] of operations()) {
    const endpoint = endpoints.find((candidate) => candidate.path.replace(/:(\w+)/g, '{$1}') === path);
    const withoutToken = endpoint?.servesWithoutToken ? [{}] : [];
    const scopes = scope === 'none' ? [] : scope.split(' ');
    const keyed = scope === 'closed' ? [] : [{ apiKey: scopes }];
    assert.equal(security, endpoint?.open ? [] : [{ token: [] }, ...keyed, ...withoutToken], path);
  }
});

docs('responds with a page of the same content to an Accept header with text/html', async () => {
  for (const Accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8', 'TEXT/HTML']) {
    const { status, headers, body } = await fixture.anonymous.get('/docs/', { Accept });
    assert.equal([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    // The page embeds the document. No text may close its script element. The viewer cannot show webhooks.
    const { webhooks: _, ...shown } = document;
    assert.ok(body.includes(`const api = ${JSON.stringify(shown).replaceAll('<', '\\u003c')};`));
  }
});

docs('responds with the document to ?format=openapi', async () => {
  const response = await fixture.anonymous.get('/docs/?format=openapi', { Accept: 'text/html' });
  assert.equal([response.headers.get('content-type'), response.body], ['application/json', document]);
});

docs('serves a self-contained page that may run its own two scripts and call this server only', async () => {
  const { body, headers } = await fixture.anonymous.get('/docs/', { Accept: 'text/html' });
  const scripts = [...body.matchAll(/<script>(.*?)<\/script>/gs)].map(
    ([, script]) =>
      `'sha256-${createHash('sha256')
        .update(script as string)
        .digest('base64')}'`,
  );
  const policy = `default-src 'none'; script-src ${scripts.join(' ')}; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  assert.equal([scripts.length, headers.get('content-security-policy')], [2, policy]);
  assert.not.match(body.replace(/<script>.*?<\/script>/gs, ''), /<(script|link|img|iframe|object)\b|@import|url\(/i);
});

docs('documents a body that may be a list as either type in JSON, and as an object in forms', () => {
  const { content } = document.paths['/api/openstack-security-groups/{key}/set_rules/'].post.requestBody;
  const [object, list] = content['application/json'].schema.oneOf.map(resolved);
  assert.equal(object.required, ['rules']);
  assert.equal([list.type, list.items], ['array', object.properties.rules.items]);
  for (const form of ['application/x-www-form-urlencoded', 'multipart/form-data'])
    assert.equal(resolved(content[form].schema), object);
});

docs('sends Vary: Accept', async () => {
  for (const headers of [{}, { Accept: 'text/html' }])
    assert.match((await fixture.anonymous.get('/docs/', headers)).headers.get('vary') as string, /(^|, )Accept(,|$)/);
});

docs.run();
