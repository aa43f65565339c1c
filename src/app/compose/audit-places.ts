import type { AuditPlaces } from '../../activity/audit/append.ts';
import type { EventContext, ScopeKind } from '../../activity/scopes/scope.ts';
import type { Scopes } from '../../activity/scopes/scopes.ts';
import type { AuditDraft, AuditRow } from '../../kernel/access/audit-draft.ts';
import type { App } from '../../kernel/app.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';

/** The columns that lead from a row to its customer and project. */
interface Columns {
  readonly uuid?: unknown;
  readonly customer_id?: unknown;
  readonly project_id?: unknown;
  readonly link_id?: unknown;
  readonly service_id?: unknown;
  readonly settings_id?: unknown;
  readonly scope_kind?: unknown;
  readonly scope_id?: unknown;
}

interface Places {
  readonly customers: string[];
  readonly projects: string[];
}

function add(uuids: string[], uuid: string): void {
  if (!uuids.includes(uuid)) uuids.push(uuid);
}

/** Returns the customers and projects of the events or, if they name none, of the changed rows. A moved object has both sides. */
export function placesOf(app: App, draft: AuditDraft): AuditPlaces {
  const { contexts, object, rows } = draft;
  const places: Places = { customers: [], projects: [] };
  for (const context of contexts) addKeys(places, context);
  if (places.customers.length + places.projects.length > 0 && rows.length < 2) return places;
  for (const row of rows) placeRow(app, places, row);
  if (rows.length > 0 || !object) return places;
  // For paths below an object whose collection reported no row.
  const scope = app.scopes.ofPath(object.type)?.scope;
  const id = scope && app.db.value<number>(sql`SELECT id FROM ${raw(scope.table)} WHERE uuid = ${object.uuid}`);
  if (scope && id !== undefined) placeRow(app, places, { table: scope.table, id });
  return places;
}

function addKeys({ customers, projects }: Places, keys: EventContext): void {
  const { customer_uuid: customer, project_uuid: project } = keys;
  if (typeof customer === 'string') add(customers, customer);
  if (typeof project === 'string') add(projects, project);
}

/** The tables whose rows have a customer or project, or are one. */
const placedTables = memoised(
  ({ db }: App) =>
    new Set(
      db.values<string>(sql`
        SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND c.name IN ('customer_id', 'project_id', 'link_id', 'service_id', 'settings_id', 'scope_id')
        UNION VALUES ('customer'), ('project')`),
    ),
);

function placeRow(app: App, places: Places, { id, row, table }: AuditRow): void {
  const { db, scopes } = app;
  if (!placedTables(app).has(table)) return;
  const columns: Columns | undefined = row ?? db.get(sql`SELECT * FROM ${raw(table)} WHERE id = ${id}`);
  if (!columns) return;
  if (table === 'customer' && typeof columns.uuid === 'string') add(places.customers, columns.uuid);
  if (table === 'project' && typeof columns.uuid === 'string') add(places.projects, columns.uuid);
  addParents(db, places, columns);
  const { scope_id: scope, scope_kind: kind } = columns;
  if (typeof scope === 'number' && isScopeKind(scopes, kind)) addKeys(places, scopes.of(kind).own(db, scope));
}

/** Adds the customer and project that columns name, directly or by a service, its settings or its link. */
function addParents(db: Database, places: Places, columns: Columns): void {
  const {
    customer_id: customer,
    link_id: link,
    project_id: project,
    service_id: service,
    settings_id: settings,
  } = columns;
  if (typeof project === 'number') {
    const row = db.get<{ uuid: string; customer: string }>(sql`
      SELECT p.uuid, c.uuid AS customer FROM project p JOIN customer c ON c.id = p.customer_id WHERE p.id = ${project}`);
    if (row) {
      add(places.projects, row.uuid);
      add(places.customers, row.customer);
    }
  }
  if (typeof customer === 'number') addCustomer(db, places, customer);
  if (typeof customer === 'number' || typeof project === 'number') return;
  const parent = (
    [
      [link, 'service_project_link'],
      [service, 'service'],
      [settings, 'service_settings'],
    ] as const
  ).find(([id]) => typeof id === 'number');
  if (!parent) return;
  const above = db.get<Columns>(sql`SELECT * FROM ${raw(parent[1])} WHERE id = ${Number(parent[0])}`);
  if (above) addParents(db, places, above);
}

function addCustomer(db: Database, places: Places, id: number): void {
  const uuid = db.value<string>(sql`SELECT uuid FROM customer WHERE id = ${id}`);
  if (uuid !== undefined) add(places.customers, uuid);
}

const isScopeKind = (scopes: Scopes, kind: unknown): kind is ScopeKind =>
  scopes.entries.some(([name]) => name === kind);
