import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, people, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { Oracle } from './stand-in.ts';

const offers = {
  simulator: { zone: 'Zone A', template: 'Database small' },
  driver: { zone: 'East', template: 'Database small' },
};

/** A project whose administrator works with databases of Oracle. */
export class OracleAccount extends VendorAccount<Oracle> implements FaultyAccount {
  /** Starts both servers; the account is connected and synchronised unless told otherwise. */
  static async open(options: AccountOptions = {}): Promise<OracleAccount> {
    const known = await people(options);
    const vendor = await Oracle.start(() => known.fixture.clock.now() / 1000, options.identity);
    const account = new OracleAccount('oracle', options.backend ?? 'driver', vendor, known);
    if (options.isConnected !== false) await account.connect();
    known.fixture.events();
    vendor.server.take();
    return account;
  }

  get credentials(): Record<string, unknown> {
    const [[username, password] = []] = this.vendor.passwords;
    return { backend_url: this.vendor.url, username, password };
  }

  /** The vendor's side, as the table of faults asks for it. */
  get faulty(): FaultyAccount['faulty'] {
    const { databases, passwords, server } = this.vendor;
    return {
      secret: passwords.get('sysman') ?? '',
      mishap: (route, mishap, times) => server.mishap(route, mishap, times),
      take: () => server.take(),
      machines: () => [...databases.keys()],
      vanish: (id) => void databases.delete(id),
      disguise: (id, status) => void Object.assign(this.vendor.database(id), { status, next: undefined }),
      replaceCredentials: () => {
        passwords.set('sysman', 'another-password');
        return { password: 'another-password' };
      },
    };
  }

  /** The link of what Oracle offers, by its name. */
  offer = async (path: string, name: string): Promise<string> => {
    const query = `settings_uuid=${this.service.settings_uuid}&name_exact=${encodeURIComponent(name)}`;
    return (await this.fixture.staff.get(`/api/oracle-${path}/?${query}`)).body[0]?.url;
  };

  order = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('oracle-databases', {
      name,
      service_project_link: this.link.url,
      zone: await this.offer('zones', offers[this.backend].zone),
      template: await this.offer('templates', offers[this.backend].template),
      username: 'SYSTEM',
      password: 'tiger-tiger',
      ...fields,
    });
}
