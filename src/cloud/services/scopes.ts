import { customerNames } from '../../accounts/customers/scope.ts';
import { projectScope } from '../../accounts/projects/scope.ts';
import { customerContext } from '../../activity/events/context.ts';
import { type EventContext, type Named, namedScope, type Scope } from '../../activity/scopes/scope.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { linkPath } from './paths.ts';
import { readableLinks, readablePrivateSettings, readableServices, readableSettings } from './readable.ts';

/* Settings, services and links as scopes of quotas, alerts and events. */

type SettingsNames = Named & { readonly type: string; readonly customer_id: number | null };

const settingsNames = (db: Database, id: number): SettingsNames =>
  db.one<SettingsNames>(sql`SELECT uuid, name, type, customer_id FROM service_settings WHERE id = ${id}`);

export const settingsScope: Scope = {
  name: 'structure.servicesettings',
  short: 'service_settings',
  path: 'service-settings',
  table: 'service_settings',
  accepted: true,
  readable: readableSettings,
  // The certifications of shared settings are the operator's decision.
  usageReadable: readablePrivateSettings,
  own: (db, id) => {
    const { customer_id: customer, name, type, uuid } = settingsNames(db, id);
    return {
      settings_uuid: uuid,
      settings_name: name,
      service_settings_type: type,
      ...(customer !== null && customerContext(customerNames(db, customer))),
    };
  },
  scope: (db, id) => namedScope(settingsNames(db, id)),
};

type ServiceNames = Named & { readonly type: string; readonly settings_id: number; readonly customer_id: number };

/** A service has the name of its settings. */
const serviceNames = (db: Database, id: number): ServiceNames =>
  db.one<ServiceNames>(sql`SELECT v.uuid, st.name, st.type, v.settings_id, v.customer_id
    FROM service v JOIN service_settings st ON st.id = v.settings_id WHERE v.id = ${id}`);

/** SVC keys of a service, with SET of its settings and CUST of its customer. */
export function serviceContext(db: Database, id: number): EventContext {
  const { customer_id: customer, name, settings_id: settings, type, uuid } = serviceNames(db, id);
  return {
    service_uuid: uuid,
    service_name: name,
    service_type: type,
    ...settingsScope.own(db, settings),
    ...customerContext(customerNames(db, customer)),
  };
}

export const serviceScope = ({ types }: Catalogue): Scope => ({
  short: undefined,
  typed: types.map((type) => ({
    name: `${type.name.toLowerCase()}.service`,
    type: type.name,
    path: type.prefix,
    only: `settings_id IN (SELECT id FROM service_settings WHERE type = '${type.name}')`,
  })),
  table: 'service',
  parent: { kind: 'customer', column: 'customer_id' },
  accepted: false,
  readable: readableServices,
  quotaCounts: {
    customer: {
      nc_service_count: `SELECT customer_id AS scope_id, count(*) AS counted FROM service GROUP BY customer_id`,
    },
  },
  own: serviceContext,
  scope: (db, id) => namedScope(serviceNames(db, id)),
});

const linkOf = (db: Database, id: number): { service_id: number; project_id: number } =>
  db.one<{ service_id: number; project_id: number }>(
    sql`SELECT service_id, project_id FROM service_project_link WHERE id = ${id}`,
  );

export const linkScope = ({ types }: Catalogue): Scope => ({
  short: undefined,
  typed: types.map((type) => ({
    name: `${type.name.toLowerCase()}.serviceprojectlink`,
    type: type.name,
    path: linkPath(type),
    only: `service_id IN (SELECT v.id FROM service v JOIN service_settings st ON st.id = v.settings_id WHERE st.type = '${type.name}')`,
  })),
  table: 'service_project_link',
  parent: { kind: 'project', column: 'project_id' },
  accepted: false,
  readable: readableLinks,
  quotaCounts: {
    customer: {
      nc_service_project_link_count: `SELECT p.customer_id AS scope_id, count(*) AS counted
      FROM service_project_link l JOIN project p ON p.id = l.project_id GROUP BY p.customer_id`,
    },
    project: {
      nc_service_project_link_count: `SELECT project_id AS scope_id, count(*) AS counted FROM service_project_link GROUP BY project_id`,
    },
  },
  own: (db, id) => {
    const link = linkOf(db, id);
    return { ...serviceContext(db, link.service_id), ...projectScope.own(db, link.project_id) };
  },
  scope: (db, id) => {
    const link = linkOf(db, id);
    const { scope_name: project } = projectScope.scope(db, link.project_id);
    return { scope_name: `${serviceNames(db, link.service_id).name} | ${project}` };
  },
});
