import type { Context } from '../../../../kernel/access/context.ts';
import type { Request } from '../../../../kernel/access/request.ts';
import { minute } from '../../../../kernel/clock.ts';
import { type NewValues, readOnly, readOnlyList } from '../../../../kernel/collection/field.ts';
import { listValue, numberValue, textValue, timeValue } from '../../../../kernel/collection/representation.ts';
import { nonBlankName } from '../../../../kernel/collection/rules.ts';
import { text } from '../../../../kernel/collection/values.ts';
import { raw, sql } from '../../../../kernel/db/sql.ts';
import type { Task } from '../../../../kernel/jobs/timer.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { resourceAction, resourceKind } from '../../../catalogue/type.ts';
import { scheduleDeletion } from '../../../resources/changes.ts';
import { makeResource } from '../../../resources/creation.ts';
import { detail, relatedItem, relatedList, shownDetail, textMap } from '../../../resources/details.ts';
import {
  belowTenant,
  detailOf,
  related,
  relatedFilters,
  relatedLink,
  tenantFields,
  tenantFilters,
} from '../tenancy/tenancy.ts';

const volumePath = 'openstack-volumes';
const volumeName = related('OpenStack.Volume', 'source_volume', 'name');

const fields = {
  ...tenantFields,
  source_volume: relatedLink('OpenStack.Volume', volumePath, 'source_volume'),
  source_volume_name: readOnly('string', { type: ['string', 'null'] }, textValue(volumeName)),
  size: readOnly('integer', { type: 'integer' }, numberValue('r.size')),
  metadata: shownDetail('metadata', textMap, '{}'),
  restorations: readOnlyList(
    listValue(
      relatedItem(volumePath),
      // The plus removes the column's affinity: details have none, and the index is used only if both sides agree.
      `resource x
        WHERE x.kind = 'OpenStack.Volume' AND x.settings_id = r.settings_id
          AND ${detail('source_snapshot', 'x')} = +r.backend_id AND r.backend_id <> ''`,
      'x.id',
    ),
  ),
  kept_until: readOnly('datetime', { type: ['string', 'null'], format: 'date-time' }, timeValue(detail('kept_until'))),
};

const restoreFields = { name: nonBlankName('database-restored'), description: text({ max: 500, lines: 'many' }) };

function restore(
  request: Request,
  snapshot: ResourceRow,
  { description, name }: NewValues<typeof restoreFields>,
): ResourceRow {
  return makeResource(request, 'OpenStack.Volume', snapshot, {
    row: {
      name,
      description,
      size: snapshot.size,
      parent_id: snapshot.parent_id,
      tenant_backend_id: detailOf(snapshot, 'tenant_backend_id'),
      source_snapshot: snapshot.backend_id,
      bootable: false,
    },
  });
}

const deletedAtOnce = 20;

/** Deletes expired snapshots in batches. Returns whether more may be left. */
function deleteOutdated(context: Context): boolean {
  const { db } = context.app;
  const outdated = db.all<ResourceRow>(sql`
    SELECT r.* FROM resource r
    WHERE r.kind = 'OpenStack.Snapshot' AND r.state IN ('OK', 'Erred')
      AND ${raw(detail('kept_until'))} <= ${context.now}
    LIMIT ${deletedAtOnce}`);
  for (const snapshot of outdated) scheduleDeletion(context, snapshot);
  return outdated.length === deletedAtOnce;
}

export const deleteOutdatedSnapshots: Task = {
  name: 'delete outdated snapshots',
  every: minute,
  removes: true,
  run: (context) => context.app.db.write(() => deleteOutdated(context)),
};

/** OpenStack.Snapshot (providers.md 4.6) */
export const snapshot = resourceKind({
  ...belowTenant,
  name: 'Snapshot',
  path: 'openstack-snapshots',
  examples: { name: 'database-before-upgrade' },
  plural: 'snapshots',
  category: 'storages',
  runtime: { failed: ['error'] },
  fields,
  related: relatedList(
    'OpenStack.Volume',
    volumePath,
    `x.settings_id = r.settings_id AND x.backend_id = ${detail('source_volume')} AND x.backend_id <> ''`,
  ),
  lists: [
    {
      name: 'restorations',
      kind: 'OpenStack.Volume',
      condition: (row) =>
        sql`
          r.settings_id = ${row.settings_id}
          AND ${raw(detail('source_snapshot'))} = ${row.backend_id} AND ${row.backend_id} <> ''`,
    },
  ],
  filters: { ...tenantFilters, ...relatedFilters('source_volume', 'OpenStack.Volume', volumePath, 'source_volume') },
  orderings: { size: 'r.size', source_volume_name: `ifnull(${volumeName}, '') COLLATE NOCASE` },
  isCreatable: false,
  quotaDeltas: ({ size }) => ({
    project: { nc_snapshot_count: 1, nc_snapshot_size: size },
    customer: { nc_snapshot_size: size },
    link: { storage: size },
    parent: { snapshots: 1, storage: size, snapshots_size: size },
  }),
  actions: [
    resourceAction({ name: 'restore', fields: restoreFields, make: restore, makes: 'OpenStack.Volume', response: {} }),
  ],
});
