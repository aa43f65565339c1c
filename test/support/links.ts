import { changeQuota, countQuotas, createQuotas, type QuotaRow, quotaOf } from '../../src/activity/quotas/usage.ts';
import { type Context, systemContext } from '../../src/kernel/access/context.ts';
import { newUuid } from '../../src/kernel/app.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import type { Fixture, Json } from './fixture.ts';

/** Quotas of a link, by name: limit and usage. */
export type LinkQuotas = Readonly<Record<string, { readonly limit?: number; readonly usage?: number }>>;

/** The context of a change, at the fixture's current time. */
export const contextOf = ({ server }: Fixture): Context => systemContext(server.app);

/** Returns the row id of a representation. */
export const idOf = ({ server }: Fixture, table: 'customer' | 'project', { uuid }: Json): number =>
  server.app.db.value<number>(
    table === 'customer'
      ? sql`SELECT id FROM customer WHERE uuid = ${uuid}`
      : sql`SELECT id FROM project WHERE uuid = ${uuid}`,
  ) as number;

/** Commits the writes of `work`. */
export function change<T>({ server }: Fixture, work: () => T): T {
  const result = server.app.db.write(work);
  server.app.db.commit();
  return result;
}

/** Creates service settings, shared unless they have a customer. Returns id and uuid. */
export function settings(fixture: Fixture, name: string, customer?: Json): { id: number; uuid: string } {
  const context = contextOf(fixture);
  return change(fixture, () => {
    const uuid = newUuid(context.app);
    const id = context.app.db.insert('service_settings', {
      uuid,
      name,
      type: 'OpenStack',
      shared: customer ? 0 : 1,
      customer_id: customer ? idOf(fixture, 'customer', customer) : null,
      created: context.now,
    });
    return { id, uuid };
  });
}

/** Links a project to a new service of its customer, with these quotas. Returns the id of the link. */
export function link(fixture: Fixture, project: Json, quotas: LinkQuotas = {}): number {
  const context = contextOf(fixture);
  const { db } = context.app;
  const { id: settingsId } = settings(fixture, 'Provider');
  const projectId = idOf(fixture, 'project', project);
  const customer = db.value<number>(sql`SELECT customer_id FROM project WHERE id = ${projectId}`) as number;
  return change(fixture, () => {
    const service = db.insert('service', {
      uuid: newUuid(context.app),
      customer_id: customer,
      settings_id: settingsId,
    });
    const id = db.insert('service_project_link', {
      uuid: newUuid(context.app),
      service_id: service,
      project_id: projectId,
    });
    createQuotas(context, 'link', id, Object.keys(quotas));
    for (const [name, { limit = -1, usage = 0 }] of Object.entries(quotas))
      changeQuota(context, quotaOf(db, 'link', id, name) as QuotaRow, { limit, usage });
    countQuotas(context, [
      { scope: 'customer', id: customer, name: 'nc_service_count', delta: 1 },
      { scope: 'customer', id: customer, name: 'nc_service_project_link_count', delta: 1 },
      { scope: 'project', id: projectId, name: 'nc_service_project_link_count', delta: 1 },
    ]);
    return id;
  });
}

/** Sets the limit or usage of a quota of a link, customer or project. */
export function setQuota(
  fixture: Fixture,
  scope: 'link' | 'customer' | 'project' | 'settings',
  id: number,
  name: string,
  to: Partial<Pick<QuotaRow, 'limit' | 'usage' | 'threshold'>>,
): void {
  const context = contextOf(fixture);
  change(fixture, () => changeQuota(context, quotaOf(context.app.db, scope, id, name) as QuotaRow, to));
}
