import type { ProviderType } from '../provider.ts';

/** OpenStack (providers.md) */
export const openStack: ProviderType = {
  name: 'OpenStack',
  prefix: 'openstack',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: () => ({}),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [],
  properties: [],
  simulation: { properties: {}, kinds: {} },
};
