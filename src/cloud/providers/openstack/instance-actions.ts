import type { Request } from '../../../kernel/access/request.ts';
import type { Fields, Values } from '../../../kernel/collection/field.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import type { ActionAcceptance, ResourceAction } from '../../catalogue/type.ts';
import { propertyInSet, propertyLink } from '../../properties/property.ts';
import { detailsOf } from '../../resources/resource.ts';
import { changeResource } from '../../resources/rows.ts';
import {
  type AskedAddress,
  addressesOf,
  attachedAddresses,
  floatingIpsField,
  groupsOf,
  internalIpsField,
  securityGroupsField,
  subnetParameter,
  subnetsOf,
} from './instance-network.ts';
import { detailOf, tenantOf } from './tenancy.ts';

const flavorField: Fields = {
  flavor: propertyLink('OpenStack.Flavor', 'openstack-flavors', { required: true, displayName: 'display_name' }),
};

function acceptFlavor(request: Request, instance: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const flavor = propertyInSet(request, (values as unknown as { flavor: number }).flavor, instance.settings_id);
  if (!flavor) throw invalid({ flavor: ['New flavor is not within the same service settings'] });
  const { flavor: present, flavor_disk: presentDisk, flavor_name: presentName } = detailsOf(instance);
  if (present === undefined ? presentName === flavor.name : present === flavor.backend_id)
    throw invalid({ flavor: ['New flavor is the same as current.'] });
  const { cores, disk, ram } = flavor.values as Record<'cores' | 'disk' | 'ram', number>;
  if (disk < Number(presentDisk ?? 0))
    throw invalid({ flavor: ['New flavor disk should be greater than the previous value'] });
  const added = { vcpu: cores - instance.cores, ram: ram - instance.ram };
  return {
    parameters: { flavor: flavor.backend_id, flavor_name: flavor.name, flavor_disk: disk, cores, ram },
    demands: { link: added, parent: added },
  };
}

const acceptGroups = (request: Request, instance: ResourceRow, values: Values<Fields>): ActionAcceptance => ({
  parameters: {
    security_groups: groupsOf(
      tenantOf(request, instance),
      (values as unknown as { security_groups: readonly ResourceRow[] }).security_groups,
    ),
  },
});

function acceptInternalIps(request: Request, instance: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const subnets = subnetsOf(
    request,
    tenantOf(request, instance),
    (values as unknown as { internal_ips_set: readonly ResourceRow[] }).internal_ips_set,
  );
  return { parameters: { subnets: subnets.map(subnetParameter) } };
}

function acceptFloatingIps(request: Request, instance: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const connected = new Set(
    (detailOf<readonly { subnet: string }[]>(instance, 'internal_ips_set') ?? []).map(({ subnet }) => subnet),
  );
  const asked = (values as unknown as { floating_ips: readonly AskedAddress[] }).floating_ips;
  const chosen = addressesOf(request, tenantOf(request, instance), asked, connected, instance);
  const present = attachedAddresses(request, instance).map(({ backend_id: id }) => id);
  return {
    parameters: {
      floating_ips: chosen.parameters,
      freed: present.filter((id) => !chosen.parameters.some(({ backend_id: kept }) => kept === id)),
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
    refuse: (_request, { runtime_state: state }) => (state === 'ACTIVE' ? 'Instance is already active.' : undefined),
    answer: { status: 'start was scheduled' },
  },
  {
    name: 'stop',
    runtimeStates: ['ACTIVE'],
    refuse: (_request, { runtime_state: state }) => (state === 'SHUTOFF' ? 'Instance is already stopped.' : undefined),
    answer: { status: 'stop was scheduled' },
  },
  {
    name: 'restart',
    refuse: (_request, { runtime_state: state }) => (state === 'ACTIVE' ? undefined : 'Please start instance first.'),
    answer: { status: 'restart was scheduled' },
  },
  {
    name: 'change_flavor',
    fields: flavorField,
    refuse: (_request, { runtime_state: state }) =>
      state === 'SHUTOFF' ? undefined : 'Please stop the instance before changing its flavor.',
    accept: acceptFlavor,
    answer: { status: 'change_flavor was scheduled' },
  },
  {
    name: 'update_security_groups',
    fields: { security_groups: securityGroupsField(true) },
    accept: acceptGroups,
    answer: { status: 'security groups update was scheduled' },
  },
  {
    name: 'update_internal_ips_set',
    fields: { internal_ips_set: internalIpsField(true) },
    accept: acceptInternalIps,
    answer: { status: 'internal ips update was scheduled' },
  },
  {
    name: 'update_floating_ips',
    fields: { floating_ips: floatingIpsField(true) },
    accept: acceptFloatingIps,
    answer: { status: 'floating ips update was scheduled' },
  },
];
