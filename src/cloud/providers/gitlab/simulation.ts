import type { Simulation } from '../../catalogue/simulation.ts';

const created = '2017-06-01T00:00:00Z';

/** Simulation of GitLab (providers.md 3). */
export const simulation: Simulation = {
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
