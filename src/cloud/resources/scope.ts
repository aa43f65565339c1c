import { namedScope, type Scope } from '../../activity/scopes/scope.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { knownResource, resourceContext } from './resource.ts';

/** Resources as scopes of quotas, alerts and events. */
export const resourceScope = ({ kinds }: Catalogue): Scope => ({
  short: undefined,
  typed: kinds.map(({ kind, name }) => ({
    name: name.toLowerCase(),
    type: name,
    path: kind.path,
    only: `kind = '${name}'`,
    isPart: kind.isPart ?? false,
  })),
  table: 'resource',
  parent: { kind: 'project', column: 'project_id' },
  accepted: false,
  readable: (user) => sql`SELECT id FROM resource WHERE project_id IN (${connectedProjects(user)})`,
  own: (db, id) => resourceContext(db, knownResource(db, id)),
  scope: (db, id) => namedScope(knownResource(db, id)),
});
