import { countQuotas, createQuotas, type QuotaDelta, requireQuotas } from '../../activity/quotas/usage.ts';
import type { Context } from '../../kernel/access/context.ts';
import { newUuid } from '../../kernel/app.ts';
import type { Columns } from '../../kernel/collection/changes.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { ProviderType } from '../catalogue/type.ts';

/*
 * Creates and removes services and links, by request or automatically (services.md 2.6). Quotas count automatic changes but never
 * reject them.
 */

/** Whether quotas may reject the change: true for requests, false for automatic changes. */
type Origin = 'asked' | 'automatic';

interface NewService {
  readonly customer: number;
  readonly settings: number;
  readonly isAvailableForAll: boolean;
  /** Additional columns of its row. */
  readonly columns?: Columns;
}

/** Creates a service with its quotas and, if it is available for all, its links. Returns its id. */
export function createService(context: Context, service: NewService, origin: Origin): number {
  const { db } = context.app;
  const deltas: QuotaDelta[] = [{ scope: 'customer', id: service.customer, name: 'nc_service_count', delta: 1 }];
  if (origin === 'asked') requireQuotas(context, deltas);
  const id = db.insert('service', {
    ...service.columns,
    uuid: newUuid(context.app),
    customer_id: service.customer,
    settings_id: service.settings,
    available_for_all: Number(service.isAvailableForAll),
  });
  const quotas = typeOfSettings(context, service.settings).quotas.service;
  createQuotas(context, 'service', id, Object.keys(quotas), quotas);
  countQuotas(context, deltas);
  if (service.isAvailableForAll) linkToProjects(context, id);
  return id;
}

/** Links a service to every unlinked project of its customer. */
export function linkToProjects(context: Context, service: number): void {
  const projects =
    context.app.db.values<number>(sql`SELECT p.id FROM project p JOIN service s ON s.customer_id = p.customer_id
    WHERE s.id = ${service} AND NOT EXISTS (SELECT 1 FROM service_project_link l WHERE l.service_id = s.id AND l.project_id = p.id) ORDER BY p.id`);
  for (const project of projects) createLink(context, service, project, 'automatic');
}

/** Links a new or moved project to every service of its customer that is available for all. */
export function linkProject(context: Context, project: number): void {
  const services =
    context.app.db.values<number>(sql`SELECT s.id FROM service s JOIN project p ON p.customer_id = s.customer_id
    WHERE p.id = ${project} AND s.available_for_all ORDER BY s.id`);
  for (const service of services) createLink(context, service, project, 'automatic');
}

/** Connects a new customer to all shared settings. */
export function connectCustomer(context: Context, customer: number): void {
  for (const settings of context.app.db.values<number>(sql`SELECT id FROM service_settings WHERE shared ORDER BY id`)) {
    createService(context, { customer, settings, isAvailableForAll: true }, 'automatic');
  }
}

/** Connects every unconnected customer to shared settings. */
export function connectCustomers(context: Context, settings: number): void {
  const customers = context.app.db.values<number>(sql`SELECT id FROM customer c
    WHERE NOT EXISTS (SELECT 1 FROM service s WHERE s.customer_id = c.id AND s.settings_id = ${settings}) ORDER BY id`);
  for (const customer of customers)
    createService(context, { customer, settings, isAvailableForAll: true }, 'automatic');
}

/** Links a service to a project and returns the link's id. Throws 409 if a requested link exceeds a quota. */
export function createLink(
  context: Context,
  service: number,
  project: number,
  origin: Origin,
  columns: Columns = {},
): number {
  const { db } = context.app;
  const deltas = linkDeltas(db, project, 1);
  if (origin === 'asked') requireQuotas(context, deltas);
  const id = db.insert('service_project_link', {
    ...columns,
    uuid: newUuid(context.app),
    service_id: service,
    project_id: project,
  });
  const settings = db.scalar<number>(sql`SELECT settings_id FROM service WHERE id = ${service}`);
  createQuotas(context, 'link', id, typeOfSettings(context, settings).quotas.link);
  countQuotas(context, deltas);
  return id;
}

/** Removes a link without resources. */
export function removeLink(context: Context, link: number): void {
  const { db } = context.app;
  const project = db.scalar<number>(sql`SELECT project_id FROM service_project_link WHERE id = ${link}`);
  countQuotas(context, linkDeltas(db, project, -1));
  db.run(sql`DELETE FROM service_project_link WHERE id = ${link}`);
}

/** Removes all links of a project without resources. */
export function removeLinksOf(context: Context, project: number): void {
  for (const link of context.app.db.values<number>(
    sql`SELECT id FROM service_project_link WHERE project_id = ${project}`,
  ))
    removeLink(context, link);
}

/** Removes a service without resources, its links, and its private settings if nothing else uses them. */
export function removeService(context: Context, service: number): void {
  const { db } = context.app;
  const { customer_id: customer, settings_id: settings } = db.one<{ customer_id: number; settings_id: number }>(
    sql`SELECT customer_id, settings_id FROM service WHERE id = ${service}`,
  );
  for (const link of db.values<number>(sql`SELECT id FROM service_project_link WHERE service_id = ${service}`))
    removeLink(context, link);
  db.run(sql`DELETE FROM service WHERE id = ${service}`);
  countQuotas(context, [{ scope: 'customer', id: customer, name: 'nc_service_count', delta: -1 }]);
  db.run(
    sql`DELETE FROM service_settings WHERE id = ${settings} AND NOT shared AND NOT EXISTS (SELECT 1 FROM service WHERE settings_id = ${settings})`,
  );
}

/** Removes settings without resources, with their services and links. */
export function removeSettings(context: Context, settings: number): void {
  const { db } = context.app;
  for (const service of db.values<number>(sql`SELECT id FROM service WHERE settings_id = ${settings}`))
    removeService(context, service);
  db.run(sql`DELETE FROM service_settings WHERE id = ${settings}`);
}

/** Removes the services and private settings of a customer without projects. */
export function disconnectCustomer(context: Context, customer: number): void {
  const { db } = context.app;
  for (const service of db.values<number>(sql`SELECT id FROM service WHERE customer_id = ${customer}`))
    removeService(context, service);
  for (const settings of db.values<number>(sql`SELECT id FROM service_settings WHERE customer_id = ${customer}`))
    removeSettings(context, settings);
}

/** Returns the 409 message while the object in the column has resources of any kind (services.md 8.5). */
export function resourcesReason(
  { app: { catalogue, db } }: Pick<Context, 'app'>,
  column: 'project_id' | 'link_id' | 'service_id' | 'settings_id',
  id: number,
  what: string,
): string | undefined {
  const plurals = db
    .values<string>(sql`SELECT DISTINCT kind FROM resource WHERE ${raw(column)} = ${id} AND NOT is_part`)
    .map((kind) => catalogue.kind(kind).kind.plural);
  const first = plurals.sort()[0];
  return first === undefined ? undefined : `${what} with existing ${first}`;
}

function linkDeltas(db: Database, project: number, delta: number): QuotaDelta[] {
  const customer = db.scalar<number>(sql`SELECT customer_id FROM project WHERE id = ${project}`);
  const name = 'nc_service_project_link_count';
  return [
    { scope: 'customer', id: customer, name, delta },
    { scope: 'project', id: project, name, delta },
  ];
}

const typeOfSettings = ({ app: { catalogue, db } }: Context, settings: number): ProviderType =>
  catalogue.type(db.scalar<string>(sql`SELECT type FROM service_settings WHERE id = ${settings}`));
