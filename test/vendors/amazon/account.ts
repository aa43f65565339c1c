import * as assert from 'uvu/assert';
import type { ServerOptions } from '../../../src/app/server.ts';
import { type Client, Fixture, type Json } from '../../support/fixture.ts';
import { publicKeys } from '../../support/public-keys.ts';
import { passage } from '../../support/simulated.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import type { Identity } from '../server.ts';
import { Amazon } from './stand-in.ts';

export type Backend = 'simulator' | 'driver';

/** Region, image and size of machines, by names that both backends know. */
const offers = {
  simulator: { linux: 'Amazon Linux 2', windows: 'Windows Server 2016' },
  driver: {
    linux: 'amzn2-ami-hvm-2.0.20180622.1-x86_64-gp2',
    windows: 'Windows_Server-2016-English-Full-Base-2018.06.13',
  },
};

export interface AccountOptions extends ServerOptions {
  readonly backend?: Backend;
  readonly isConnected?: boolean;
  readonly identity?: Identity;
}

/** A customer with a project whose administrator works with an account at Amazon: at the stand-in, or on the simulator. */
export class AmazonAccount {
  /** The service of the account, and its link to the project; there when it is connected. */
  service: Json;
  link: Json;

  private constructor(
    readonly backend: Backend,
    readonly fixture: Fixture,
    readonly vendor: Amazon,
    readonly customer: Json,
    readonly project: Json,
    /** The project's administrator. */
    readonly alice: Client,
    readonly user: Json,
  ) {}

  /** Starts both servers; the account is connected and synchronised unless told otherwise. */
  static async open(options: AccountOptions = {}): Promise<AmazonAccount> {
    const { backend = 'driver', identity, isConnected = true, ...server } = options;
    const fixture = await Fixture.start({ provider_allowed_networks: ['127.0.0.0/8'], ...server });
    const vendor = await Amazon.start(() => fixture.clock.now() / 1000, identity);
    const customer = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
    const project = await fixture.project('Rocket', customer);
    const user = await fixture.user('alice');
    await fixture.grant(project, user, 'admin');
    const account = new AmazonAccount(backend, fixture, vendor, customer, project, fixture.as('alice'), user);
    if (isConnected) await account.connect();
    fixture.events();
    vendor.take();
    return account;
  }

  /** The credentials that the stand-in knows, or what the simulator needs. */
  get credentials(): Record<string, unknown> {
    const [username, keys] = [...this.vendor.accessKeys][0] ?? [];
    return this.backend === 'simulator'
      ? { simulator_latency: '0', simulator_seed: 1 }
      : { backend_url: this.vendor.url, username, token: keys?.secret };
  }

  /** The body of a service on the account. */
  body = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
    name: 'EC2',
    customer: this.customer.url,
    project: this.project.url,
    ...this.credentials,
    ...fields,
  });

  /** Creates a service on the account. */
  async connect(fields: Record<string, unknown> = {}): Promise<void> {
    const answer = await this.fixture.staff.post('/api/aws/', this.body(fields));
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    this.service = answer.body;
    await this.pass(3);
    this.link = (await this.alice.get(`/api/aws-service-project-link/?service_uuid=${this.service.uuid}`)).body[0];
  }

  /** The vendor's side, as the table of faults asks for it. */
  get faulty(): FaultyAccount['faulty'] {
    const { server, world } = this.vendor;
    const [key = '', keys = { secret: '', mayWrite: true }] = [...this.vendor.accessKeys][0] ?? [];
    return {
      secret: keys.secret,
      mishap: (route, mishap, times) => server.mishap(route, mishap, times),
      take: () => server.take(),
      machines: () => [...world.instances.keys()],
      vanish: (id) => void world.instances.delete(id),
      disguise: (id, state) => void Object.assign(world.instances.get(id) ?? {}, { state, next: undefined }),
      replaceCredentials: () => {
        this.vendor.accessKeys.delete(key);
        this.vendor.accessKeys.set('AKIDSECOND', { ...keys, secret: 'another-secret-key' });
        return { username: 'AKIDSECOND', token: 'another-secret-key' };
      },
    };
  }

  async close(): Promise<void> {
    await this.fixture.close();
    await this.vendor.close();
  }

  /** Lets time pass, second by second, with all the work that comes due. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) await this.fixture.later(1);
  }

  /** The states a resource passes through, as `<state> <runtime state>`, until it rests or is gone. */
  passage = (url: string): Promise<string[]> => passage(this.fixture, url, 120);

  /** Synchronises the account by letting the period of half an hour pass; answers state and error. */
  async sync(seconds = 3): Promise<readonly [string, string]> {
    this.fixture.clock.advance(30 * 60);
    await this.pass(seconds);
    const { error_message: text, state } = await this.settings();
    return [state, text];
  }

  /** Settings as staff reads them. */
  settings = async (): Promise<Json> => (await this.fixture.staff.get(this.service.settings)).body;

  /** The link of what the account offers, by its name. */
  async offer(path: string, name: string, region?: Json): Promise<string> {
    const query = `settings_uuid=${this.service.settings_uuid}&name_exact=${encodeURIComponent(name)}`;
    const found = await this.fixture.staff.get(`/api/${path}/?${query}${region ? `&region=${region.uuid}` : ''}`);
    return found.body[0]?.url;
  }

  region = async (name = 'EU (Ireland)'): Promise<Json> =>
    (await this.fixture.staff.get(await this.offer('aws-regions', name))).body;

  /** Orders an instance as Alice; answers it as it is then, in state Creation Scheduled. */
  async order(
    name: string,
    {
      image = 'linux',
      size = 't2.micro',
      ...fields
    }: { image?: 'linux' | 'windows'; size?: string; [field: string]: unknown } = {},
  ): Promise<Json> {
    const region = await this.region();
    const answer = await this.alice.post('/api/aws-instances/', {
      name,
      service_project_link: this.link.url,
      region: region.url,
      image: await this.offer('aws-images', offers[this.backend][image], region),
      size: await this.offer('aws-sizes', size),
      ...fields,
    });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  /** Orders a volume as Alice. */
  async orderVolume(name: string, fields: Record<string, unknown> = {}): Promise<Json> {
    const answer = await this.alice.post('/api/aws-volumes/', {
      name,
      service_project_link: this.link.url,
      region: (await this.region()).url,
      size: 10_240,
      volume_type: 'gp2',
      ...fields,
    });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  /** What has been ordered, when it is there. */
  async made({ url }: Json): Promise<Json> {
    await this.passage(url);
    const made = await this.read(url);
    assert.is(made.state, 'OK', made.error_message);
    this.fixture.events();
    this.vendor.take();
    return made;
  }

  /** Does something with a resource, which must be accepted; answers what it is when that is done. */
  async act({ url }: Json, action: string, body?: unknown): Promise<Json> {
    const answer = await this.alice.post(`${url}${action}/`, body);
    assert.is(answer.status, 202, JSON.stringify(answer.body));
    await this.passage(url);
    return this.read(url);
  }

  read = async (url: string): Promise<Json> => (await this.fixture.staff.get(url)).body;

  /** Uploads a public key of Alice's. */
  async key(name = 'laptop'): Promise<Json> {
    const answer = await this.alice.post('/api/keys/', { name, public_key: publicKeys.ed25519 });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  /** Of the volumes here the one of this name. */
  volumeNamed = async (name: string): Promise<Json> =>
    (await this.alice.get(`/api/aws-volumes/?name=${encodeURIComponent(name)}`)).body[0];
}
