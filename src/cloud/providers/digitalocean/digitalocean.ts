import { requiredCredentials } from '../../catalogue/options.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { DigitalOceanDriver } from './driver.ts';
import { droplet } from './droplet.ts';
import { image, region, size } from './properties.ts';
import { simulation } from './simulation.ts';

/** DigitalOcean (providers.md 5) */
export const digitalOcean: ProviderType = {
  name: 'DigitalOcean',
  prefix: 'digitalocean',
  hasGlobalProperties: true,
  isPublic: true,
  publicUrl: 'https://api.digitalocean.com/v2',
  options: {},
  missingCredentials: requiredCredentials('token'),
  quotas: { service: { droplet_count: 50 }, link: ['ram', 'storage', 'vcpu'], settings: [] },
  kinds: [droplet],
  properties: [image, region, size],
  driver: (settings, http) => new DigitalOceanDriver(settings, http),
  simulation,
};
