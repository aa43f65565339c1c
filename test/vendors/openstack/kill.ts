import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { KillTest } from '../kill.ts';
import { until } from '../killable-server.ts';
import { OpenStack } from './stand-in.ts';

const lists = [
  'tenants',
  'instances',
  'volumes',
  'snapshots',
  'networks',
  'subnets',
  'floating-ips',
  'security-groups',
].map((kind) => `openstack-${kind}`);

/** A suite that kills the program in the middle of flows at an OpenStack. */
export class OpenStackKill extends KillTest<OpenStack> {
  /** The link of the account to a project. Available while the suite runs. */
  link: Json;

  constructor(name: string) {
    super(name, OpenStack.start);
    this.test.before(async () => {
      const { password, url } = this.vendor;
      const credentials = { backend_url: url, username: 'admin', password, external_network_id: 'public-net' };
      [this.link] = await this.server.connect('openstack', 1, credentials);
    });
  }

  /** Returns the names of objects at the vendor. */
  namesAtVendor = (list: string): string[] => this.vendor.contents.all(list).map(({ name }) => name);

  /** Returns the first object of a list, such as `volumes`. */
  first = async (list: string, filter = ''): Promise<Json> =>
    (await this.ask('GET', `/api/openstack-${list}/?${filter}`))[0];

  flavor = async (name: string): Promise<string> => (await this.first('flavors', `name_exact=${name}`)).url;

  /** Returns a function that starts an action. */
  act =
    ({ url }: Json, action: string, body?: object) =>
    (): Promise<Json> =>
      this.ask('POST', `${url}${action}/`, body);

  orderTenant = (): Promise<Json> =>
    this.ask('POST', '/api/openstack-tenants/', { service_project_link: this.link.url, name: 'Lab' });

  async createTenant(): Promise<Json> {
    const { url } = await this.orderTenant();
    await this.waitForSuccess();
    return this.ask('GET', url);
  }

  /** Creates an instance with two volumes. */
  async createInstance(tenant: Json, fields: object): Promise<Json> {
    const { url } = await this.orderInstance(tenant, fields);
    await this.waitForSuccess();
    return this.ask('GET', url);
  }

  orderInstance = async (tenant: Json, fields: object): Promise<Json> =>
    this.ask('POST', '/api/openstack-instances/', {
      service_project_link: this.link.url,
      tenant: tenant.url,
      name: 'web',
      flavor: await this.flavor('m1.small'),
      image: (await this.first('images')).url,
      system_volume_size: 10_240,
      data_volume_size: 1024,
      ...fields,
    });

  /** Starts an operation, and kills the program after the vendor has executed each of these calls but not responded. */
  killAtEachCall = async (order: () => Promise<unknown>, ...routes: string[]): Promise<void> => {
    this.resetCalls();
    for (const route of routes) this.vendor.server.injectFault(route, 'no response');
    await order();
    for (const [i, route] of routes.entries()) {
      const times = routes.slice(0, i + 1).filter((one) => one === route).length;
      await until(route, () => this.countCalls(route) >= times);
      await this.kill();
    }
    await this.waitForSuccess();
  };

  /** Waits until all operations have finished. Fails if one has failed. */
  async waitForSuccess(): Promise<void> {
    await this.waitForOperations(...lists);
    const erred = (await this.rows(...lists)).filter(({ state }) => state === 'Erred');
    assert.equal(
      erred.map(({ error_message: text, name }) => `${name}: ${text}`),
      [],
    );
  }

  /** Starts operations, and kills the program after the vendor has executed one call of each but not responded. */
  killDuringCalls = async (orders: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> => {
    this.resetCalls();
    for (const route of Object.keys(orders)) this.vendor.server.injectFault(route, 'no response');
    for (const order of Object.values(orders)) await order();
    await until(Object.keys(orders).join(), () => Object.keys(orders).every((route) => this.countCalls(route) > 0));
    await this.kill();
    await this.waitForSuccess();
  };
}
