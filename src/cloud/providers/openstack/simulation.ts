import type { SimulatedProperty, Simulation } from '../../catalogue/simulation.ts';
import { instance } from './instance/simulation.ts';
import { floatingIp, network, securityGroup, subnet, tenant } from './tenant/simulation.ts';
import { snapshot, volume } from './volume/simulation.ts';

const flavors: readonly SimulatedProperty[] = (
  [
    ['m1.tiny', 1, 512, 1024],
    ['m1.small', 1, 2048, 20_480],
    ['m1.medium', 2, 4096, 40_960],
    ['m1.large', 4, 8192, 81_920],
    ['m1.xlarge', 8, 16_384, 163_840],
  ] as const
).map(([name, cores, ram, disk], i) => ({ backend_id: String(i + 1), name, details: { cores, ram, disk } }));

const images: readonly SimulatedProperty[] = (
  [
    ['cirros-0.4.0', 'CirrOS 0.4.0', 0, 0],
    ['ubuntu-16.04', 'Ubuntu 16.04', 10_240, 1024],
    ['centos-7', 'CentOS 7', 10_240, 1024],
    ['windows-server-2016', 'Windows Server 2016', 40_960, 4096],
  ] as const
).map(([id, name, min_disk, min_ram]) => ({ backend_id: id, name, details: { min_disk, min_ram } }));

/** Simulation of OpenStack (providers.md 3.1, 3.3, 3.4). */
export const simulation: Simulation = {
  properties: { Flavor: flavors, Image: images },
  totals: {
    openstack_vcpu: { limit: 400, value: 'cores', kinds: ['Instance'] },
    openstack_ram: { limit: 1_048_576, value: 'ram', kinds: ['Instance'] },
    openstack_storage: { limit: 10_485_760, value: 'size', kinds: ['Volume', 'Snapshot'] },
  },
  kinds: {
    Tenant: tenant,
    Instance: instance,
    Volume: volume,
    Snapshot: snapshot,
    SecurityGroup: securityGroup,
    FloatingIP: floatingIp,
    Network: network,
    SubNet: subnet,
  },
};
