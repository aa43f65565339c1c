import { nextTurn } from '../../../../kernel/next-turn.ts';
import type { BackendObject, Inventory, PlainValues } from '../../../catalogue/driver.ts';
import { ifExists } from '../../../catalogue/provider-error.ts';
import type { Cloud } from '../api/cloud.ts';
import type { VendorServer } from '../api/compute.ts';
import type { VendorProject } from '../api/identity.ts';
import type { VendorFloatingIp, VendorNetwork, VendorRouter } from '../api/network.ts';
import { tenantQuotas } from './quotas.ts';
import {
  floatingIpValues,
  inMebibytes,
  instanceValues,
  networkValues,
  propertySets,
  securityGroupValues,
  snapshotValues,
  subnetValuesOf,
  volumeValues,
} from './values.ts';

/*
 * Synchronisation of properties and objects (providers.md 4.8 "settings sync"). The administrator's lists contain all projects, so
 * the number of calls does not grow with the projects, except for quotas.
 */

/** Totals of the hypervisors; empty if the cloud does not report them. */
async function totals({ compute }: Cloud): Promise<Inventory['quotas']> {
  const statistics = await ifExists(compute.statistics());
  return statistics
    ? {
        openstack_vcpu: { limit: statistics.vcpus, usage: statistics.vcpus_used },
        openstack_ram: { limit: statistics.memory_mb, usage: statistics.memory_mb_used },
        openstack_storage: { limit: inMebibytes(statistics.local_gb), usage: inMebibytes(statistics.local_gb_used) },
      }
    : {};
}

/** The internal network of a project, and the external network of its router. */
export function tenantNetworks(
  networks: readonly VendorNetwork[],
  routers: readonly VendorRouter[],
): { internal_network_id?: string; external_network_id?: string } {
  const own = networks.filter((network) => !network['router:external']);
  const internal = own.find(({ name }) => name?.endsWith('-int-net')) ?? own[0];
  const external = routers.map(({ external_gateway_info: gateway }) => gateway?.network_id).find(Boolean);
  return { ...(internal && { internal_network_id: internal.id }), ...(external && { external_network_id: external }) };
}

export const projectValues = ({ description, enabled, name }: VendorProject): PlainValues => ({
  name,
  description,
  runtime_state: enabled === false ? 'DISABLED' : '',
});

/** Groups items by a key. */
function grouped<T>(items: readonly T[], textOf: (item: T) => unknown): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const text = String(textOf(item) ?? '');
    const group = groups.get(text);
    if (group) group.push(item);
    else groups.set(text, [item]);
  }
  return groups;
}

const object = (kind: string, id: string, values: PlainValues, created?: string | null): BackendObject => ({
  kind,
  backend_id: id,
  name: String(values.name ?? ''),
  values: { ...values, ...(created && { created }) },
});

/** The inventory of the cloud. `administration` is the administrator's own project, which is not a tenant. */
export async function inventory(cloud: Cloud, administration: string): Promise<Inventory> {
  const everywhere = { all_tenants: '1' };
  const { compute, network, volume } = cloud;
  const flavors = await compute.flavors.list({ is_public: 'None' });
  const properties = propertySets(flavors, await cloud.images());
  const quotas = await totals(cloud);
  const projects = (await (await cloud.identity()).projects()).filter(({ name }) => name !== administration);
  const groups = await network.securityGroups.list();
  const floatingIps = await network.floatingIps.list();
  const networks = await network.networks.list();
  const subnets = await network.subnets.list();
  const routers = await network.routers.list();
  const volumes = await volume.volumes.list(everywhere);
  // Sort each list before requesting the next one: sorting all of them at once would block the event loop.
  const volumesOf = grouped(volumes, ({ attachments }) => attachments?.[0]?.server_id);
  const snapshots = await volume.snapshots.list(everywhere);
  const servers = await compute.servers.list(everywhere);
  const ports = await network.ports.list();
  const portsById = new Map(ports.map((port) => [port.id, port]));
  const portsOf = grouped(ports, ({ device_id: device }) => device);
  const flavorsById = new Map(flavors.map((flavor) => [flavor.id, flavor]));
  const ipsOf = grouped(floatingIps, ({ port_id: port }) => portsById.get(port ?? '')?.device_id);

  const ipValues = (ip: VendorFloatingIp): PlainValues => floatingIpValues(ip, portsById.get(ip.port_id ?? ''));
  const serverValues = (server: VendorServer): PlainValues =>
    instanceValues(server, {
      flavor: flavorsById.get(server.flavor?.id ?? ''),
      ports: portsOf.get(server.id) ?? [],
      floatingIps: ipsOf.get(server.id) ?? [],
      volumes: volumesOf.get(server.id) ?? [],
    });
  const parts = [
    ...(await mapInSlices(groups, (group) => object('SecurityGroup', group.id, securityGroupValues(group)))),
    ...(await mapInSlices(floatingIps, (ip) => object('FloatingIP', ip.id, ipValues(ip)))),
    ...(await mapInSlices(networks, (one) => object('Network', one.id, networkValues(one)))),
    ...(await mapInSlices(subnets, (subnet) => object('SubNet', subnet.id, subnetValuesOf(subnet)))),
    ...(await mapInSlices(volumes, (one) => object('Volume', one.id, volumeValues(one), one.created_at))),
    ...(await mapInSlices(snapshots, (one) => object('Snapshot', one.id, snapshotValues(one), one.created_at))),
    ...(await mapInSlices(servers, (server) => object('Instance', server.id, serverValues(server), server.created))),
  ];
  const partsOf = grouped(parts, ({ values }) => values.tenant_backend_id);
  const networksOf = grouped(networks, ({ project_id: id }) => id);
  const routersOf = grouped(routers, ({ project_id: id }) => id);
  const objects: BackendObject[] = [];
  for (const project of projects) {
    const { id } = project;
    const own = partsOf.get(id) ?? [];
    const connection = tenantNetworks(networksOf.get(id) ?? [], routersOf.get(id) ?? []);
    objects.push(await tenantObject(cloud, project, own, connection), ...own);
  }
  return { properties, quotas, objects };
}

/** The object of a project, with its quotas. `parts` are the objects in the project. */
async function tenantObject(
  cloud: Cloud,
  project: VendorProject,
  parts: readonly BackendObject[],
  connection: ReturnType<typeof tenantNetworks>,
): Promise<BackendObject> {
  const sizes = (kind: string): number =>
    parts.filter((part) => part.kind === kind).reduce((sum, { values }) => sum + Number(values.size), 0);
  const quotas = await tenantQuotas(cloud, project.id, { volumes: sizes('Volume'), snapshots: sizes('Snapshot') });
  return object('Tenant', project.id, { ...projectValues(project), ...connection, quotas });
}

const itemsPerSlice = 100;

/** Maps a long list in time slices, so that other requests are served in between. */
async function mapInSlices<Item, Made>(items: readonly Item[], make: (item: Item) => Made): Promise<Made[]> {
  const results: Made[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % itemsPerSlice === 0) await nextTurn();
    results.push(make(item));
  }
  return results;
}
