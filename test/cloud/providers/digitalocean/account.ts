import * as assert from 'uvu/assert';
import type { ServerOptions } from '../../../../src/app/server.ts';
import { DigitalOcean } from '../../../support/digitalocean/stand-in.ts';
import { type Client, Fixture, type Json } from '../../../support/fixture.ts';
import { publicKeys } from '../../../support/public-keys.ts';
import { passage } from '../../../support/simulated.ts';
import type { FaultyAccount } from '../../../vendors/faulty-vendor.ts';
import type { Identity } from '../../../vendors/server.ts';

/** A customer with a project whose administrator works with an account at a stand-in of DigitalOcean. */
export class Account {
  private constructor(
    readonly fixture: Fixture,
    readonly vendor: DigitalOcean,
    readonly customer: Json,
    readonly project: Json,
    /** The project's administrator. */
    readonly alice: Client,
    readonly user: Json,
  ) {}

  /** The service of the account, and its link to the project; there when it is connected. */
  service: Json;
  link: Json;

  /** Starts both servers; the account is connected and synchronised unless told otherwise. */
  static async open(
    options: ServerOptions & { readonly isConnected?: boolean; readonly identity?: Identity } = {},
  ): Promise<Account> {
    const { identity, isConnected = true, ...server } = options;
    const fixture = await Fixture.start({ provider_allowed_networks: ['127.0.0.0/8'], ...server });
    const vendor = await DigitalOcean.start(() => fixture.clock.now() / 1000, identity);
    const customer = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
    const project = await fixture.project('Rocket', customer);
    const user = await fixture.user('alice');
    await fixture.grant(project, user, 'admin');
    const account = new Account(fixture, vendor, customer, project, fixture.as('alice'), user);
    if (isConnected) await account.connect();
    fixture.events();
    vendor.take();
    return account;
  }

  /** The body of a service on the account. */
  body = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
    name: 'DO',
    customer: this.customer.url,
    project: this.project.url,
    backend_url: this.vendor.url,
    token: 'full-access',
    ...fields,
  });

  /** Creates a service on the account of the stand-in. */
  async connect(fields: Record<string, unknown> = {}): Promise<void> {
    const answer = await this.fixture.staff.post('/api/digitalocean/', this.body(fields));
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    this.service = answer.body;
    await this.pass(2);
    this.link = (
      await this.alice.get(`/api/digitalocean-service-project-link/?service_uuid=${this.service.uuid}`)
    ).body[0];
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.vendor.close();
  }

  /** Lets time pass, second by second, with all the work that comes due. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.fixture.clock.advance(1);
      this.fixture.server.tick();
      await this.fixture.server.settled();
    }
  }

  /** Synchronises by letting the period of half an hour pass; answers state and error. */
  async sync(seconds = 2): Promise<readonly [string, string]> {
    this.fixture.clock.advance(30 * 60);
    await this.pass(seconds);
    const { error_message: text, state } = await this.settings();
    return [state, text];
  }

  /** The states a resource passes through until it rests. */
  passage = (url: string): Promise<string[]> => passage(this.fixture, url, 120);

  /** The vendor's side, as the table of faults asks for it. */
  get faulty(): FaultyAccount['faulty'] {
    const { vendor } = this;
    return {
      secret: 'full-access',
      mishap: (route, mishap, times) => vendor.server.mishap(route, mishap, times),
      take: () => vendor.server.take(),
      machines: () => [...vendor.droplets.keys()].map(String),
      vanish: (id) => void vendor.droplets.delete(Number(id)),
      disguise: (id, status) => void Object.assign(vendor.droplets.get(Number(id)) ?? {}, { status }),
      replaceCredentials: () => {
        vendor.tokens.clear();
        vendor.tokens.set('another-token', 'write');
        return { token: 'another-token' };
      },
    };
  }

  /** Settings as staff reads them. */
  settings = async (): Promise<Json> => (await this.fixture.staff.get(this.service.settings)).body;

  /** Links of a region, an image and a size by their names. */
  async choice(
    region = 'New York 3',
    image = 'Debian 9.2 x64',
    size = 's-1vcpu-1gb',
  ): Promise<{ region: string; image: string; size: string }> {
    const url = async (path: string, name: string): Promise<string> =>
      (
        await this.fixture.staff.get(
          `/api/${path}/?settings_uuid=${this.service.settings_uuid}&name_exact=${encodeURIComponent(name)}`,
        )
      ).body[0]?.url;
    return {
      region: await url('digitalocean-regions', region),
      image: await url('digitalocean-images', image),
      size: await url('digitalocean-sizes', size),
    };
  }

  /** Orders a droplet as Alice; answers it as it is then, in state Creation Scheduled. */
  async order(name: string, fields: Record<string, unknown> = {}): Promise<Json> {
    const answer = await this.alice.post('/api/digitalocean-droplets/', {
      name,
      service_project_link: this.link.url,
      ...(await this.choice()),
      ...fields,
    });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  /** A droplet that runs. */
  async running(name: string, fields: Record<string, unknown> = {}): Promise<Json> {
    const { url } = await this.order(name, fields);
    await this.pass(20);
    const droplet = await this.read(url);
    assert.is(droplet.state, 'OK', droplet.error_message);
    this.fixture.events();
    this.vendor.take();
    return droplet;
  }

  /** A droplet that is stopped. */
  async stopped(name: string): Promise<Json> {
    const { url } = await this.running(name);
    await this.alice.post(`${url}stop/`);
    await this.pass(20);
    this.fixture.events();
    this.vendor.take();
    return this.read(url);
  }

  read = async (url: string): Promise<Json> => (await this.alice.get(url)).body;

  /** Uploads a public key of Alice's. */
  async key(name = 'laptop'): Promise<Json> {
    const answer = await this.alice.post('/api/keys/', { name, public_key: publicKeys.ed25519 });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }
}

/** State, runtime state and error of a resource. */
export const stateOf = ({ error_message, runtime_state, state }: Json): unknown[] => [
  state,
  runtime_state,
  error_message,
];
