import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { Config } from '../../kernel/config/config.ts';
import { Router } from '../../kernel/http/router.ts';
import { memoised } from '../../kernel/memoised.ts';
import { emptyCollections } from '../empty-collections.ts';
import { parts } from './api.ts';

const tables = memoised((_: Catalogue) => new Map<string, Router<Endpoint>>());

/** Every path that a deployment serves; made once in a process for all that serve the same. Throws ConfigError. */
export function routesOf(catalogue: Catalogue, config: Config): Router<Endpoint> {
  const known = tables(catalogue);
  const name = config.empty_collections.join();
  const table = known.get(name) ?? new Router([...parts(catalogue), ...emptyCollections(config, parts(catalogue))]);
  known.set(name, table);
  return table;
}
