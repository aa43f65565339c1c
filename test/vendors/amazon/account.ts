import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { Amazon } from './stand-in.ts';

/** Region, image and size of machines, by names that exist on both backends. */
const offers = {
  simulator: { linux: 'Amazon Linux 2', windows: 'Windows Server 2016' },
  driver: {
    linux: 'amzn2-ami-hvm-2.0.20180622.1-x86_64-gp2',
    windows: 'Windows_Server-2016-English-Full-Base-2018.06.13',
  },
};

/** A project whose administrator uses an account at Amazon. */
export class AmazonAccount extends VendorAccount<Amazon> implements FaultyAccount {
  static open = (options: AccountOptions = {}): Promise<AmazonAccount> =>
    opened(options, Amazon.start, (...parts) => new AmazonAccount('aws', ...parts));

  get credentials(): Record<string, unknown> {
    const [[username, { secret: token }] = ['', { secret: '' }]] = this.vendor.accessKeys;
    return { username, token };
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { server, contents: setup } = this.vendor;
    const [key = '', keys = { secret: '', mayWrite: true }] = [...this.vendor.accessKeys][0] ?? [];
    return {
      secrets: [keys.secret],
      injectFault: (route, fault, times) => server.injectFault(route, fault, times),
      take: () => server.take(),
      machines: () => [...setup.instances.keys()],
      removeMachine: (id) => void setup.instances.delete(id),
      setState: (id, state) => void Object.assign(setup.instances.get(id) ?? {}, { state, next: undefined }),
      replaceCredentials: () => {
        this.vendor.accessKeys.delete(key);
        this.vendor.accessKeys.set('AKIDSECOND', { ...keys, secret: 'another-secret-key' });
        return { username: 'AKIDSECOND', token: 'another-secret-key' };
      },
    };
  }

  region = async (name = 'EU (Ireland)'): Promise<Json> => this.read(await this.propertyLink('regions', name));

  /** Creates an instance as Alice; returns it in state Creation Scheduled. */
  async order(
    name: string,
    {
      image = 'linux',
      size = 't2.micro',
      ...fields
    }: { image?: 'linux' | 'windows'; size?: string; [field: string]: unknown } = {},
  ): Promise<Json> {
    const region = await this.region();
    return this.create('aws-instances', {
      name,
      service_project_link: this.link.url,
      region: region.url,
      image: await this.propertyLink('images', offers[this.backend][image], `region=${region.uuid}`),
      size: await this.propertyLink('sizes', size),
      ...fields,
    });
  }

  /** Creates a volume as Alice. */
  async orderVolume(name: string, fields: Record<string, unknown> = {}): Promise<Json> {
    return this.create('aws-volumes', {
      name,
      service_project_link: this.link.url,
      region: (await this.region()).url,
      size: 10_240,
      volume_type: 'gp2',
      ...fields,
    });
  }

  /** Returns the volume with this name. */
  volumeNamed = async (name: string): Promise<Json> =>
    (await this.alice.get(`/api/aws-volumes/?name=${encodeURIComponent(name)}`)).body[0];
}
