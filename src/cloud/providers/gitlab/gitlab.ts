import type { Simulation } from '../../catalogue/simulation.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { GitLabDriver } from './driver.ts';
import { group } from './group.ts';
import { project } from './project.ts';

const created = '2017-06-01T00:00:00Z';

/** Simulation of GitLab (providers.md 3). */
const simulation: Simulation = {
  properties: {},
  kinds: {
    Group: { id: (n) => String(n), unmanaged: (n) => ({ path: `unmanaged-group-${n}`, created }) },
    Project: {
      id: (n) => String(n),
      initialValues: (_n, { parent }) => ({ ...(parent !== '' && { group_backend_id: parent }), commit_count: 0 }),
      // In the group of the same number; every third one is public.
      unmanaged: (n, draw, fellow) => ({
        group_backend_id: fellow('Group') ?? '',
        visibility_level: n % 3 === 0 ? 20 : 0,
        wiki_enabled: true,
        issues_enabled: true,
        snippets_enabled: false,
        merge_requests_enabled: true,
        commit_count: Number.parseInt(draw.hex(2), 16),
        created,
      }),
    },
  },
};

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
