import { providerTypes, resourceKinds } from '../../cloud/catalogue/registry.ts';
import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import {
  connectedCustomers,
  connectedProjects,
  customersWithRole,
  projectsWithRole,
} from '../../kernel/access/visibility.ts';
import { type Json, linkOfPath } from '../../kernel/collection/representation.ts';
import type { Database } from '../../kernel/db/database.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import {
  type CustomerNames,
  customerContext,
  type EventContext,
  keyContext,
  projectContext,
  type UserNames,
  userContext,
} from '../events/context.ts';
import { decimal } from '../quotas/usage.ts';
import { plainName } from './types.ts';

/** The kinds of object that quotas, alerts and events are about; what `scope_kind` columns hold. */
export type ScopeKind =
  | 'user'
  | 'key'
  | 'quota'
  | 'customer'
  | 'project'
  | 'settings'
  | 'service'
  | 'link'
  | 'resource';

/** One type of a kind of scope whose objects have typed paths. */
export interface TypedScope {
  readonly name: string;
  readonly path: string;
  /** SQL condition on the columns of the kind's table. */
  readonly only: string;
}

/** One kind of scope (events.md 1.3). */
export interface Scope {
  /** Name in `content_type` and `scope_type`; absent where every type has a name of its own. */
  readonly name?: string;
  /** Short name, where there is one. */
  readonly short: string | undefined;
  /** Segment behind /api/; absent where every type has its own. */
  readonly path?: string;
  /** The types of such an object, each with its own name and path. */
  readonly typed?: () => readonly TypedScope[];
  readonly table: string;
  /** Whether POST of alerts and events takes it. */
  readonly accepted: boolean;
  /** Ids of the objects of this kind that a user without sight of everything reads (events.md 1.2). */
  readonly readable: (user: Sql) => Sql;
  /** OWN keys: the object itself and what it belongs to. */
  readonly own: (db: Database, id: number) => EventContext;
  /** SCOPE keys: the object as the scope of an alert or event. */
  readonly scope: (db: Database, id: number) => EventContext;
}

const customerNames = (db: Database, id: number): CustomerNames =>
  db.get<CustomerNames>(
    sql`SELECT uuid, name, abbreviation, contact_details FROM customer WHERE id = ${id}`,
  ) as CustomerNames;

const userNames = (db: Database, id: number): UserNames =>
  db.get<UserNames>(sql`SELECT uuid, username, full_name, native_name FROM user WHERE id = ${id}`) as UserNames;

interface Named {
  readonly uuid: string;
  readonly name: string;
}

const named = (db: Database, table: string, id: number): Named =>
  db.get<Named>(sql`SELECT uuid, name FROM ${raw(table)} WHERE id = ${id}`) as Named;

/** SCOPE keys of an object that has just a name. */
const byName =
  (table: string) =>
  (db: Database, id: number): EventContext => {
    const { uuid, name } = named(db, table, id);
    return { scope_uuid: uuid, scope_name: name };
  };

interface QuotaScope {
  readonly uuid: string;
  readonly name: string;
  readonly limit: number;
  readonly usage: number;
  readonly scope_kind: ScopeKind | 'global';
  readonly scope_id: number;
}

const quotaOf = (db: Database, id: number): QuotaScope =>
  db.get<QuotaScope>(
    sql`SELECT uuid, name, "limit", usage, scope_kind, scope_id FROM quota WHERE id = ${id}`,
  ) as QuotaScope;

/** QUOTA keys of a quota, without those of its scope. */
export const quotaContext = (quota: Pick<QuotaScope, 'uuid' | 'name' | 'limit' | 'usage'>): EventContext => ({
  quota_uuid: quota.uuid,
  quota_name: quota.name,
  quota_limit: decimal(quota.limit),
  quota_usage: decimal(quota.usage),
});

/** Every kind of scope. */
export const scopes: Readonly<Partial<Record<ScopeKind, Scope>>> = {
  user: {
    name: 'core.user',
    short: 'user',
    path: 'users',
    table: 'user',
    accepted: true,
    readable: (user) => sql`SELECT id FROM user WHERE (is_active AND NOT is_staff) OR id = ${user}`,
    own: (db, id) => userContext(userNames(db, id)),
    scope: (db, id) => {
      const user = userNames(db, id);
      return {
        scope_uuid: user.uuid,
        scope_name: user.username,
        scope_username: user.username,
        scope_full_name: user.full_name,
        scope_native_name: user.native_name,
      };
    },
  },
  key: {
    name: 'core.sshpublickey',
    short: 'ssh_public_key',
    path: 'keys',
    table: 'ssh_key',
    accepted: true,
    readable: (user) => sql`SELECT id FROM ssh_key WHERE user_id = ${user}`,
    own: (db, id) =>
      keyContext(
        named(db, 'ssh_key', id),
        userNames(db, db.value<number>(sql`SELECT user_id FROM ssh_key WHERE id = ${id}`) as number),
      ),
    scope: byName('ssh_key'),
  },
  quota: {
    name: 'quotas.quota',
    short: 'quota',
    path: 'quotas',
    table: 'quota',
    accepted: true,
    readable: (user) => sql`SELECT q.id FROM quota q WHERE ${readableScope(user, 'q.scope_kind', 'q.scope_id')}`,
    own: (db, id) => {
      const quota = quotaOf(db, id);
      return {
        ...quotaContext(quota),
        ...(quota.scope_kind === 'global' ? {} : scopes[quota.scope_kind]?.own(db, quota.scope_id)),
      };
    },
    scope: (db, id) => {
      const quota = quotaOf(db, id);
      return quota.scope_kind === 'global' ? {} : (scopes[quota.scope_kind]?.scope(db, quota.scope_id) ?? {});
    },
  },
  customer: {
    name: 'structure.customer',
    short: 'customer',
    path: 'customers',
    table: 'customer',
    accepted: true,
    readable: connectedCustomers,
    own: (db, id) => customerContext(customerNames(db, id)),
    scope: (db, id) => {
      const customer = customerNames(db, id);
      return {
        scope_uuid: customer.uuid,
        scope_name: customer.name,
        scope_abbreviation: customer.abbreviation,
        scope_contact_details: customer.contact_details,
      };
    },
  },
  project: {
    name: 'structure.project',
    short: 'project',
    path: 'projects',
    table: 'project',
    accepted: true,
    readable: connectedProjects,
    own: (db, id) =>
      projectContext(
        named(db, 'project', id),
        customerNames(db, db.value<number>(sql`SELECT customer_id FROM project WHERE id = ${id}`) as number),
      ),
    scope: byName('project'),
  },
  settings: {
    name: 'structure.servicesettings',
    short: 'service_settings',
    path: 'service-settings',
    table: 'service_settings',
    accepted: true,
    readable: (user) =>
      sql`SELECT id FROM service_settings WHERE shared OR customer_id IN (${customersWithRole(user)})`,
    own: (db, id) => {
      const settings = db.get<Named & { type: string; customer_id: number | null }>(
        sql`SELECT uuid, name, type, customer_id FROM service_settings WHERE id = ${id}`,
      );
      return {
        settings_uuid: settings?.uuid,
        settings_name: settings?.name,
        service_settings_type: settings?.type,
        ...(settings?.customer_id ? customerContext(customerNames(db, settings.customer_id)) : {}),
      };
    },
    scope: byName('service_settings'),
  },
  service: {
    short: undefined,
    typed: () =>
      providerTypes.map((type) => ({
        name: `${type.name.toLowerCase()}.service`,
        path: type.prefix,
        only: `settings_id IN (SELECT id FROM service_settings WHERE type = '${type.name}')`,
      })),
    table: 'service',
    accepted: false,
    readable: (user) => readableServices(user),
    own: (db, id) => serviceContext(db, id),
    scope: (db, id) => {
      const { uuid, name } = serviceNames(db, id);
      return { scope_uuid: uuid, scope_name: name };
    },
  },
  link: {
    short: undefined,
    typed: () =>
      providerTypes.map((type) => ({
        name: `${type.name.toLowerCase()}.serviceprojectlink`,
        path: `${type.prefix}-service-project-link`,
        only: `service_id IN (SELECT v.id FROM service v JOIN service_settings st ON st.id = v.settings_id WHERE st.type = '${type.name}')`,
      })),
    table: 'service_project_link',
    accepted: false,
    readable: (user) => readableLinks(user),
    own: (db, id) => {
      const link = linkOf(db, id);
      return { ...serviceContext(db, link.service_id), ...scopes.project?.own(db, link.project_id) };
    },
    scope: (db, id) => {
      const link = linkOf(db, id);
      return {
        scope_name: `${serviceNames(db, link.service_id).name} | ${named(db, 'project', link.project_id).name}`,
      };
    },
  },
  resource: {
    short: undefined,
    typed: () =>
      resourceKinds.map(({ kind, name }) => ({ name: name.toLowerCase(), path: kind.path, only: `kind = '${name}'` })),
    table: 'resource',
    accepted: false,
    readable: (user) => sql`SELECT id FROM resource WHERE project_id IN (${connectedProjects(user)})`,
    own: (db, id) => {
      const {
        kind,
        name,
        project_id: project,
        service_id: service,
        uuid,
      } = db.get<Named & { kind: string; service_id: number; project_id: number }>(
        sql`SELECT uuid, name, kind, service_id, project_id FROM resource WHERE id = ${id}`,
      ) as Named & { kind: string; service_id: number; project_id: number };
      return {
        resource_uuid: uuid,
        resource_name: name,
        resource_full_name: `${kind.replace('.', ' ')} ${name}`,
        resource_type: kind,
        ...serviceContext(db, service),
        ...scopes.project?.own(db, project),
      };
    },
    scope: byName('resource'),
  },
};

const serviceNames = (db: Database, id: number): Named & { type: string; settings_id: number } =>
  db.get<Named & { type: string; settings_id: number }>(sql`SELECT v.uuid, st.name, st.type, v.settings_id
    FROM service v JOIN service_settings st ON st.id = v.settings_id WHERE v.id = ${id}`) as Named & {
    type: string;
    settings_id: number;
  };

const linkOf = (db: Database, id: number): { service_id: number; project_id: number } =>
  db.get<{ service_id: number; project_id: number }>(
    sql`SELECT service_id, project_id FROM service_project_link WHERE id = ${id}`,
  ) as { service_id: number; project_id: number };

/** SVC keys of a service, with SET of its settings and CUST of its customer. */
function serviceContext(db: Database, id: number): EventContext {
  const { name, settings_id: settings, type, uuid } = serviceNames(db, id);
  const customer = db.value<number>(sql`SELECT customer_id FROM service WHERE id = ${id}`) as number;
  return {
    service_uuid: uuid,
    service_name: name,
    service_type: type,
    ...scopes.settings?.own(db, settings),
    ...customerContext(customerNames(db, customer)),
  };
}

/** The link of the resource whose id stands in a column; must not be null. */
export const resourceLink = (id: string): Json =>
  linkOfPath(
    `(SELECT CASE kind ${resourceKinds.map(({ kind, name }) => `WHEN '${name}' THEN '${kind.path}'`).join(' ')} END FROM resource WHERE id = ${id})`,
    `(SELECT uuid FROM resource WHERE id = ${id})`,
  );

/** Ids of the services that a user reads. */
export const readableServices = (
  user: Sql,
): Sql => sql`SELECT id FROM service WHERE customer_id IN (${customersWithRole(user)})
  UNION SELECT l.service_id FROM service_project_link l WHERE l.project_id IN (${projectsWithRole(user)})`;

/** Ids of the service-project links that a user reads. */
export const readableLinks = (user: Sql): Sql =>
  sql`SELECT id FROM service_project_link WHERE project_id IN (${connectedProjects(user)})`;

/** Condition: a user reads the object that a pair of columns names, of any kind but quota; a global quota is nobody's. */
export const readableScope = (user: Sql, kind: string, id: string): Sql =>
  any(
    Object.entries(scopes)
      .filter(([name]) => name !== 'quota')
      .map(([name, scope]) => sql`${raw(kind)} = ${name} AND ${raw(id)} IN (${scope.readable(user)})`),
  );

/** Condition: the caller reads the object of this kind whose id stands in the column. */
export const readableBy = (caller: Caller, scope: Scope, column: string): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${scope.readable(callerId(caller))})`;

/** The kinds a query value names by full or short name, without case and underscores; typed ones are not among them. */
export function kindsNamed(value: string): ScopeKind[] {
  return Object.entries(scopes)
    .filter(([, { name, short }]) =>
      [name, short].some((known) => known !== undefined && plainName(value) === plainName(known)),
    )
    .map(([kind]) => kind as ScopeKind);
}

/** Condition: the object that a pair of columns names is of the kind, or the type of a kind, that a query value names. */
export function ofKindNamed(value: string, kind: string, id: string): Sql {
  const simple = kindsNamed(value).map((name) => sql`${raw(kind)} = ${name}`);
  const typed = Object.entries(scopes).flatMap(([name, scope]) =>
    (scope.typed?.() ?? [])
      .filter((type) => plainName(type.name) === plainName(value))
      .map(
        ({ only }) =>
          sql`${raw(kind)} = ${name} AND ${raw(id)} IN (SELECT id FROM ${raw(scope.table)} WHERE ${raw(only)})`,
      ),
  );
  return any([...simple, ...typed]);
}
