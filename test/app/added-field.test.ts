/**
 * By the recipe in src/README.md, a new field needs only a column and a line in `fields`. This test follows it for the tables of
 * every collection that stores bodies, on a server built from the source, to whose declarations a test can add fields. Responses
 * keep the published shape, so the field is write-only, and the test reads the rows.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createServer, type Server } from '../../src/app/create-server.ts';
import { collectionOf } from '../../src/cloud/resources/kind-collection.ts';
import { type Fields, writeOnly } from '../../src/kernel/collection/field.ts';
import { text } from '../../src/kernel/collection/values.ts';
import { raw } from '../../src/kernel/db/sql.ts';
import { catalogue, endpoints } from '../support/catalogue.ts';
import type { Json } from '../support/fixture.ts';
import { publicKeys } from '../support/public-keys.ts';

const test = suite('a field added by the recipe');
let server: Server;

/** The tables of collections, in the order of creation of their objects. */
const tables = [
  ['service-certifications', 'service_certification'],
  ['customers', 'customer'],
  ['projects', 'project'],
  ['users', 'user'],
  ['keys', 'ssh_key'],
  ['customer-permissions', 'customer_role'],
  ['project-permissions', 'project_role'],
  ['service-accounts', 'service_account'],
  ['user-invitations', 'invitation'],
  ['hooks-web', 'hook'],
  ['service-settings', 'service_settings'],
  ['digitalocean', 'service'],
  ['digitalocean-service-project-link', 'service_project_link'],
  ['gitlab-groups', 'resource'],
] as const;

/** The declared fields of a collection. */
function fieldsOf(path: string): Record<string, Fields[string]> {
  const kind = catalogue.kinds.find((typed) => typed.kind.path === path);
  if (kind) return collectionOf(kind).spec.fields;
  const input = endpoints.find((endpoint) => endpoint.path === `/api/${path}/`)?.operations.POST?.input;
  return (input as { readonly fields: Record<string, Fields[string]> }).fields;
}

async function send(method: string, path: string, body: Json): Promise<Json> {
  const response = await fetch(new URL(path, server.url), {
    method,
    headers: { Authorization: `Token ${server.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reply = await response.json();
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(reply)}`);
  return reply;
}

test.before(async () => {
  for (const [path] of tables) fieldsOf(path).motto = writeOnly(text({ max: 50 }));
  server = await createServer({ ephemeral: true, port: 0, log_level: 'silent' });
  for (const table of new Set(tables.map(([, table]) => table))) addColumn(table);
});

test.after(async () => {
  for (const [path] of tables) delete fieldsOf(path).motto;
  await server.close();
});

function addColumn(table: string): void {
  server.app.db.script(`ALTER TABLE ${table} ADD COLUMN motto TEXT NOT NULL DEFAULT ''`);
  // SQLite fixes the columns of a view when the view is created.
  if (table.endsWith('_role'))
    server.app.db.script(`
      DROP VIEW active_${table}; CREATE VIEW active_${table} AS SELECT * FROM ${table} WHERE ended IS NULL`);
}

test('is stored on creation and change in every collection', async () => {
  const created: Record<string, Json> = {};
  const bodies: Record<string, () => Json> = {
    'service-certifications': () => ({ name: 'ISO 27001' }),
    customers: () => ({ name: 'Alice' }),
    projects: () => ({ name: 'Website', customer: created.customers.url }),
    users: () => ({ username: 'carol' }),
    keys: () => ({ public_key: publicKeys.ed25519 }),
    'customer-permissions': () => ({ user: created.users.url, customer: created.customers.url, role: 'owner' }),
    'project-permissions': () => ({ user: created.users.url, project: created.projects.url, role: 'admin' }),
    'service-accounts': () => ({ name: 'Deployment', customer: created.customers.url, role: 'owner' }),
    'user-invitations': () => ({
      link_template: 'https://app.example.com/{uuid}/',
      email: 'dave@example.com',
      project: created.projects.url,
      project_role: 'admin',
    }),
    'hooks-web': () => ({ destination_url: 'https://hooks.test/', event_groups: ['users'] }),
    'service-settings': () => ({ name: 'Cloud', type: 'GitLab', customer: created.customers.url }),
    digitalocean: () => ({ name: 'Droplets', customer: created.customers.url, token: 'token' }),
    'digitalocean-service-project-link': () => ({ project: created.projects.url, service: created.digitalocean.url }),
  };
  const stored = (table: string): unknown =>
    server.app.db.value(raw(`SELECT motto FROM ${table} WHERE motto <> '' ORDER BY id DESC LIMIT 1`));
  for (const [path, table] of tables) {
    const body = bodies[path]?.() ?? (await groupBody(created));
    created[path] = await send('POST', `/api/${path}/`, { ...body, motto: `new ${path}` });
    assert.is(stored(table), `new ${path}`, path);
    const detail = endpoints.find((endpoint) => endpoint.path === `/api/${path}/:key/`);
    if (!detail?.operations.PATCH || path === 'gitlab-groups') continue;
    await send('PATCH', created[path].url, { motto: `changed ${path}` });
    assert.is(stored(table), `changed ${path}`, path);
  }
});

/** A group of a GitLab service that is linked to the project. */
async function groupBody({ customers, projects }: Record<string, Json>): Promise<Json> {
  const { uuid } = await send('POST', '/api/gitlab/', {
    name: 'Code',
    customer: customers.url,
    project: projects.url,
    token: 'token',
  });
  const response = await fetch(`${server.url}/api/gitlab-service-project-link/?service_uuid=${uuid}`, {
    headers: { Authorization: `Token ${server.token}` },
  });
  const [link] = (await response.json()) as Json;
  return { name: 'Alice', path: 'alice', service_project_link: link.url };
}

test.run();
