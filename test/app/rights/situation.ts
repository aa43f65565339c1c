/** Two customers of the table of rights: one with roles of the callers, and a foreign one. */

import type { ServerOptions } from 'tenantry';
import { newUuid } from '../../../src/kernel/app.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Resolver } from '../../../src/kernel/net/resolver.ts';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';

/** The columns of the table: staff, global support, the four kinds of role, and callers without a role. */
export const columns = ['ST', 'GS', 'CO', 'CS', 'PM', 'PA', 'PS', 'UN', 'IN', 'AN'] as const;

export type Column = (typeof columns)[number];

type OwnKeys = Readonly<Partial<Record<Column, string>>>;

/** One key for all callers, or one per caller. */
type Keys = string | OwnKeys;

export interface Situation {
  readonly fixture: Fixture;
  readonly clients: Readonly<Record<Column, Client>>;
  /** By collection, and by the table's word for the object. */
  readonly keys: Readonly<Record<string, Readonly<Record<string, Keys>>>>;
  /** The customers and projects by the same words, for bodies. */
  readonly customers: Readonly<Record<string, Json>>;
  readonly projects: Readonly<Record<string, Json>>;
}

/** An image of one pixel. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A multipart body with an image. */
export function imageForm(): FormData {
  const form = new FormData();
  form.set('image', new Blob([pixel], { type: 'image/png' }), 'logo.png');
  return form;
}

// No event has this type, so hooks send only tests.
const event_types = ['customer_price_limit_updated'];

/** Hooks by kind, as bodies. */
export const hooks = {
  web: { destination_url: 'https://hooks.test/', event_types },
  push: { type: 'Android', event_types },
  email: { email: 'hooks@example.com', event_types },
} as const;

let keysMade = 0;

/** Generates a public key. */
export function newPublicKey(): string {
  const number = Buffer.alloc(32);
  keysMade += 1;
  number.writeUInt32BE(keysMade);
  const parts = [Buffer.from('ssh-ed25519'), number].flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]);
  return `ssh-ed25519 ${Buffer.concat(parts).toString('base64')}`;
}

/** Creates all objects. A request that deletes one spoils the situation for the next, until `restore`. */
export async function situation(options: ServerOptions = {}): Promise<Situation> {
  // Names do not resolve, so a hook's test delivery waits for its next attempt.
  const resolve: Resolver = (_, callback) => callback(new Error('There is no such host.'), []);
  const fixture = await Fixture.start({ resolve, ...options });
  const company = await createPersonas(fixture);
  const bob = await fixture.customer('Bob');
  const boat = await fixture.project('Boat', bob);
  // Two users who send no requests: one visible to all, and one staff user.
  const guest = await fixture.user('guest');
  const boss = await fixture.user('boss', { is_staff: true });
  const clients = await callers(fixture, company);
  const own = await estate(fixture, company.customer, company.project, guest, boss);
  const foreign = await estate(fixture, bob, boat, guest, boss);
  const globalQuota = (await fixture.staff.get('/api/quotas/?name=nc_global_customer_count')).body[0];
  const invite = async (target: Json): Promise<string> =>
    (
      await fixture.staff.post('/api/user-invitations/', {
        link_template: 'https://app.example.com/{uuid}',
        email: 'guest@example.com',
        ...target,
      })
    ).body.uuid;
  const employ = async (target: Json): Promise<string> =>
    (await fixture.staff.post('/api/service-accounts/', { name: 'Deployment', ...target })).body.uuid;
  const certification = (await fixture.staff.post('/api/service-certifications/', { name: 'ISO 27001' })).body;
  const settings = async (fields: Readonly<Record<string, unknown>>): Promise<string> =>
    (await fixture.staff.post('/api/service-settings/', { name: 'Cloud', type: 'DigitalOcean', ...fields })).body.uuid;
  const first = async (list: string): Promise<Json> => (await fixture.staff.get(`/api/${list}/`)).body[0];
  const created: Situation = {
    fixture,
    clients,
    customers: { own: company.customer, foreign: bob },
    projects: { own: company.project, foreign: boat },
    keys: {
      customers: { own: company.customer.uuid, foreign: bob.uuid },
      projects: { own: company.project.uuid, foreign: boat.uuid },
      'customer-permissions': {
        own: own.permissions.customer,
        foreign: foreign.permissions.customer,
        self: await ownPermissions(fixture, company, 'customer'),
      },
      'project-permissions': {
        own: own.permissions.project,
        foreign: foreign.permissions.project,
        self: await ownPermissions(fixture, company, 'project'),
      },
      'customer-permissions-log': { own: own.past.customer, foreign: foreign.past.customer },
      'project-permissions-log': { own: own.past.project, foreign: foreign.past.project },
      users: {
        self: await forEach(clients, async (client) => (await accountOf(client)).uuid),
        other: guest.uuid,
        staff: boss.uuid,
      },
      keys: { own: await forEach(clients, newKey), foreign: await newKey(fixture.as('guest')) },
      'api-keys': { own: await forEach(clients, newApiKey), foreign: await newApiKey(fixture.as('guest')) },
      'second-factors': {
        own: await forEach(clients, (client) => newFactor(fixture, client)),
        foreign: await newFactor(fixture, await newClient(fixture, 'hermit')),
      },
      sessions: {
        own: await forEach(clients, (client) => newSession(fixture, client)),
        foreign: await newSession(fixture, fixture.as('guest')),
      },
      quotas: {
        customer: company.customer.quotas[0].uuid,
        project: company.project.quotas[0].uuid,
        foreign: boat.quotas[0].uuid,
        global: globalQuota.uuid,
      },
      ...(await hookKeys(clients, fixture.as('guest'))),
      alerts: { own: own.alert, foreign: foreign.alert },
      notifications: {
        own: await forEach(clients, (client) => newNotification(fixture, client)),
        foreign: await newNotification(fixture, fixture.as('guest')),
      },
      backups: { any: '0'.repeat(32) },
      'service-certifications': { any: certification.uuid },
      'service-settings': {
        own: await settings({ customer: company.customer.url }),
        foreign: await settings({ customer: bob.url }),
        shared: await settings({ shared: true }),
      },
      'user-invitations': {
        own: await invite({ project: company.project.url, project_role: 'admin' }),
        customer: await invite({ customer: company.customer.url, customer_role: 'owner' }),
        foreign: await invite({ project: boat.url, project_role: 'admin' }),
      },
      'service-accounts': {
        own: await employ({ project: company.project.url, role: 'admin' }),
        customer: await employ({ customer: company.customer.url, role: 'support' }),
        foreign: await employ({ project: boat.url, role: 'admin' }),
      },
      // Deliveries of hooks and synchronisations of accounts stay pending.
      outbox: { any: (await first('outbox')).uuid },
      jobs: { any: String((await first('jobs')).pk) },
    },
  };
  await fixture.server.snapshot(snapshotName);
  return created;
}

const snapshotName = 'situation';

/** Restores the situation to its original state, in milliseconds. */
export async function restore({ fixture }: Situation): Promise<void> {
  await fixture.server.restore(snapshotName);
  // Makes the fixture forget events that no longer exist.
  fixture.events();
}

/** The clients of the columns. The inactive user has an earlier token and a role. */
async function callers(fixture: Fixture, { clients, customer }: Personas): Promise<Readonly<Record<Column, Client>>> {
  const inactive = await fixture.user('inactive');
  await fixture.grant(customer, inactive, 'owner');
  const IN = fixture.as('inactive');
  await fixture.staff.patch(inactive.url, { is_active: false });
  return {
    ST: clients.staff,
    GS: clients.support,
    CO: clients.owner,
    CS: clients.helper,
    PM: clients.manager,
    PA: clients.admin,
    PS: clients.observer,
    UN: clients.stranger,
    IN,
    AN: fixture.anonymous,
  };
}

/** Creates objects of a customer and its project: roles of the guest, past roles of the boss, an image, an alert. */
async function estate(fixture: Fixture, customer: Json, project: Json, guest: Json, boss: Json) {
  const roles = async (user: Json): Promise<{ customer: Json; project: Json }> => ({
    customer: await fixture.grant(customer, user, 'support'),
    project: await fixture.grant(project, user, 'support'),
  });
  const [permissions, past] = [await roles(guest), await roles(boss)];
  for (const { url } of [past.customer, past.project]) await fixture.staff.delete(url);
  await fixture.staff.put(`${customer.url}image/`, imageForm());
  const alert = (
    await fixture.staff.post('/api/alerts/', {
      scope: customer.url,
      alert_type: 'noise',
      message: 'Loud.',
      severity: 'Info',
    })
  ).body;
  const pks = (records: { customer: Json; project: Json }) => ({
    customer: String(records.customer.pk),
    project: String(records.project.pk),
  });
  return { permissions: pks(permissions), past: pks(past), alert: alert.uuid as string };
}

async function ownPermissions(
  fixture: Fixture,
  { users }: Personas,
  structure: 'customer' | 'project',
): Promise<OwnKeys> {
  const records: readonly Json[] = (await fixture.staff.get(`/api/${structure}-permissions/?page_size=300`)).body;
  const pkOf = (user: Json): string | undefined =>
    records.find(({ user_uuid }) => user_uuid === user.uuid)?.pk?.toString();
  const matches = {
    CO: pkOf(users.owner),
    CS: pkOf(users.helper),
    PM: pkOf(users.manager),
    PA: pkOf(users.admin),
    PS: pkOf(users.observer),
  };
  return Object.fromEntries(Object.entries(matches).filter(([, pk]) => pk !== undefined));
}

const accountOf = async (client: Client): Promise<Json> => (await client.get('/api/users/?current')).body[0];

/** One object for each caller with a usable account. */
const forEach = async (
  clients: Situation['clients'],
  make: (client: Client, column: Column) => Promise<string>,
): Promise<OwnKeys> =>
  Object.fromEntries(
    await Promise.all(
      columns.slice(0, 8).map(async (column) => [column, await make(clients[column], column)] as const),
    ),
  );

const newKey = async (client: Client): Promise<string> =>
  (await client.post('/api/keys/', { public_key: newPublicKey() })).body.uuid;

const newApiKey = async (client: Client): Promise<string> =>
  (await client.post('/api/api-keys/', { name: 'Key', scopes: ['customers:read'] })).body.uuid;
const newClient = async (fixture: Fixture, username: string): Promise<Client> => {
  await fixture.user(username);
  return fixture.as(username);
};

/** An authenticator app of a user, whose session was confirmed before. */
async function newFactor({ server }: Fixture, client: Client): Promise<string> {
  const { uuid } = await accountOf(client);
  const { app } = server;
  const key = newUuid(app);
  app.db.write(() =>
    app.db.insert('second_factor', {
      uuid: key,
      user_id: app.db.value<number>(sql`SELECT id FROM user WHERE uuid = ${uuid}`),
      kind: 'totp',
      name: 'Phone',
      created: app.clock.now(),
      secret: app.secrets.seal('JBSWY3DPEHPK3PXP', key),
      accepted_until: 0,
    }),
  );
  return key;
}

/** Creates a session of a user other than the current one. */
async function newSession(fixture: Fixture, client: Client): Promise<string> {
  fixture.as((await accountOf(client)).username);
  return (await client.get('/api/sessions/')).body.find(({ is_current }: Json) => !is_current).uuid;
}

/** A notification of a user about an alert. */
async function newNotification(fixture: Fixture, client: Client): Promise<string> {
  const { url } = await accountOf(client);
  await fixture.staff.post('/api/alerts/', { scope: url, alert_type: 'a', message: 'Look', severity: 'Info' });
  return (await client.get('/api/notifications/')).body[0].uuid;
}

/** A hook of each kind for each user who may have one, and a test delivery of the webhook. */
async function hookKeys(clients: Situation['clients'], guest: Client): Promise<Situation['keys']> {
  const newHook =
    (kind: keyof typeof hooks) =>
    async (client: Client): Promise<string> =>
      (await client.post(`/api/hooks-${kind}/`, hooks[kind])).body.uuid;
  const [web, push, email] = [newHook('web'), newHook('push'), newHook('email')];
  const own = await forEach(clients, web);
  const foreign = await web(guest);
  const newDelivery = async (client: Client, hook: string): Promise<string> =>
    (await client.post(`/api/hooks-web/${hook}/test/`)).body.uuid;
  return {
    'hooks-web': { own, foreign },
    'hooks-push': { own: await forEach(clients, push), foreign: await push(guest) },
    'hooks-email': { own: await forEach(clients, email), foreign: await email(guest) },
    deliveries: {
      own: await forEach(clients, (client, column) => newDelivery(client, own[column] as string)),
      foreign: await newDelivery(guest, foreign),
    },
  };
}
