import { requiredCredentials } from '../../catalogue/options.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { database } from './database.ts';
import { OracleDriver } from './driver.ts';
import { template, zone } from './properties.ts';
import { simulation } from './simulation.ts';

/** Oracle (providers.md 9) */
export const oracle: ProviderType = {
  name: 'Oracle',
  prefix: 'oracle',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: requiredCredentials('username', 'password'),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [database],
  properties: [zone, template],
  driver: (settings, http) => new OracleDriver(settings, http),
  simulation,
};
