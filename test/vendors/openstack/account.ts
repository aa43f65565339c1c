import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { OpenStack } from './stand-in.ts';

/** Names that exist on both backends. */
const offers = {
  simulator: { image: 'CirrOS 0.4.0', small: 'm1.small', medium: 'm1.medium' },
  driver: { image: 'cirros', small: 'm1.small', medium: 'm1.medium' },
};

/** A project whose administrator uses an OpenStack. */
export class OpenStackAccount extends VendorAccount<OpenStack> implements FaultyAccount {
  #tenant: Json;

  static open = (options: AccountOptions = {}): Promise<OpenStackAccount> =>
    opened(options, OpenStack.start, (...parts) => new OpenStackAccount('openstack', ...parts));

  get credentials(): Record<string, unknown> {
    return { username: 'admin', password: this.vendor.password };
  }

  override connect(fields: Record<string, unknown> = {}): Promise<void> {
    return super.connect({ external_network_id: 'public-net', ...fields });
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { server, tokens, contents: setup } = this.vendor;
    return {
      secrets: [this.vendor.password, ...tokens.keys()],
      injectFault: (route, fault, times) => server.injectFault(route, fault, times),
      take: () => server.take(),
      machines: () => setup.all('compute/servers').map(({ id }) => id),
      removeMachine: (id) => void setup.remove('compute/servers', id),
      setState: (id, status) => void Object.assign(setup.find('compute/servers', id) ?? {}, { status }),
      replaceCredentials: () => {
        this.vendor.password = 'another-password';
        tokens.clear();
        return { password: 'another-password' };
      },
    };
  }

  orderTenant = (name = 'Lab', fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('openstack-tenants', { service_project_link: this.link.url, name, ...fields });

  /** Returns the tenant of new objects. */
  async tenant(): Promise<Json> {
    this.#tenant ??= await this.created(await this.orderTenant());
    return this.#tenant;
  }

  /** Returns the first of the tenant's objects in a list. */
  async first(list: string, filter = ''): Promise<Json> {
    const { uuid } = await this.tenant();
    return (await this.fixture.staff.get(`/api/openstack-${list}/?tenant_uuid=${uuid}&${filter}`)).body[0];
  }

  orderVolume = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('openstack-volumes', {
      service_project_link: this.link.url,
      tenant: (await this.tenant()).url,
      name,
      size: 1024,
      ...fields,
    });

  flavor = (size: 'small' | 'medium' = 'small'): Promise<string> =>
    this.propertyLink('flavors', offers[this.backend][size]);

  image = (): Promise<string> => this.propertyLink('images', offers[this.backend].image);

  order = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('openstack-instances', {
      service_project_link: this.link.url,
      tenant: (await this.tenant()).url,
      name,
      flavor: await this.flavor(),
      image: await this.image(),
      system_volume_size: 10_240,
      ...fields,
    });

  /** The same with a second volume, in the tenant's subnet, and with a new floating IP. */
  async orderConnected(name: string): Promise<Json> {
    const { url: subnet } = await this.first('subnets');
    const ips = { internal_ips_set: [{ subnet }], floating_ips: [{ subnet }] };
    return this.order(name, { data_volume_size: 1024, ...ips });
  }
}
