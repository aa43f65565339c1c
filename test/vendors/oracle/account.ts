import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { Oracle } from './stand-in.ts';

const offers = {
  simulator: { zone: 'Zone A', template: 'Database small' },
  driver: { zone: 'East', template: 'Database small' },
};

/** A project whose administrator uses databases of Oracle. */
export class OracleAccount extends VendorAccount<Oracle> implements FaultyAccount {
  static open = (options: AccountOptions = {}): Promise<OracleAccount> =>
    opened(options, Oracle.start, (...parts) => new OracleAccount('oracle', ...parts));

  get credentials(): Record<string, unknown> {
    const [[username, password] = []] = this.vendor.passwords;
    return { username, password };
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { databases, passwords, server } = this.vendor;
    return {
      secrets: [passwords.get('sysman') ?? '', 'tiger-tiger'],
      injectFault: (route, fault, times) => server.injectFault(route, fault, times),
      take: () => server.take(),
      machines: () => [...databases.keys()],
      removeMachine: (id) => void databases.delete(id),
      setState: (id, status) => void Object.assign(this.vendor.database(id), { status, next: undefined }),
      replaceCredentials: () => {
        passwords.set('sysman', 'another-password');
        return { password: 'another-password' };
      },
    };
  }

  order = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('oracle-databases', {
      name,
      service_project_link: this.link.url,
      zone: await this.propertyLink('zones', offers[this.backend].zone),
      template: await this.propertyLink('templates', offers[this.backend].template),
      username: 'SYSTEM',
      password: 'tiger-tiger',
      ...fields,
    });
}
