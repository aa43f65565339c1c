import type { ProviderType } from '../../catalogue/type.ts';
import { GitLabDriver } from './driver.ts';
import { group } from './group.ts';
import { project } from './project.ts';
import { simulation } from './simulation.ts';

/** GitLab (providers.md 8) */
export const gitlab: ProviderType = {
  name: 'GitLab',
  prefix: 'gitlab',
  hasGlobalProperties: false,
  isPublic: false,
  publicUrl: 'https://gitlab.com',
  options: {},
  missingCredentials: ({ password, token, username }) =>
    token || (username && password)
      ? {}
      : { non_field_errors: ['Either token or username and password should be specified'] },
  quotas: { service: { group_count: -1, project_count: -1 }, link: [], settings: [] },
  kinds: [group, project],
  properties: [],
  driver: (settings, http) => new GitLabDriver(settings, http),
  simulation,
};
