import { requiredCredentials } from '../../catalogue/options.ts';
import { pattern } from '../../catalogue/pattern.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { AmazonDriver } from './driver.ts';
import { instance } from './instance.ts';
import { image, region, size } from './properties.ts';
import { simulation } from './simulation.ts';
import { volume } from './volume.ts';

/** Amazon (providers.md 6) */
export const amazon: ProviderType = {
  name: 'Amazon',
  prefix: 'aws',
  hasGlobalProperties: true,
  isPublic: true,
  publicUrl: 'https://ec2.amazonaws.com',
  options: { images_regex: pattern('Regular expression; images with other names are ignored.') },
  /** The access key id, and the secret key. */
  missingCredentials: requiredCredentials('username', 'token'),
  quotas: { service: { instance_count: -1, volume_count: -1 }, link: ['ram', 'storage', 'vcpu'], settings: [] },
  kinds: [instance, volume],
  properties: [image, region, size],
  driver: (settings, http) => new AmazonDriver(settings, http),
  simulation,
};
