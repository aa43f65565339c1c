import type { Endpoint } from '../kernel/collection/endpoint.ts';
import { type Config, ConfigError, type ConfigOf, environmentName, type Settings } from '../kernel/config/config.ts';
import { list } from '../kernel/config/setting.ts';
import { pageHeaders } from '../kernel/http/query.ts';
import { document } from '../kernel/http/reply.ts';

declare module '../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof emptyCollectionSettings> {}
}

/** Throws unless the name is valid for a collection. */
const checkCollectionName = (item: string): void => {
  if (!/^[a-z0-9-]+$/.test(item)) throw new Error(`must list names of a-z, 0-9 and dashes, but has "${item}"`);
};

/** The setting for collections that clients expect but this program lacks. */
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
    'Collections that clients request but that do not exist. They are served as empty lists.',
    checkCollectionName,
  ),
} satisfies Settings;

const emptyPage = { number: 1, size: 10, offset: 0, last: 1 };

/** Returns an endpoint that responds to any query with an empty list (core.md 3). */
const emptyCollection = (name: string): Endpoint => ({
  path: `/api/${name}/`,
  name: `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')} List`,
  description: 'A collection that this installation does not have.',
  operations: {
    GET: {
      summary: 'Returns an empty list.',
      output: { status: 200 },
      takesAnything: true,
      handle: ({ query, url }) => document('[]', pageHeaders(emptyPage, 0, url, query)),
    },
  },
});

/**
 * Returns the collections of the setting empty_collections. The root and the documentation omit them. Throws ConfigError if one
 * of them exists.
 */
export function emptyCollections(config: Config, existing: readonly Pick<Endpoint, 'path'>[]): readonly Endpoint[] {
  const paths = new Set(existing.map(({ path }) => path.split('/').slice(0, 3).join('/')));
  const conflicting = config.empty_collections.find((name) => paths.has(`/api/${name}`));
  if (conflicting !== undefined)
    throw new ConfigError(`${environmentName('empty_collections')} must not list "${conflicting}", which exists`);
  return config.empty_collections.map(emptyCollection);
}
