import type { ProviderType } from '../provider.ts';

/** Oracle (providers.md) */
export const oracle: ProviderType = {
  name: 'Oracle',
  prefix: 'oracle',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: () => ({}),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [],
  properties: [],
  simulation: { properties: {}, kinds: {} },
};
