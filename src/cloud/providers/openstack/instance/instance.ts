import type { Context } from '../../../../kernel/access/context.ts';
import type { Request } from '../../../../kernel/access/request.ts';
import { newUuid } from '../../../../kernel/app.ts';
import { optional, readOnlyList, writeOnly } from '../../../../kernel/collection/field.ts';
import { type Filter, textFilter } from '../../../../kernel/collection/filter.ts';
import { exampleLink } from '../../../../kernel/collection/json-schema.ts';
import {
  computedValue,
  linkValue,
  listValue,
  notNullText,
  numberValue,
  objectValue,
  plainValue,
  textValue,
} from '../../../../kernel/collection/representation.ts';
import { integer, orNull } from '../../../../kernel/collection/values.ts';
import { raw, sql } from '../../../../kernel/db/sql.ts';
import { invalid, invalidRequest } from '../../../../kernel/http/error.ts';
import type { PlainValues } from '../../../catalogue/driver.ts';
import { type ResourceRow, stateValue } from '../../../catalogue/resource-row.ts';
import {
  type AttachedResource,
  type CreationPlan,
  type FailedOperation,
  type NewResource,
  type ResourceLocation,
  resourceKind,
} from '../../../catalogue/type.ts';
import { noteUploadedKey } from '../../../people/uploaded-keys.ts';
import { type Property, propertyInSet, propertyLink } from '../../../properties/property.ts';
import { scheduleDeletion } from '../../../resources/changes.ts';
import { detail, relatedList, shownDetail } from '../../../resources/details.ts';
import { changeResource, failCreation, removeResource } from '../../../resources/resource-store.ts';
import { largestVolume, smallestVolume } from '../mapping/values.ts';
import {
  belowTenant,
  chosenTenant,
  chosenTenantFields,
  detailOf,
  importIntoTenant,
  tenantFilters,
  tenantOfItem,
} from '../tenancy/tenancy.ts';
import { instanceActions } from './actions.ts';
import {
  addressesOf,
  floatingIpsField,
  groupsOf,
  internalIpsField,
  securityGroupsField,
  subnetParameter,
  subnetsOf,
} from './network.ts';

const fields = {
  ...chosenTenantFields('Default: the private cloud of the subnets, or the only one that is ready.'),
  flavor: propertyLink('OpenStack.Flavor', 'openstack-flavors', { displayName: 'display_name' }),
  image: propertyLink('OpenStack.Image', 'openstack-images'),
  system_volume_size: writeOnly(
    integer({
      min: smallestVolume,
      max: largestVolume,
      required: true,
      update: false,
      help: 'Size of the system volume in MiB.',
    }),
  ),
  data_volume_size: writeOnly(
    orNull(
      integer({
        min: smallestVolume,
        max: largestVolume,
        update: false,
        help: 'Size of the data volume in MiB; absent: none.',
      }),
    ),
  ),
  security_groups: optional(securityGroupsField),
  internal_ips_set: optional(internalIpsField),
  floating_ips: optional(floatingIpsField),
  volumes: readOnlyList(
    listValue(
      objectValue({
        url: linkValue('openstack-volumes', 'x.uuid'),
        uuid: plainValue('x.uuid'),
        name: notNullText('x.name'),
        image_name: textValue('x.image_name'),
        state: stateValue('x.state'),
        bootable: computedValue(`ifnull(x.details -> '$.bootable', 'false')`, { type: 'boolean' }),
        size: numberValue('x.size'),
        device: computedValue(`ifnull(x.details -> '$.device', '""')`, { type: 'string' }),
        resource_type: plainValue('x.kind'),
      }),
      `resource x WHERE x.kind = 'OpenStack.Volume' AND x.instance_id = r.id`,
      'x.id',
    ),
  ),
  flavor_name: shownDetail('flavor_name', { type: 'string' }, '""'),
  flavor_disk: shownDetail('flavor_disk', { type: 'integer' }, '0'),
};

type NewInstance = NewResource<typeof fields>;

function chosenProperties(
  request: Request,
  input: NewInstance,
  settings: number,
): { flavor: Property; image: Property } {
  const flavor = propertyInSet(request, input.flavor, settings);
  const image = propertyInSet(request, input.image, settings);
  if (!flavor || !image)
    throw invalidRequest('Flavor and image must belong to the same service settings as service project link.');
  if (Number(image.values.min_ram) > Number(flavor.values.ram))
    throw invalid({ flavor: [`RAM of flavor is not enough for selected image ${image.values.min_ram}`] });
  const minimum = Number(image.values.min_disk);
  if (input.system_volume_size < minimum)
    throw invalid({ system_volume_size: [`System volume size has to be greater than ${minimum}`] });
  return { flavor, image };
}

/** The volumes that are created with an instance. */
function volumesOf({ app }: Request, input: NewInstance, tenant: ResourceRow, image: Property): AttachedResource[] {
  const volume = (suffix: string, size: number, values: PlainValues): AttachedResource => ({
    kind: 'OpenStack.Volume',
    uuid: newUuid(app),
    values: {
      name: `${input.name.slice(0, 150 - suffix.length - 1)}-${suffix}`,
      size,
      parent_id: tenant.id,
      tenant_backend_id: tenant.backend_id,
      ...values,
    },
  });
  return [
    volume('system', input.system_volume_size, { bootable: true, image: image.backend_id, image_name: image.name }),
    ...(input.data_volume_size ? [volume('data', input.data_volume_size, { bootable: false })] : []),
  ];
}

function accept(request: Request, input: NewInstance, place: ResourceLocation): CreationPlan {
  const tenant = chosenTenant(request, input, place);
  const { flavor, image } = chosenProperties(request, input, place.settings);
  const groups = groupsOf(tenant, input.security_groups);
  const subnets = subnetsOf(request, tenant, input.internal_ips_set);
  const addresses = addressesOf(request, tenant, input.floating_ips, new Set(subnets.map(({ backend_id: id }) => id)));
  const volumes = volumesOf(request, input, tenant, image);
  return {
    row: {
      parent_id: tenant.id,
      tenant_backend_id: tenant.backend_id,
      cores: flavor.values.cores,
      ram: flavor.values.ram,
      disk: input.system_volume_size + (input.data_volume_size ?? 0),
      min_ram: image.values.min_ram,
      min_disk: image.values.min_disk,
      image_name: image.name,
      flavor: flavor.backend_id,
      flavor_name: flavor.name,
      flavor_disk: flavor.values.disk,
      security_groups: groups,
      internal_ips_set: subnets.map(({ backend_id: subnet }) => ({ subnet })),
    },
    attached: [...volumes, ...addresses.attached],
    parameters: {
      flavor: flavor.backend_id,
      image: image.backend_id,
      volumes: volumes.map(({ uuid, values: own }) => ({ uuid, ...own })),
      subnets: subnets.map(subnetParameter),
      floating_ips: addresses.parameters,
      taken: addresses.taken.map(({ id }) => id),
      availability_zone: detailOf<string>(tenant, 'availability_zone') ?? '',
    },
    afterInsert: (id) => {
      if (typeof input.ssh_public_key === 'number') noteUploadedKey(request, place.settings, input.ssh_public_key);
      for (const address of addresses.taken) changeResource(request, address, { instance_id: id });
    },
  };
}

const rowsOf = ({ app: { db } }: Context, kind: string, instance: ResourceRow): ResourceRow[] =>
  db.all<ResourceRow>(sql`SELECT * FROM resource WHERE kind = ${kind} AND instance_id = ${instance.id} ORDER BY id`);

const isBeingCreated = ({ state }: ResourceRow): boolean => state === 'Creation Scheduled' || state === 'Creating';

/** Updates the volumes and floating IPs of a failed operation (providers.md 4.8). */
function onFailure(context: Context, instance: ResourceRow, { operation, parameters, text }: FailedOperation): void {
  if (operation === 'create') {
    for (const volume of rowsOf(context, 'OpenStack.Volume', instance)) {
      if (volume.state === 'Creation Scheduled') removeResource(context, volume);
      else if (volume.state === 'Creating') failCreation(context, volume, text);
    }
  }
  const takenAddresses: readonly unknown[] = Array.isArray(parameters.taken) ? parameters.taken : [];
  for (const address of rowsOf(context, 'OpenStack.FloatingIP', instance)) {
    if (isBeingCreated(address)) removeResource(context, address);
    else if (takenAddresses.includes(address.id)) changeResource(context, address, { instance_id: null });
  }
}

/** Releases volumes and floating IPs when the instance's row is removed. Without a deletion they stay, unless they were being created with it. */
function onRemoval(context: Context, instance: ResourceRow, deletion: PlainValues | undefined, isGone: boolean): void {
  for (const volume of rowsOf(context, 'OpenStack.Volume', instance)) {
    const isRemoved = deletion
      ? deletion.delete_volumes || JSON.parse(volume.details).bootable
      : isBeingCreated(volume);
    // An instance that was never created is not deleted at the provider, so the volume still exists there.
    if (isRemoved && deletion && instance.backend_id === '' && volume.backend_id !== '')
      scheduleDeletion(context, changeResource(context, volume, { instance_id: null }));
    else if (isRemoved) removeResource(context, volume, { isGone, ...(deletion && { deletion }) });
    else if (deletion)
      changeResource(context, volume, {
        instance_id: null,
        instance_backend_id: '',
        runtime_state: 'available',
        device: '',
      });
  }
  for (const address of rowsOf(context, 'OpenStack.FloatingIP', instance)) {
    if (isBeingCreated(address) || deletion?.release_floating_ips) removeResource(context, address, { isGone });
    else if (deletion)
      changeResource(context, address, {
        instance_id: null,
        instance_backend_id: '',
        runtime_state: 'DOWN',
        subnet: null,
      });
  }
}

function deletionDenialReason(
  { db, query }: Request,
  { id, runtime_state: runtime, state }: ResourceRow,
): string | undefined {
  if (state !== 'Erred') {
    if (runtime === 'ACTIVE') return 'Please stop the instance before its removal.';
    if (state !== 'OK' || runtime !== 'SHUTOFF')
      return 'Instance should be shutoff and OK or erred. Please contact support.';
  }
  if (query.boolean('delete_volumes') === false) return undefined;
  const snapshot = db.value(sql`
    SELECT 1 FROM resource s
    JOIN resource v ON v.settings_id = s.settings_id AND v.kind = 'OpenStack.Volume'
      AND v.backend_id = ${raw(detail('source_volume', 's'))} AND v.backend_id <> ''
    WHERE s.kind = 'OpenStack.Snapshot' AND v.instance_id = ${id}`);
  return snapshot === undefined ? undefined : 'Cannot delete instance. One of its volumes has attached snapshot.';
}

/** Filters by an address in a JSON array. */
const hasAddress = (column: string): Filter =>
  textFilter(
    'One of the addresses.',
    (address) => sql`EXISTS (SELECT 1 FROM json_each(${raw(column)}) WHERE value = ${address})`,
  );

/** OpenStack.Instance (providers.md 4.5) */
export const instance = resourceKind({
  ...belowTenant,
  name: 'Instance',
  path: 'openstack-instances',
  examples: {
    name: 'web-1',
    create: {
      tenant: exampleLink('openstack-tenants'),
      flavor: exampleLink('openstack-flavors'),
      image: exampleLink('openstack-images'),
      system_volume_size: 20_480,
      data_volume_size: 51_200,
      security_groups: [{ url: exampleLink('openstack-security-groups') }],
      ssh_public_key: exampleLink('keys'),
    },
  },
  plural: 'instances',
  category: 'vms',
  isVirtualMachine: true,
  runtime: { online: 'ACTIVE', offline: 'SHUTOFF', failed: ['ERROR'] },
  fields,
  related: relatedList('OpenStack.Volume', 'openstack-volumes', 'x.instance_id = r.id'),
  filters: { ...tenantFilters, external_ip: hasAddress('r.external_ips'), internal_ip: hasAddress('r.internal_ips') },
  orderings: { flavor_name: `ifnull(${detail('flavor_name')}, '')` },
  isCreatable: true,
  accept,
  quotaDeltas: ({ cores, ram }) => ({ link: { vcpu: cores, ram }, parent: { instances: 1, vcpu: cores, ram } }),
  onFailure,
  deletion: {
    onRemoval,
    denialReason: deletionDenialReason,
    flags: { delete_volumes: true, release_floating_ips: true },
  },
  actions: instanceActions,
  importing: {
    fields: ['cores', 'ram', 'disk', 'runtime_state', 'tenant_uuid'],
    item: tenantOfItem,
    accept: importIntoTenant,
  },
});
