import type { Request } from '../../../../kernel/access/request.ts';
import { optional, readOnly } from '../../../../kernel/collection/field.ts';
import { exampleLink } from '../../../../kernel/collection/json-schema.ts';
import { booleanValue, optionalLink, textValue } from '../../../../kernel/collection/representation.ts';
import { integer, withJson } from '../../../../kernel/collection/values.ts';
import { raw, sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../../catalogue/type.ts';
import { propertyInSet, propertyLink } from '../../../properties/property.ts';
import {
  detail,
  instanceFields,
  instanceFilters,
  instanceOrderings,
  relatedOfKinds,
  shownDetail,
  textMap,
} from '../../../resources/details.ts';
import { largestVolume, smallestVolume } from '../mapping/values.ts';
import {
  attachable,
  chosenTenant,
  chosenTenantFields,
  detailOf,
  importIntoTenant,
  relatedFilters,
  relatedLink,
  tenantFilters,
  tenantOfItem,
} from '../tenancy/tenancy.ts';
import { volumeActions } from './actions.ts';

const imageOfVolume = `(
  SELECT d.uuid FROM property d
  WHERE d.kind = 'OpenStack.Image' AND d.settings_id = r.settings_id AND d.backend_id = ${detail('image')})`;

const fields = {
  ...chosenTenantFields('Default: the only private cloud that is ready.'),
  size: integer({
    min: smallestVolume,
    max: largestVolume,
    required: true,
    update: false,
    help: 'In MiB.',
    example: 51_200,
  }),
  bootable: readOnly('boolean', { type: 'boolean' }, booleanValue(`ifnull(${detail('bootable')}, 0)`)),
  metadata: shownDetail('metadata', textMap, '{}'),
  image: withJson(optional(propertyLink('OpenStack.Image', 'openstack-images')), () =>
    optionalLink('openstack-images', imageOfVolume),
  ),
  image_name: readOnly('string', { type: 'string' }, textValue('r.image_name')),
  image_metadata: shownDetail('image_metadata', textMap, '{}'),
  type: shownDetail('type', { type: 'string' }, '""'),
  device: shownDetail('device', { type: 'string' }, '""'),
  ...instanceFields('openstack-instances'),
  source_snapshot: relatedLink('OpenStack.Snapshot', 'openstack-snapshots', 'source_snapshot'),
};

function accept(request: Request, input: NewResource<typeof fields>, place: ResourceLocation): CreationPlan {
  const tenant = chosenTenant(request, input, place);
  const image = input.image === undefined ? undefined : propertyInSet(request, input.image, place.settings);
  if (input.image !== undefined && !image) throw invalid({ image: ['Invalid hyperlink - Object does not exist.'] });
  const minimum = Number(image?.values.min_disk ?? 0);
  if (input.size < minimum)
    throw invalid({ size: [`Volume size should be equal or greater than ${minimum} for selected image`] });
  return {
    row: {
      parent_id: tenant.id,
      tenant_backend_id: tenant.backend_id,
      size: input.size,
      bootable: image !== undefined,
      ...(image && { image: image.backend_id, image_name: image.name }),
    },
    parameters: { availability_zone: detailOf<string>(tenant, 'availability_zone') ?? '' },
  };
}

/** Runtime states in which a volume can be deleted, including unknown (empty). */
const deletable = ['available', 'error', 'error_restoring', 'error_extending'];

function deletionDenialReason({ db }: Request, volume: ResourceRow): string | undefined {
  const snapshot =
    volume.backend_id &&
    db.value(sql`
      SELECT 1 FROM resource s
      WHERE s.settings_id = ${volume.settings_id} AND s.kind = 'OpenStack.Snapshot'
        AND ${raw(detail('source_volume', 's'))} = ${volume.backend_id}`);
  if (snapshot) return 'Volume has dependent snapshots.';
  const isFree = volume.runtime_state === '' || deletable.includes(volume.runtime_state);
  return volume.state === 'OK' && !isFree ? `Valid runtime states for operation: ${deletable.join(', ')}.` : undefined;
}

/** OpenStack.Volume (providers.md 4.6) */
export const volume = resourceKind({
  ...attachable,
  name: 'Volume',
  path: 'openstack-volumes',
  examples: { name: 'database', create: { tenant: exampleLink('openstack-tenants'), size: 51_200 } },
  plural: 'volumes',
  category: 'storages',
  runtime: { failed: ['error', 'error_restoring', 'error_extending'] },
  fields,
  related: relatedOfKinds(
    { 'OpenStack.Instance': 'openstack-instances', 'OpenStack.Snapshot': 'openstack-snapshots' },
    `(x.id = r.instance_id OR (
      x.kind = 'OpenStack.Snapshot' AND x.settings_id = r.settings_id
      AND ${detail('source_volume', 'x')} = r.backend_id AND r.backend_id <> ''))`,
  ),
  filters: {
    ...tenantFilters,
    ...instanceFilters('openstack-instances'),
    ...relatedFilters('snapshot', 'OpenStack.Snapshot', 'openstack-snapshots', 'source_snapshot'),
  },
  orderings: { size: 'r.size', ...instanceOrderings },
  isCreatable: true,
  accept,
  quotaDeltas: ({ size }) => ({
    project: { nc_volume_count: 1, nc_volume_size: size },
    customer: { nc_volume_size: size },
    link: { storage: size },
    parent: { volumes: 1, storage: size, volumes_size: size },
  }),
  deletion: { denialReason: deletionDenialReason },
  actions: volumeActions,
  importing: { fields: ['size', 'runtime_state', 'tenant_uuid'], item: tenantOfItem, accept: importIntoTenant },
});
