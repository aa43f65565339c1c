import { requiredCredentials } from '../../catalogue/options.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { options } from './api/options.ts';
import { openStackDriver } from './driver.ts';
import { floatingIp } from './floating-ip/floating-ip.ts';
import { instance } from './instance/instance.ts';
import { network, subnet } from './network/network.ts';
import { flavor, image } from './properties.ts';
import { securityGroup } from './security-group/security-group.ts';
import { simulation } from './simulation.ts';
import { deleteOutdatedSnapshots, snapshot } from './snapshot/snapshot.ts';
import { tenant } from './tenant/tenant.ts';
import { volume } from './volume/volume.ts';

/** OpenStack (providers.md 4) */
export const openStack: ProviderType = {
  name: 'OpenStack',
  prefix: 'openstack',
  hasGlobalProperties: false,
  isPublic: false,
  options,
  missingCredentials: requiredCredentials('username', 'password'),
  quotas: {
    service: { tenant_count: -1 },
    link: ['ram', 'storage', 'vcpu'],
    settings: ['openstack_ram', 'openstack_storage', 'openstack_vcpu'],
  },
  kinds: [tenant, instance, volume, snapshot, securityGroup, floatingIp, network, subnet],
  properties: [flavor, image],
  tasks: [deleteOutdatedSnapshots],
  driver: openStackDriver(),
  simulation,
};
