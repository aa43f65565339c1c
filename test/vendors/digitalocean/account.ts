import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { DigitalOcean } from './stand-in.ts';

/** A project whose administrator uses an account at DigitalOcean. */
export class Account extends VendorAccount<DigitalOcean> implements FaultyAccount {
  static open = (options: AccountOptions = {}): Promise<Account> =>
    opened(options, DigitalOcean.start, (...parts) => new Account('digitalocean', ...parts));

  get credentials(): Record<string, unknown> {
    return { token: 'full-access' };
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { vendor } = this;
    return {
      secrets: ['full-access'],
      injectFault: (route, fault, times) => vendor.server.injectFault(route, fault, times),
      take: () => vendor.server.take(),
      machines: () => [...vendor.droplets.keys()].map(String),
      removeMachine: (id) => void vendor.droplets.delete(Number(id)),
      setState: (id, status) => void Object.assign(vendor.droplets.get(Number(id)) ?? {}, { status }),
      replaceCredentials: () => {
        vendor.tokens.clear();
        vendor.tokens.set('another-token', 'write');
        return { token: 'another-token' };
      },
    };
  }

  /** Returns the links of a region, an image and a size by name. */
  async choice(
    region = 'New York 3',
    image = 'Debian 9.2 x64',
    size = 's-1vcpu-1gb',
  ): Promise<{ region: string; image: string; size: string }> {
    return {
      region: await this.propertyLink('regions', region),
      image: await this.propertyLink('images', image),
      size: await this.propertyLink('sizes', size),
    };
  }

  /** Creates a droplet as Alice; returns it in state Creation Scheduled. */
  async order(name: string, fields: Record<string, unknown> = {}): Promise<Json> {
    return this.create('digitalocean-droplets', {
      name,
      service_project_link: this.link.url,
      ...(await this.choice()),
      ...fields,
    });
  }

  /** Returns a running droplet. */
  running = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.created(await this.order(name, fields));

  /** Returns a stopped droplet. */
  async stopped(name: string): Promise<Json> {
    const droplet = await this.act(await this.running(name), 'stop');
    this.fixture.events();
    this.vendor.take();
    return droplet;
  }
}

/** Returns state, runtime state and error of a resource. */
export const stateOf = ({ error_message, runtime_state, state }: Json): unknown[] => [
  state,
  runtime_state,
  error_message,
];
