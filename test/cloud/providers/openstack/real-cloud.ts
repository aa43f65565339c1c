import * as assert from 'uvu/assert';
import { Fixture, type Json } from '../../../support/fixture.ts';
import { OpenStack } from '../../../support/openstack/stand-in.ts';

/** A project whose account is at a stand-in of OpenStack. */
export class RealAccount {
  private constructor(
    readonly fixture: Fixture,
    readonly vendor: OpenStack,
    readonly service: Json,
    readonly link: Json,
  ) {}

  static async open(): Promise<RealAccount> {
    const fixture = await Fixture.start({ provider_allowed_networks: ['127.0.0.0/8'] });
    const vendor = await OpenStack.start(() => fixture.clock.now() / 1000);
    const customer = await fixture.customer('Alice');
    const project = await fixture.project('Rocket', customer);
    const answer = await fixture.staff.post('/api/openstack/', {
      ...credentials(vendor),
      customer: customer.url,
      project: project.url,
    });
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    const [link] = (await fixture.staff.get(`/api/openstack-service-project-link/?service_uuid=${answer.body.uuid}`))
      .body;
    const account = new RealAccount(fixture, vendor, answer.body, link);
    await account.pass(2);
    vendor.take();
    return account;
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

  settings = async (): Promise<Json> => (await this.fixture.staff.get(this.service.settings)).body;

  /** Orders something; answers it as it is after so many seconds. */
  async made(path: string, body: Readonly<Record<string, unknown>> = {}, seconds = 30): Promise<Json> {
    const answer = await this.fixture.staff.post(path, body);
    assert.is(answer.status, 201, JSON.stringify(answer.body));
    await this.pass(seconds);
    return this.read(answer.body);
  }

  read = async ({ url }: Json): Promise<Json> => (await this.fixture.staff.get(url)).body;

  tenant = (name = 'Lab', seconds?: number): Promise<Json> =>
    this.made('/api/openstack-tenants/', { service_project_link: this.link.url, name }, seconds);

  volume = (tenant: Json, name = 'data', seconds?: number): Promise<Json> =>
    this.made(
      '/api/openstack-volumes/',
      { service_project_link: this.link.url, tenant: tenant.url, name, size: 1024 },
      seconds,
    );
}

/** What settings say of an account at the stand-in. */
export const credentials = (vendor: OpenStack): Readonly<Record<string, string>> => ({
  name: 'Cloud',
  backend_url: `${vendor.base}/identity`,
  username: 'admin',
  password: 'right-password',
});
