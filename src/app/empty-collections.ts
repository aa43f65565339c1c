import type { Endpoint } from '../kernel/collection/endpoint.ts';
import { type Config, ConfigError, environmentName } from '../kernel/config/config.ts';
import { pageHeaders } from '../kernel/http/page.ts';
import { document } from '../kernel/http/reply.ts';

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
