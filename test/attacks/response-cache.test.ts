/**
 * The server caches responses until a write or their expiry (src/decisions/caching.md). After a change of a role, a login or an
 * account, it returns the same responses as a server that has just started on the same data.
 */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day } from '../../src/kernel/clock.ts';
import { dropletService } from '../support/droplets.ts';
import { Fixture, type Json } from '../support/fixture.ts';
import { createPersonas, type Personas } from '../support/personas.ts';

const test = suite('response cache');
const fixture = new Fixture();
const base_url = 'https://cloud.example.com';
/** When the clock advances, no synchronisation must run between the requests to the two servers. */
const settings_sync_interval = 365 * day;
let folder: string;
let copies: string;
let setup: Personas;
let droplet: Json;
let paths: readonly string[];

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cached-'));
  copies = mkdtempSync(join(tmpdir(), 'cached-copies-'));
  await fixture.open({ ephemeral: false, data: folder, base_url, settings_sync_interval });
  setup = await createPersonas(fixture);
  const cloud = await dropletService(fixture, setup);
  droplet = await cloud.make();
  const { customer, project, users } = setup;
  paths = [
    ...[customer, project, droplet, cloud.service, users.owner].map(({ url }) => new URL(url).pathname),
    ...['customers', 'projects', 'users', 'resources', 'digitalocean-droplets', 'services', 'service-settings'].map(
      (name) => `/api/${name}/`,
    ),
    ...['events', 'alerts', 'quotas', 'keys', 'customer-permissions', 'project-permissions'].map(
      (name) => `/api/${name}/`,
    ),
    '/api/project-permissions-log/',
    '/api/resources/count/',
    '/api/events/count/',
    '/api/user-counters/',
    '/api/users/?current',
    `${new URL(customer.url).pathname}counters/`,
    `${new URL(project.url).pathname}users/`,
    '/api/events/?page_size=1&page=last',
    '/api/projects/?can_manage',
  ];
});
test.after(async () => {
  await fixture.close();
  for (const gone of [folder, copies]) rmSync(gone, { recursive: true });
});

/** Returns all responses to the owner of this token. `tags` are the ETags of earlier responses. */
async function responsesOf(
  url: string,
  token: string,
  tags: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const responses = new Map<string, string>();
  for (const path of paths) {
    const response = await fetch(url + path, {
      headers: {
        Authorization: `Token ${token}`,
        ...(tags.has(path) && { 'If-None-Match': tags.get(path) as string }),
      },
    });
    const { 'x-request-id': _, date: __, ...headers } = Object.fromEntries(response.headers);
    responses.set(path, `${response.status} ${JSON.stringify(headers)} ${await response.text()}`);
  }
  return responses;
}

/** Returns the responses of a server that has just started on a copy of the data. */
async function freshResponses(token: string, tags: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const copy = mkdtempSync(join(copies, 'copy-'));
  cpSync(join(folder, 'secret.key'), join(copy, 'secret.key'));
  writeFileSync(join(copy, 'tenantry.db'), fixture.server.app.db.serialize());
  const { clock } = fixture;
  const server = await createServer({
    data: copy,
    base_url,
    port: 0,
    log_level: 'silent',
    clock,
    settings_sync_interval,
  });
  const responses = await responsesOf(server.url, token, tags);
  await server.close();
  return responses;
}

const etags = (responses: ReadonlyMap<string, string>): Map<string, string> =>
  new Map(
    [...responses].flatMap(([path, reply]) => {
      const tag = /"etag":("(?:\\.|[^"\\])*")/.exec(reply)?.[1];
      return tag === undefined ? [] : [[path, JSON.parse(tag) as string] as const];
    }),
  );

const permission = async (kind: string, user: Json): Promise<string> =>
  (await fixture.staff.get(`/api/${kind}-permissions/?user=${user.uuid}`)).body[0].url;

/** By name: the affected persona, and the change. */
const changes: Readonly<Record<string, readonly [part: keyof Personas['users'], change: () => Promise<unknown>]>> = {
  nothing: ['manager', async () => undefined],
  'another role besides': ['manager', () => fixture.grant(setup.customer, setup.users.manager, 'support')],
  'one role of two ends': [
    'manager',
    async () => fixture.staff.delete(await permission('customer', setup.users.manager)),
  ],
  'the only role ends': [
    'observer',
    async () => fixture.staff.delete(await permission('project', setup.users.observer)),
  ],
  'a role is given': ['stranger', () => fixture.grant(setup.project, setup.users.stranger, 'admin')],
  'a role is given an end': [
    'helper',
    async () =>
      fixture.staff.patch(await permission('customer', setup.users.helper), {
        expiration_time: '2018-01-05T06:00:00Z',
      }),
  ],
  'that end comes': ['helper', async () => fixture.clock.set('2018-01-05T06:00:00Z')],
  'sight of everything is taken': [
    'support',
    () => fixture.staff.patch(setup.users.support.url, { is_support: false }),
  ],
  'another user changes a name': ['owner', () => fixture.staff.patch(setup.project.url, { name: 'Renamed' })],
  'a resource goes': ['owner', async () => fixture.staff.post(`${droplet.url}unlink/`)],
  'the project goes': ['admin', async () => fixture.staff.delete(setup.project.url)],
  'a logout': ['owner', async () => setup.clients.owner.post('/api-auth/logout/')],
  'the account is switched off': ['manager', () => fixture.staff.patch(setup.users.manager.url, { is_active: false })],
  'the token comes to its end': [
    'admin',
    async () => {
      const { admin } = setup.users;
      await fixture.staff.patch(admin.url, { token_lifetime: 60 });
      await responsesOf(fixture.url, setup.clients.admin.token as string, new Map());
      fixture.clock.advance(61);
    },
  ],
};

for (const [name, [part, change]] of Object.entries(changes)) {
  test(`returns the same as a fresh server: ${name}`, async () => {
    const token = setup.clients[part].token as string;
    // Read twice: the second time, all responses come from the cache.
    await responsesOf(fixture.url, token, new Map());
    const before = await responsesOf(fixture.url, token, new Map());
    await change();
    // The consequences of the change must not occur between the requests to the two servers.
    await fixture.server.settled();
    // Sends the ETags of the earlier responses, as clients do.
    const tags = etags(before);
    const after = await responsesOf(fixture.url, token, tags);
    const fresh = await freshResponses(token, tags);
    for (const path of paths) assert.is(after.get(path), fresh.get(path), path);
    const changed = paths.filter((path) => !after.get(path)?.startsWith('304') && after.get(path) !== before.get(path));
    if (name !== 'nothing') assert.ok(changed.length > 0, 'no response has changed for the reader');
  });
}

test.run();
