import type { ServerOptions } from 'tenantry';
import * as assert from 'uvu/assert';
import { type Client, Fixture, type Json } from '../support/fixture.ts';
import { publicKeys } from '../support/public-keys.ts';
import type { FaultyAccount } from './faulty-vendor.ts';
import type { Identity } from './server.ts';
import type { StandIn } from './stand-in.ts';

export type Backend = 'simulator' | 'driver';

export interface AccountOptions extends ServerOptions {
  readonly backend?: Backend;
  readonly isConnected?: boolean;
  readonly identity?: Identity;
}

/** A customer and a project whose administrator uses an account: at a vendor stand-in or on the simulator. */
export interface People {
  readonly fixture: Fixture;
  readonly customer: Json;
  readonly project: Json;
  /** The administrator of the project. */
  readonly alice: Client;
  readonly user: Json;
}

/** Starts a server with these users. The administrator has the address `alice@example.com`. */
export async function people({
  backend: _,
  identity: __,
  isConnected: ___,
  ...server
}: AccountOptions): Promise<People> {
  const fixture = await Fixture.start({ provider_allowed_networks: ['127.0.0.0/8'], ...server });
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
  const project = await fixture.project('Rocket', customer);
  const user = await fixture.user('alice', { email: 'alice@example.com', full_name: 'Alice Liddell' });
  await fixture.grant(project, user, 'admin');
  return { fixture, customer, project, alice: fixture.as('alice'), user };
}

/** Starts a server and a stand-in. By default, connects and synchronises the account. */
export async function opened<V extends StandIn, A extends VendorAccount<V>>(
  options: AccountOptions,
  start: (now: () => number, identity?: Identity) => Promise<V>,
  make: (vendor: V, backend: Backend, known: People) => A,
): Promise<A> {
  const known = await people(options);
  const vendor = await start(() => known.fixture.clock.now() / 1000, options.identity);
  const account = make(vendor, options.backend ?? 'driver', known);
  if (options.isConnected !== false) await account.connect();
  known.fixture.events();
  vendor.server.take();
  return account;
}

/** The common part of accounts at all vendors. */
export abstract class VendorAccount<V extends StandIn> implements Omit<FaultyAccount, 'faulty' | 'order'> {
  /** The service of the account, and its link to the project. They exist when the account is connected. */
  service: Json;
  link: Json;
  readonly fixture: Fixture;
  readonly customer: Json;
  readonly project: Json;
  readonly alice: Client;
  readonly user: Json;

  protected constructor(
    /** The path segment of its services. */
    readonly prefix: string,
    readonly vendor: V,
    readonly backend: Backend,
    { alice, customer, fixture, project, user }: People,
  ) {
    this.fixture = fixture;
    this.customer = customer;
    this.project = project;
    this.alice = alice;
    this.user = user;
  }

  /** Fields of settings for the stand-in. */
  abstract get credentials(): Record<string, unknown>;

  /** The body that creates a service on the account. */
  body = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
    name: 'Account',
    customer: this.customer.url,
    project: this.project.url,
    ...(this.backend === 'simulator'
      ? { simulator_latency: '0', simulator_seed: 1 }
      : { backend_url: this.vendor.url, ...this.credentials }),
    ...fields,
  });

  /** Creates a service on the account and synchronises it. */
  async connect(fields: Record<string, unknown> = {}): Promise<void> {
    const response = await this.fixture.staff.post(`/api/${this.prefix}/`, this.body(fields));
    assert.is(response.status, 201, JSON.stringify(response.body));
    this.service = response.body;
    await this.advance(3);
    const links = `/api/${this.prefix}-service-project-link/?service_uuid=${this.service.uuid}`;
    this.link = (await this.alice.get(links)).body[0];
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.vendor.close();
  }

  /** Advances time second by second and runs pending work. */
  async advance(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) await this.fixture.advance(1);
  }

  /** Returns the states of a resource, as `<state> <runtime state>`, until its operation ends or it is gone. */
  async collectStates(url: string): Promise<string[]> {
    const states: string[] = [];
    for (let second = 0; second < 180; second++) {
      const { body, status } = await this.fixture.staff.get(url);
      const state = status === 404 ? 'gone' : [body.state, body.runtime_state].filter(Boolean).join(' ');
      if (states.at(-1) !== state) states.push(state);
      if (['OK', 'Erred', undefined].includes(body.state)) break;
      await this.advance(1);
    }
    return states;
  }

  /** Synchronises the account by advancing time by half an hour; returns state and error. */
  async sync(seconds = 3): Promise<readonly [string, string]> {
    this.fixture.clock.advance(30 * 60);
    await this.advance(seconds);
    const { error_message: text, state } = await this.settings();
    return [state, text];
  }

  /** Returns the settings as staff see them. */
  settings = async (): Promise<Json> => (await this.fixture.staff.get(this.service.settings)).body;

  read = async (url: string): Promise<Json> => (await this.fixture.staff.get(url)).body;

  /** Returns the link of an account's property by name. `filter` is a query that distinguishes properties with the same name. */
  async propertyLink(path: string, name: string, filter = ''): Promise<string> {
    const query = `settings_uuid=${this.service.settings_uuid}&name_exact=${encodeURIComponent(name)}&${filter}`;
    return (await this.fixture.staff.get(`/api/${this.prefix}-${path}/?${query}`)).body[0]?.url;
  }

  /** Uploads a public key for Alice. */
  async key(name = 'laptop'): Promise<Json> {
    return this.create('keys', { name, public_key: publicKeys.ed25519 });
  }

  /** Creates a resource as Alice; returns it in state Creation Scheduled. */
  async create(path: string, fields: Record<string, unknown>): Promise<Json> {
    const response = await this.alice.post(`/api/${path}/`, fields);
    assert.is(response.status, 201, JSON.stringify(response.body));
    return response.body;
  }

  /** Returns a created resource when it is ready. */
  async created({ url }: Json): Promise<Json> {
    await this.collectStates(url);
    const created = await this.read(url);
    assert.is(created.state, 'OK', created.error_message);
    this.fixture.events();
    this.vendor.server.take();
    return created;
  }

  /** Runs an action on a resource, which must be accepted; returns the resource afterwards. */
  async act({ url }: Json, action: string, body?: unknown): Promise<Json> {
    const response = await this.alice.post(`${url}${action}/`, body);
    assert.is(response.status, 202, JSON.stringify(response.body));
    await this.collectStates(url);
    return this.read(url);
  }

  /** Deletes a resource as Alice or another user; returns its states. */
  async remove({ url }: Json, by: Client = this.alice): Promise<string[]> {
    assert.is((await by.delete(url)).status, 202);
    return this.collectStates(url);
  }

  /** Returns the routes called since the last call. */
  calls = (): string[] => this.vendor.server.take().map(({ route }) => route);
}
