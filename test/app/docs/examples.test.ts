/**
 * core.md 3: the examples in the documentation work. Each example body, and each action without a body, is sent to a new server.
 * An example that creates an object creates the one to which other examples refer. The fixture's client compares responses with
 * the document.
 */
import { hash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { openApi } from '../../../src/app/docs/openapi.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { digestOf, digestOfSecret } from '../../../src/kernel/security/digests.ts';
import { catalogue, endpoints } from '../../support/catalogue.ts';
import type { Json } from '../../support/fixture.ts';
import { SamlFixture } from '../../support/saml-fixture.ts';
import { step } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { pixel } from '../rights/situation.ts';

// Names do not resolve, so hooks send nothing to their destinations.
const { test, fixture } = suiteWithServer('examples in the documentation', {
  resolve: (_, callback) => callback(new Error('There is no such host.'), []),
  password_reset_url: 'https://app.example.com/{secret}',
});
const document: Json = openApi(endpoints, catalogue);

/** An operation that writes; deletions have no body. */
interface Request {
  /** `POST /api/customers/`, with the path as in the document. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The example; undefined without a body, or for an upload. */
  readonly body: Json;
  /** The fields of an upload. */
  readonly form: Json;
  readonly statuses: readonly number[];
}

const resolved = (node: Json): Json =>
  node.$ref
    ? node.$ref
        .slice(2)
        .split('/')
        .reduce((matches: Json, name: string) => matches[name], document)
    : node;

const requests: readonly Request[] = Object.entries<Json>(document.paths).flatMap(
  ([path, { delete: _deleted, get: _got, parameters: _, ...methods }]) =>
    Object.entries<Json>(methods).map(([verb, { requestBody, responses }]): Request => {
      const method = verb.toUpperCase();
      const upload = requestBody?.content['multipart/form-data'];
      const json = requestBody?.content['application/json'];
      const statuses = Object.keys(responses)
        .map(Number)
        .filter((status) => status >= 200 && status < 400);
      return {
        name: `${method} ${path}`,
        method,
        path,
        body: json?.examples.example.value,
        form: json ? undefined : upload && resolved(upload.schema).properties,
        statuses,
      };
    }),
);

const exampleLinks = /https:\/\/tenantry\.example\.com\/api\/([a-z0-9-]+)\/[0-9a-f]{32}\//g;
const collectionOf = (path: string): string => path.split('/')[2] as string;

/** Prerequisites of a request besides the objects of its links. */
const further: Readonly<Record<string, readonly string[]>> = {
  'POST /api/jira-webhook-receiver/': ['jira-issues'],
  // Without an account on the simulator there are no objects to import.
  ...Object.fromEntries(
    requests
      .filter(({ path }) => path.endsWith('/{key}/link/'))
      .map(({ name, path }) => [name, [`${collectionOf(path)}-service-project-link`]]),
  ),
};

/** Returns the collections of the objects in a request. */
function collectionsIn({ body, form, name, path }: Request): string[] {
  const linked = [...JSON.stringify([body, form]).matchAll(exampleLinks)].map(([, collection]) => collection as string);
  return [
    ...linked,
    ...(path.includes('{key}') ? [collectionOf(path)] : []),
    ...(path.includes('{delivery}') ? ['deliveries'] : []),
    ...(further[name] ?? []),
  ];
}

/** Objects that examples need, by name: when they are created, and for later requests. */
const offers: Readonly<Record<string, readonly [first: string, later: string]>> = {
  'aws-regions': ['US East (N. Virginia)', 'US East (N. Virginia)'],
  'aws-images': ['Amazon Linux 2', 'Amazon Linux 2'],
  'aws-sizes': ['t2.micro', 't2.medium'],
  'digitalocean-sizes': ['s-1vcpu-1gb', 's-2vcpu-4gb'],
  'openstack-flavors': ['m1.small', 'm1.large'],
  'jira-issue-types': ['Task', 'Bug'],
  'oracle-templates': ['Database small', 'Database small'],
};

/** Runtime states that actions require: those outside their declarations, and all others. */
const runtimeStates: Readonly<Record<string, string>> = {
  'openstack-instances restart': 'ACTIVE',
  'openstack-instances change_flavor': 'SHUTOFF',
  'aws-instances resize': 'stopped',
  ...Object.fromEntries(
    catalogue.kinds.flatMap(({ kind }) =>
      kind.actions.flatMap(({ name, runtimeStates: [state] = [] }) =>
        state === undefined ? [] : [[`${kind.path} ${name}`, state]],
      ),
    ),
  ),
};

/** Links of the created objects, by collection. */
const creation = new Map<string, string>();
const pending = new Set(requests);

function change(...statements: readonly ReturnType<typeof sql>[]): void {
  const { db } = fixture.server.app;
  db.write(() => {
    for (const statement of statements) db.run(statement);
  });
  db.commit();
}

/** Returns the link of the object in an example; undefined if there is none yet. */
async function linkOf(collection: string, { name, path }: Request): Promise<string | undefined> {
  if ([...pending].some((request) => request.name === `POST /api/${collection}/` && request.name !== name))
    return undefined;
  const known = creation.get(collection);
  if (known !== undefined) return known;
  const { body, status } = await fixture.staff.get(`/api/${collection}/?page_size=300`);
  if (status !== 200) return undefined;
  const wanted = offers[collection]?.[path.includes('{key}') ? 1 : 0];
  return body.find((object: Json) => wanted === undefined || object.name === wanted)?.url;
}

/** Returns the links of all objects in a request, by collection; undefined if one is missing. */
async function linksOf(request: Request): Promise<ReadonlyMap<string, string> | undefined> {
  const links = new Map<string, string>();
  for (const collection of collectionsIn(request)) {
    const link = await linkOf(collection, request);
    if (link === undefined) return undefined;
    links.set(collection, link);
  }
  return links;
}

const keyOf = (link: string | undefined): string => (link as string).split('/').at(-2) as string;

/** Requests that must run before another request, which would otherwise be rejected. */
const before: Readonly<Record<string, (request: Request, links: ReadonlyMap<string, string>) => unknown>> = {
  'POST /api-auth/password/': async ({ body }) => {
    const user = await fixture.user(body.username);
    await fixture.staff.post(`${user.url}password/`, { password: body.password });
  },
  'POST /api/jira-webhook-receiver/': async () => {
    const [settings] = (await fixture.staff.get('/api/service-settings/?type=jira')).body;
    await fixture.staff.patch(settings.url, { webhook_secret: 'secret-of-the-webhook' });
  },
  'POST /api/hooks-web/{key}/test/': (_, links) =>
    fixture.staff.patch(links.get('hooks-web') as string, { is_active: true }),
  'POST /api/hooks-web/{key}/recover/': (_, links) =>
    fixture.staff.patch(links.get('hooks-web') as string, { is_active: true }),
  'POST /api/hooks-web/{key}/deliveries/{delivery}/redeliver/': () =>
    change(sql`UPDATE delivery SET status = 'delivered'`),
  'POST /api-auth/password/initial/': async ({ body }) => {
    // The link is for another user: a new password revokes the tokens of its user, and the caller's must stay valid.
    const { username } = await fixture.user('first', { is_staff: true });
    change(sql`UPDATE user SET username_folded = 'former' WHERE username_folded = 'admin'`);
    change(sql`UPDATE user SET username_folded = 'admin' WHERE username = ${username}`);
    fixture.server.app.initialLink.store(digestOfSecret(body.secret), null, fixture.clock.now());
  },
  'POST /api-auth/password/reset/': async ({ body }) => {
    const { email } = await fixture.user('forgetful', { email: 'forgetful@example.com' });
    await fixture.anonymous.post('/api-auth/password/forgot/', { email });
    await fixture.server.settled();
    change(sql`UPDATE password_reset SET secret_digest = ${digestOfSecret(body.secret)} WHERE email = ${email}`);
  },
  'POST /api-auth/recover/': async ({ body }) => {
    const { uuid } = await fixture.user('lost');
    change(sql`INSERT INTO recovery_link (user_id, digest, expires)
      SELECT id, ${digestOfSecret(body.secret)}, ${fixture.clock.now() + 60e6} FROM user WHERE uuid = ${uuid}`);
  },
  'POST /api-auth/second-factor/': async ({ body }) => {
    const user = await fixture.user('factored');
    const { app } = fixture.server;
    const id = app.db.scalar<number>(sql`SELECT id FROM user WHERE uuid = ${user.uuid}`);
    change(
      sql`INSERT INTO second_factor (uuid, user_id, kind, name, created) VALUES ('factor', ${id}, 'totp', 'Phone', 0)`,
      sql`INSERT INTO pending_login (digest, user_id, method, network, expires)
        VALUES (${hash('sha256', body.token, 'buffer')}, ${id}, 'password', '127.0.0.1', ${app.clock.now() + 60e6})`,
    );
    const digest = digestOf(app, `recovery code of user ${id}`, body.recovery_code.replace('-', ''));
    change(sql`INSERT INTO recovery_code (user_id, digest) VALUES (${id}, ${digest})`);
  },
  'POST /api-auth/second-factor/options/': async ({ body }) => {
    const user = await fixture.user('waiting');
    const { app } = fixture.server;
    const id = app.db.scalar<number>(sql`SELECT id FROM user WHERE uuid = ${user.uuid}`);
    change(
      sql`INSERT INTO second_factor (uuid, user_id, kind, name, created) VALUES ('waiting', ${id}, 'totp', 'Phone', 0)`,
      sql`INSERT OR REPLACE INTO pending_login (digest, user_id, method, network, expires)
        VALUES (${hash('sha256', body.token, 'buffer')}, ${id}, 'password', '127.0.0.1', ${app.clock.now() + 60e6})`,
    );
  },
  // Make it pending again after any action.
  ...Object.fromEntries(
    ['cancel', 'check', 'send'].map((action) => [
      `POST /api/user-invitations/{key}/${action}/`,
      () => change(sql`UPDATE invitation SET state = 'pending'`),
    ]),
  ),
  // Unlink a tenant without objects of other examples.
  'POST /api/openstack-tenants/{key}/unlink/': async () => {
    for (const path of ['openstack-instances', 'openstack-snapshots', 'openstack-volumes'])
      for (const { url } of (await fixture.staff.get(`/api/${path}/?page_size=100`)).body)
        await fixture.staff.post(`${url}unlink/`);
  },
};

const queries: Readonly<Record<string, string>> = {
  'POST /api/jira-webhook-receiver/': '?secret=secret-of-the-webhook',
};

async function prepare(request: Request, links: ReadonlyMap<string, string>): Promise<void> {
  const [, , collection, , action] = request.path.split('/');
  const state = runtimeStates[`${collection} ${action}`];
  if (state !== undefined)
    change(sql`UPDATE resource SET runtime_state = ${state} WHERE uuid = ${keyOf(links.get(collection as string))}`);
  if (action === 'link') {
    const { backend_id: wanted, resource_type: kind } = request.body;
    // The provider gives one of its importable objects the name in the example.
    change(sql`UPDATE inventory SET backend_id = ${wanted} WHERE kind = ${kind} AND backend_id = (SELECT i.backend_id FROM inventory i
      JOIN service v ON v.settings_id = i.settings_id WHERE i.kind = ${kind} AND v.uuid = ${keyOf(links.get(collection as string))}
      AND i.backend_id NOT IN (SELECT backend_id FROM resource WHERE kind = ${kind}) LIMIT 1)`);
  }
  await before[request.name]?.(request, links);
}

function bodyOf({ body, form }: Request, links: ReadonlyMap<string, string>): unknown {
  const real = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value).replace(exampleLinks, (_, collection: string) => links.get(collection) as string));
  if (!form) return body === undefined ? undefined : real(body);
  const parts = new FormData();
  for (const [name, schema] of Object.entries<Json>(form)) {
    if (schema.contentMediaType) parts.set(name, new Blob([pixel], { type: 'image/png' }), 'logo.png');
    else if (schema.examples) parts.set(name, real(schema.examples)[0]);
  }
  return parts;
}

/** Runs jobs until none is pending. The simulator responds immediately and has objects to import. */
async function settle(): Promise<void> {
  const { db } = fixture.server.app;
  change(
    sql`UPDATE service_settings SET options = json_patch(options, '{"simulator_latency":"0","simulator_inventory":1,"external_network_id":"public"}')`,
    // A project with required certifications accepts no resources of accounts that lack them.
    sql`DELETE FROM project_certification`,
  );
  for (let i = 0; i < 40; i++) {
    const busy = ['service_settings', 'resource', 'jira_issue', 'jira_comment', 'jira_attachment'].some(
      (table) => db.value(sql`SELECT 1 FROM ${raw(table)} WHERE state NOT IN ('OK', 'In Sync', 'Erred')`) !== undefined,
    );
    if (!busy) return;
    await step(fixture);
  }
  throw new Error('Jobs are still pending.');
}

/** Checks that a successful request left an audit record, unless the document says that its operation has none. */
function requireRecord({ method, name, path }: Request, id: string | null): void {
  const { operationId, 'x-audit': audit } = document.paths[path][method.toLowerCase()];
  const recorded = fixture.server.app.db.values<string>(
    sql`SELECT operation FROM audit_record WHERE record ->> 'request_id' = ${id} AND outcome = 'done'`,
  );
  // An example may repeat the current values of its object. POST updates an existing alert.
  if ((/^PUT|^PATCH/.test(method) || /\/alerts\//.test(path)) && recorded.length === 0) return;
  assert.equal(recorded, audit === 'none' ? [] : [operationId], name);
}

async function send(request: Request, links: ReadonlyMap<string, string>): Promise<void> {
  const { method, name, path, statuses } = request;
  await prepare(request, links);
  const url = path
    .replace('{key}', () => keyOf(links.get(collectionOf(path))))
    .replace('{delivery}', () => keyOf(links.get('deliveries')));
  const body = bodyOf(request, links);
  // Use a new token for each request: one of them ends its session.
  const response = await fixture.as('admin').send(method, url + (queries[name] ?? ''), body);
  assert.ok(
    statuses.includes(response.status),
    `${name} ${JSON.stringify(body)}: ${response.status} ${JSON.stringify(response.body)}`,
  );
  requireRecord(request, response.headers.get('x-request-id'));
  const created = response.headers.get('location');
  if (response.status === 201 && created) creation.set(collectionOf(new URL(created).pathname), created);
  if (path.endsWith('/test/')) creation.set('deliveries', `/api/deliveries/${response.body.uuid}/`);
  await settle();
}

type Ready = readonly [request: Request, links: ReadonlyMap<string, string>];

/** Returns the first request, in the order of the document, whose objects exist. */
async function next(chosen: readonly Request[]): Promise<Ready | undefined> {
  for (const request of chosen.filter((one) => pending.has(one))) {
    const links = await linksOf(request);
    if (links) return [request, links];
  }
  return undefined;
}

/** Sends requests until none is possible. */
async function follow(chosen: readonly Request[]): Promise<void> {
  for (let ready = await next(chosen); ready; ready = await next(chosen)) {
    await send(...ready);
    pending.delete(ready[0]);
  }
}

const isLast = ({ path }: Request): boolean => path.endsWith('/unlink/');

/**
 * Objects that exist only for a moment, on disk, or for another user. Second factors require a fresh code or challenge, and then
 * confirmed sessions.
 */
const isPassing = ({ path }: Request): boolean =>
  /^\/api\/(backups|jobs|notifications|outbox|second-factors)\/|\/(reset_second_factors|impersonate|confirm\/options)\/$|^\/api-auth\/passkey\//.test(
    path,
  );

/** Single sign-on, which needs a separate server. */
const isSaml = ({ path }: Request): boolean => path.startsWith('/api-auth/saml2/');
/** Needs a token from a provider: test/attacks/openid-logout.test.ts. */
const isOidc = ({ path }: Request): boolean => path.startsWith('/api-auth/oidc/');
/** Whether this server serves the path. */
const isServed = (request: Request): boolean => !isSaml(request) && !isOidc(request);

test('returns what the documentation says for every example of a request', async () => {
  await follow(requests.filter((request) => !isLast(request) && isServed(request) && !isPassing(request)));
  // Parts are deleted before their parents.
  await follow(requests.filter(isLast).reverse());
  assert.equal(
    [...pending].filter((request) => isServed(request) && !isPassing(request)).map(({ name }) => name),
    [],
    'requests for objects that no example creates',
  );
  const { db } = fixture.server.app;
  assert.equal(
    db.values(
      sql`SELECT error_message FROM resource WHERE state = 'Erred' UNION ALL SELECT error_message FROM service_settings WHERE state = 'Erred'`,
    ),
    [],
  );
});

test('redirects requests of single sign-on where it is enabled', async () => {
  const single = await SamlFixture.start();
  try {
    const samlRequests = requests.filter(isSaml);
    assert.equal(
      samlRequests.map(({ name }) => name),
      ['POST /api-auth/saml2/login/', 'POST /api-auth/saml2/login/complete/', 'POST /api-auth/saml2/logout/complete/'],
    );
    for (const { body, method, name, path, statuses } of samlRequests) {
      const response = await single.fixture.anonymous.send(method, path, body);
      assert.ok(
        statuses.includes(response.status),
        `${name} ${JSON.stringify(body)}: ${response.status} ${JSON.stringify(response.body)}`,
      );
    }
  } finally {
    await single.close();
  }
});

test.run();
