import type { Context } from '../../kernel/access/context.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import { knownResource } from './resource.ts';
import { insertResource } from './resource-store.ts';

interface Found {
  readonly kind: string;
  readonly backend_id: string;
  readonly name: string;
  /** JSON */
  readonly values: string;
}

/**
 * Adds rows for parts that the last synchronisation found in managed resources, without an import. `parent` limits this to the
 * parts of one resource. Adds at most a fixed number at once. Returns the number of added rows.
 */
export function importParts(
  context: Context,
  { parent, settings }: { readonly settings: number; readonly parent?: number },
  atMost = -1,
): number {
  const { catalogue, db } = context.app;
  let creation = 0;
  const type = db.value<string>(sql`SELECT type FROM service_settings WHERE id = ${settings}`);
  for (const { kind, name } of catalogue.kinds.filter((typed) => typed.kind.isPart && typed.type.name === type)) {
    const belongsTo = kind.references?.parent_id;
    if (!belongsTo) continue;
    const unknown = db.all<Found & { parent: number }>(sql`
      SELECT i.kind, i.backend_id, i.name, i."values", p.id AS parent
      FROM inventory i
        JOIN resource p ON p.settings_id = i.settings_id AND p.kind = ${belongsTo.kind}
          AND p.backend_id = i."values" ->> ${belongsTo.value} AND p.backend_id <> ''
      WHERE i.settings_id = ${settings} AND i.kind = ${name} AND p.state IN ('OK', 'Erred')
        AND (${parent ?? null} IS NULL OR p.id = ${parent ?? null})
        AND NOT EXISTS (
          SELECT 1 FROM resource r
          WHERE r.settings_id = i.settings_id AND r.kind = i.kind AND r.backend_id = i.backend_id)
        AND NOT EXISTS (
          SELECT 1 FROM resource r
          WHERE r.settings_id = i.settings_id AND r.kind = i.kind AND r.backend_id = ''
            AND r.parent_id = p.id AND r.state IN ('Creation Scheduled', 'Creating'))
      LIMIT ${atMost < 0 ? -1 : atMost - creation}`);
    for (const existing of unknown) importDiscovered(context, existing, existing.parent);
    creation += unknown.length;
  }
  return creation;
}

function importDiscovered(context: Context, { backend_id, kind, name, values }: Found, parent: number): void {
  const of = knownResource(context.app.db, parent);
  const { created: _, ...known }: PlainValues = JSON.parse(values);
  insertResource(context, {
    kind,
    link: of.link_id,
    service: of.service_id,
    settings: of.settings_id,
    project: of.project_id,
    customer: of.customer_id,
    state: 'OK',
    values: { ...known, name, backend_id, parent_id: parent },
  });
}
