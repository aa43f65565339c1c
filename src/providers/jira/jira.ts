import type { ProviderType } from '../provider.ts';

/** JIRA (providers.md) */
export const jira: ProviderType = {
  name: 'JIRA',
  prefix: 'jira',
  hasGlobalProperties: false,
  isPublic: false,
  options: {},
  missingCredentials: () => ({}),
  quotas: { service: {}, link: [], settings: [] },
  kinds: [],
  properties: [],
  simulation: { properties: {}, kinds: {} },
};
