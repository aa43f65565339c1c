import type { Endpoint } from '../kernel/collection/endpoint.ts';
import { type Config, ConfigError, type ConfigOf, environmentName, type Settings } from '../kernel/config/config.ts';
import { list } from '../kernel/config/setting.ts';
import { pageHeaders } from '../kernel/http/page.ts';
import { document } from '../kernel/http/reply.ts';

declare module '../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof emptyCollectionSettings> {}
}

/** The rule of the name of a collection. Throws. */
const collectionName = (item: string): void => {
  if (!/^[a-z0-9-]+$/.test(item)) throw new Error(`must list names of a-z, 0-9 and dashes, but has "${item}"`);
};

/** Settings of collections that clients expect. */
export const emptyCollectionSettings = {
  empty_collections: list(
    [
      'project-types',
      'invoices',
      'openstack-packages',
      'price-estimates',
      'merged-price-list-items',
      'support-issues',
      'support-users',
      'support-offerings',
      'expert-requests',
      'expert-providers',
      'ansible-playbooks',
      'applications',
    ],
    'Collections that clients ask for and that are not there: they are shown as empty lists.',
    collectionName,
  ),
} satisfies Settings;

const emptyPage = { number: 1, size: 10, offset: 0, last: 1 };

/** A collection that other installations have and this one has not: a list without objects, whatever is asked (core.md 3). */
const emptyCollection = (name: string): Endpoint => ({
  path: `/api/${name}/`,
  name: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')} List`,
  description: 'A collection that this installation does not have.',
  operations: {
    GET: {
      summary: 'Lists nothing.',
      output: { status: 200 },
      takesAnything: true,
      handle: ({ query, url }) => document('[]', pageHeaders(emptyPage, 0, url, query)),
    },
  },
});

/** The collections of the setting empty_collections, which neither the root nor the documentation tells of. Throws ConfigError for one that is there. */
export function emptyCollections(config: Config, present: readonly Pick<Endpoint, 'path'>[]): readonly Endpoint[] {
  const paths = new Set(present.map(({ path }) => path.split('/').slice(0, 3).join('/')));
  const taken = config.empty_collections.find((name) => paths.has(`/api/${name}`));
  if (taken !== undefined)
    throw new ConfigError(`${environmentName('empty_collections')} must not list "${taken}", which there is`);
  return config.empty_collections.map(emptyCollection);
}
