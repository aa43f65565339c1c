import type { App } from '../../kernel/app.ts';
import { any, join, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BackendReference, Person } from '../catalogue/driver.ts';
import { isCallable } from '../catalogue/simulation.ts';

/*
 * Compares required and actual members of objects at providers (providers.md 2 "Members"). A comparison covers all changes: roles
 * start, end and expire, people leave or change their email address, projects move.
 */

/** A row of backend_member. */
export interface MemberRow {
  readonly email: string;
  readonly account: string;
  readonly state: 'asked' | 'added' | 'found' | 'refused';
}

/** The pending changes of the members of one resource. */
export interface Differences {
  readonly resource: number;
  readonly uuid: string;
  readonly object: BackendReference;
  /** Users to find at the provider and to add unless they are members. */
  readonly missing: readonly (Person & { readonly folded: string })[];
  /** The account to add, which was not a member before. */
  readonly requested: readonly MemberRow[];
  /** Members to remove, if this service added them. */
  readonly surplusMembers: readonly MemberRow[];
}

/** SQL of these resources with members at a real provider (`managed`), and of the users with a role (`holders`). */
const comparison = (catalogue: Catalogue, which: Sql): Sql => sql`
  WITH managed AS (
    SELECT r.id, r.uuid, r.settings_id, r.kind, r.backend_id, r.project_id, r.customer_id
    FROM resource r JOIN service_settings st ON st.id = r.settings_id
    WHERE ${which} AND ${isOfKind(catalogue)}
      AND r.backend_id <> '' AND r.state IN ('OK', 'Erred', 'Update Scheduled', 'Updating')
      AND ${isCallable}
  ), holders AS (
    SELECT m.id AS resource_id, p.user_id
    FROM managed m JOIN active_project_role p ON p.project_id = m.project_id
    UNION
    SELECT m.id, c.user_id
    FROM managed m JOIN active_customer_role c ON c.customer_id = m.customer_id AND c.role = 'owner'
  )`;

const withMembers = ({ kinds }: Catalogue): Catalogue['kinds'] => kinds.filter(({ kind }) => kind.hasMembers);

const isOfKind = (catalogue: Catalogue): Sql => any(withMembers(catalogue).map(({ name }) => sql`r.kind = ${name}`));

const mayBeMember: Sql = sql`u.is_active AND u.email <> ''`;

/** SQL of the users who should be members, with their known state. */
const wanted: Sql = sql`
  holders h JOIN user u ON u.id = h.user_id AND ${mayBeMember}
  LEFT JOIN backend_member b ON b.resource_id = h.resource_id AND b.email = u.email_folded`;

/** Condition: the state is unknown, or the provider rejected the user some time ago. */
const isMissing = (now: number): Sql => sql`(b.email IS NULL OR (b.state = 'refused' AND b.due <= ${now}))`;
const isRequestDue = (now: number): Sql => sql`(b.state = 'asked' AND b.due <= ${now})`;

/** SQL of the users who should no longer be members. */
const surplus = (now: number): Sql => sql`
  managed m JOIN backend_member b ON b.resource_id = m.id AND b.due <= ${now}
  WHERE NOT EXISTS (
    SELECT 1 FROM user u
    WHERE u.email_folded = b.email AND u.email_folded <> '' AND ${mayBeMember}
      AND (
        EXISTS (SELECT 1 FROM active_project_role WHERE project_id = m.project_id AND user_id = u.id)
        OR EXISTS (
          SELECT 1 FROM active_customer_role WHERE customer_id = m.customer_id AND user_id = u.id AND role = 'owner')))`;

/** Number of resources to compare at once. */
const resourcesPerBatch = 50;

interface Managed {
  readonly id: number;
  readonly uuid: string;
  readonly kind: string;
  readonly settings_id: number;
  readonly backend_id: string;
}

/** Returns the resources with member changes in the batch after this id, and the id for the next batch, if there is one. */
export function differing(
  { catalogue, db }: App,
  now: number,
  after: number,
): { readonly resources: readonly Managed[]; readonly last: number | undefined } {
  const kinds = withMembers(catalogue);
  const isNeeded =
    kinds.length > 0 && db.value(sql`SELECT 1 FROM service_settings st WHERE ${isCallable} LIMIT 1`) === 1;
  if (!isNeeded) return { resources: [], last: undefined };
  // Query each kind separately, because an index has the ids of a kind in order.
  const ofKinds = kinds.map(
    ({ kind, name }) =>
      sql`SELECT id FROM resource WHERE is_part = ${Number(kind.isPart ?? false)} AND kind = ${name} AND id > ${after}`,
  );
  const ids = db.values<number>(sql`${join(ofKinds, ' UNION ALL ')} ORDER BY id LIMIT ${resourcesPerBatch}`);
  const resources = db.all<Managed>(sql`
    ${comparison(catalogue, sql`r.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)}
    SELECT * FROM managed
    WHERE id IN (
      SELECT h.resource_id FROM ${wanted} WHERE ${isMissing(now)} OR ${isRequestDue(now)}
      UNION
      SELECT m.id FROM ${surplus(now)})`);
  return { resources, last: ids.length === resourcesPerBatch ? ids.at(-1) : undefined };
}

/** Returns the pending member changes of a resource; undefined if there are none, or if it has no members. */
export function differencesOf({ catalogue, db }: App, resource: number, now: number): Differences | undefined {
  const of = comparison(catalogue, sql`r.id = ${resource}`);
  const managed = db.get<Managed>(sql`${of} SELECT * FROM managed`);
  if (!managed) return undefined;
  const missing = db.all<Differences['missing'][number]>(sql`
    ${of} SELECT u.email_folded AS folded, u.email, u.username, u.full_name FROM ${wanted} WHERE ${isMissing(now)}
    ORDER BY folded`);
  const requested = db.all<MemberRow>(sql`
    ${of} SELECT b.email, b.account, b.state FROM ${wanted} WHERE ${isRequestDue(now)} ORDER BY b.email`);
  const surplusMembers = db.all<MemberRow>(sql`
    ${of} SELECT b.email, b.account, b.state FROM ${surplus(now)} ORDER BY b.email`);
  if (missing.length + requested.length + surplusMembers.length === 0) return undefined;
  const { backend_id, id, kind, uuid } = managed;
  const object = { kind: catalogue.kind(kind).kind.name, backend_id };
  return { resource: id, uuid, object, missing, requested, surplusMembers };
}
