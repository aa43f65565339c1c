import type { ProviderType } from '../provider.ts';

/** Amazon (providers.md) */
export const amazon: ProviderType = {
  name: 'Amazon',
  prefix: 'aws',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: () => ({}),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [],
  properties: [],
  simulation: { properties: {}, kinds: {} },
};
