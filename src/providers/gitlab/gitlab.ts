import type { ProviderType } from '../provider.ts';

/** GitLab (providers.md) */
export const gitlab: ProviderType = {
  name: 'GitLab',
  prefix: 'gitlab',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: () => ({}),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [],
  properties: [],
  simulation: { properties: {}, kinds: {} },
};
