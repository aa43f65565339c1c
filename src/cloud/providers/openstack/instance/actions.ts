import type { Request } from '../../../../kernel/access/request.ts';
import type { NewValues } from '../../../../kernel/collection/field.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type ActionPlan, type ResourceAction, resourceAction } from '../../../catalogue/type.ts';
import { propertyInSet, propertyLink } from '../../../properties/property.ts';
import { detailsOf } from '../../../resources/resource.ts';
import { changeResource } from '../../../resources/resource-store.ts';
import { sizeOf } from '../mapping/values.ts';
import { detailOf, tenantOf } from '../tenancy/tenancy.ts';
import {
  addressesOf,
  attachedAddresses,
  floatingIpsField,
  groupsOf,
  internalIpsField,
  securityGroupsField,
  subnetParameter,
  subnetsOf,
} from './network.ts';

const flavorFields = { flavor: propertyLink('OpenStack.Flavor', 'openstack-flavors', { displayName: 'display_name' }) };
const groupFields = { security_groups: securityGroupsField };
const internalIpFields = { internal_ips_set: internalIpsField };
const floatingIpFields = { floating_ips: floatingIpsField };

function acceptFlavor(request: Request, instance: ResourceRow, values: NewValues<typeof flavorFields>): ActionPlan {
  const flavor = propertyInSet(request, values.flavor, instance.settings_id);
  if (!flavor) throw invalid({ flavor: ['New flavor is not within the same service settings'] });
  const { flavor: currentFlavor, flavor_disk: currentDisk, flavor_name: currentName } = detailsOf(instance);
  if (currentFlavor === undefined ? currentName === flavor.name : currentFlavor === flavor.backend_id)
    throw invalid({ flavor: ['New flavor is the same as current.'] });
  const { cores, disk, ram } = sizeOf(flavor);
  if (disk < Number(currentDisk ?? 0))
    throw invalid({ flavor: ['New flavor disk should be greater than the previous value'] });
  const added = { vcpu: cores - instance.cores, ram: ram - instance.ram };
  return {
    parameters: { flavor: flavor.backend_id, flavor_name: flavor.name, flavor_disk: disk, cores, ram },
    quotaDeltas: { link: added, parent: added },
  };
}

const acceptGroups = (
  request: Request,
  instance: ResourceRow,
  { security_groups: groups }: NewValues<typeof groupFields>,
): ActionPlan => ({ parameters: { security_groups: groupsOf(tenantOf(request, instance), groups) } });

function acceptInternalIps(
  request: Request,
  instance: ResourceRow,
  { internal_ips_set: requested }: NewValues<typeof internalIpFields>,
): ActionPlan {
  const subnets = subnetsOf(request, tenantOf(request, instance), requested);
  return { parameters: { subnets: subnets.map(subnetParameter) } };
}

function acceptFloatingIps(
  request: Request,
  instance: ResourceRow,
  { floating_ips: requested }: NewValues<typeof floatingIpFields>,
): ActionPlan {
  const connected = new Set(
    (detailOf<readonly { subnet: string }[]>(instance, 'internal_ips_set') ?? []).map(({ subnet }) => subnet),
  );
  const chosen = addressesOf(request, tenantOf(request, instance), requested, connected, instance);
  const currentIds = attachedAddresses(request, instance).map(({ backend_id: id }) => id);
  return {
    parameters: {
      floating_ips: chosen.parameters,
      freed: currentIds.filter((id) => !chosen.parameters.some(({ backend_id: stored }) => stored === id)),
      taken: chosen.taken.map(({ id }) => id),
    },
    attached: chosen.attached,
    onAccepted: () => {
      for (const address of chosen.taken) changeResource(request, address, { instance_id: instance.id });
    },
  };
}

/** Actions of an instance (providers.md 4.5). */
export const instanceActions: readonly ResourceAction[] = [
  {
    name: 'start',
    runtimeStates: ['SHUTOFF'],
    denialReason: (_request, { runtime_state: state }) =>
      state === 'ACTIVE' ? 'Instance is already active.' : undefined,
    response: { status: 'start was scheduled' },
  },
  {
    name: 'stop',
    runtimeStates: ['ACTIVE'],
    denialReason: (_request, { runtime_state: state }) =>
      state === 'SHUTOFF' ? 'Instance is already stopped.' : undefined,
    response: { status: 'stop was scheduled' },
  },
  {
    name: 'restart',
    denialReason: (_request, { runtime_state: state }) =>
      state === 'ACTIVE' ? undefined : 'Please start instance first.',
    response: { status: 'restart was scheduled' },
  },
  resourceAction({
    name: 'change_flavor',
    fields: flavorFields,
    denialReason: (_request, { runtime_state: state }) =>
      state === 'SHUTOFF' ? undefined : 'Please stop the instance before changing its flavor.',
    accept: acceptFlavor,
    response: { status: 'change_flavor was scheduled' },
  }),
  resourceAction({
    name: 'update_security_groups',
    fields: groupFields,
    accept: acceptGroups,
    response: { status: 'security groups update was scheduled' },
  }),
  resourceAction({
    name: 'update_internal_ips_set',
    fields: internalIpFields,
    accept: acceptInternalIps,
    response: { status: 'internal ips update was scheduled' },
  }),
  resourceAction({
    name: 'update_floating_ips',
    fields: floatingIpFields,
    accept: acceptFloatingIps,
    response: { status: 'floating ips update was scheduled' },
  }),
];
