import { customers } from '../../accounts/customers/customers.ts';
import { projects } from '../../accounts/projects/projects.ts';
import { usersOfCustomers } from '../../accounts/users/user-filters.ts';
import { typesOfGroups } from '../../activity/alerts/catalogue.ts';
import { aboutCustomers, aboutProjects, visibleAlerts } from '../../activity/alerts/filters.ts';
import type { Request } from '../../kernel/access/request.ts';
import { visibleProjects } from '../../kernel/access/visibility.ts';
import type { Parent, Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { among, type Sql, sql } from '../../kernel/db/sql.ts';
import { json } from '../../kernel/http/reply.ts';
import { countApiKeys } from '../../kernel/security/api-keys.ts';

/** A counter: its meaning, and its count for the object with an id. */
interface Counter {
  readonly help: string;
  readonly count: (request: Request, id: number) => number;
}

type Counters = Readonly<Record<string, Counter>>;

const number = (request: Request, query: Sql): number => request.db.scalar<number>(query);

/** Reads the usage of the quota that counts the same objects instead of counting them. */
const usage =
  (scope: 'customer' | 'project', name: string) =>
  (request: Request, id: number): number =>
    request.db.value<number>(
      sql`SELECT usage FROM quota WHERE scope_kind = ${scope} AND scope_id = ${id} AND name = ${name}`,
    ) ?? 0;

/** Counts open alerts that the caller can see, without the alert types of the groups in `exclude_features`. */
function openAlerts(request: Request, about: Sql): number {
  const excluded = typesOfGroups(request.query.all('exclude_features'));
  return number(
    request,
    sql`
      SELECT count(*) FROM alert a
      WHERE a.closed IS NULL AND (${about}) AND (${visibleAlerts(request.app.scopes).condition(request.caller, request.config)})
      AND NOT (${among('a.alert_type', excluded)})`,
  );
}

const ofCustomer: Counters = {
  alerts: {
    help: 'Open alerts about it, its projects, services and resources.',
    count: (request, id) => openAlerts(request, aboutCustomers(request.app.scopes, sql`${id}`)),
  },
  services: { help: 'Its services.', count: usage('customer', 'nc_service_count') },
  projects: {
    help: 'Its projects that the caller can see.',
    count: (request, id) =>
      number(
        request,
        sql`SELECT count(*) FROM project WHERE customer_id = ${id} AND ${visibleProjects(request.caller, 'id')}`,
      ),
  },
  users: {
    help: 'Users with a role in it or its projects.',
    count: (request, id) => number(request, sql`SELECT count(*) FROM (${usersOfCustomers(sql`${id}`)})`),
  },
};

const ofProject: Counters = {
  users: {
    help: 'Users with a role in it.',
    count: (request, id) =>
      number(request, sql`SELECT count(DISTINCT user_id) FROM active_project_role WHERE project_id = ${id}`),
  },
  alerts: {
    help: 'Open alerts about it and its resources.',
    count: (request, id) => openAlerts(request, aboutProjects(request.app.scopes, sql`${id}`)),
  },
  apps: { help: 'Its applications.', count: usage('project', 'nc_app_count') },
  vms: { help: 'Its virtual machines.', count: usage('project', 'nc_vm_count') },
  private_clouds: { help: 'Its private clouds.', count: usage('project', 'nc_private_cloud_count') },
  storages: { help: 'Its volumes and snapshots.', count: usage('project', 'nc_storage_count') },
};

const ofUser: Counters = {
  keys: {
    help: "The caller's SSH keys.",
    count: (request) => number(request, sql`SELECT count(*) FROM ssh_key WHERE user_id = ${request.caller.userId}`),
  },
  hooks: {
    help: "The caller's hooks of every kind.",
    count: (request, id) => number(request, sql`SELECT count(*) FROM hook WHERE user_id = ${id}`),
  },
  api_keys: { help: "The caller's API keys that have not expired.", count: ({ db }, id) => countApiKeys(db, id) },
};

/** A path that returns an object of integers (core.md 9). The parameter `fields` selects its keys. */
function countersEndpoint(
  path: string,
  name: string,
  counters: Counters,
  find: (request: Request) => number,
): Endpoint {
  return {
    path,
    name,
    description: 'Counts of related objects.',
    actions: (request) => {
      find(request);
      return undefined;
    },
    operations: {
      GET: {
        summary: 'Counts related objects.',
        allowedFor: 'Any user who can see the object.',
        filters: {
          fields: parameter('string', 'A key to return.', true),
          ...(path !== '/api/user-counters/' && {
            exclude_features: parameter('string', 'A group of alert types to exclude.', true),
          }),
        },
        output: {
          status: 200,
          shape: {
            type: 'object',
            properties: Object.fromEntries(
              Object.entries(counters).map(([key, { help }]) => [key, { type: 'integer', description: help }]),
            ),
          },
        },
        handle: (request) => {
          const id = find(request);
          const fields = request.query.all('fields');
          const selected = Object.entries(counters).filter(([key]) => fields.length === 0 || fields.includes(key));
          return json(Object.fromEntries(selected.map(([key, counter]) => [key, counter.count(request, id)])));
        },
      },
    },
  };
}

const idOf =
  (parent: Parent<Row>) =>
  (request: Request): number =>
    parent.find(request).id;

export const counterEndpoints: readonly Endpoint[] = [
  countersEndpoint('/api/customers/:key/counters/', 'Customer Counters', ofCustomer, idOf(customers)),
  countersEndpoint('/api/projects/:key/counters/', 'Project Counters', ofProject, idOf(projects)),
  countersEndpoint('/api/user-counters/', 'User Counters', ofUser, (request) => request.caller.id),
];
