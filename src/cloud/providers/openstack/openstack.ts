import type { ProviderType } from '../../catalogue/type.ts';
import { openStackDriver } from './driver.ts';
import { floatingIp } from './floating-ip.ts';
import { instance } from './instance.ts';
import { network, subnet } from './network.ts';
import { options } from './options.ts';
import { flavor, image } from './properties.ts';
import { securityGroup } from './security-group.ts';
import { simulation } from './simulation.ts';
import { deleteOutdatedSnapshots, snapshot } from './snapshot.ts';
import { tenant } from './tenant.ts';
import { volume } from './volume.ts';

const required = ['This field is required.'];

/** OpenStack (providers.md 4) */
export const openStack: ProviderType = {
  name: 'OpenStack',
  prefix: 'openstack',
  hasGlobalProperties: false,
  isPublic: false,
  options,
  missingCredentials: ({ password, username }) => ({
    ...(!username && { username: required }),
    ...(!password && { password: required }),
  }),
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
