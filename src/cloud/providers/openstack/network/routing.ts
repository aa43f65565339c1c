import { ifExists } from '../../../catalogue/provider-error.ts';
import type { NetworkApi, VendorPort } from '../api/network.ts';

/* Connects subnets to the router of their tenant. */

/** Owners of router ports: of ordinary, distributed and highly available routers. */
const interfaceOwners = ['router_interface', 'router_interface_distributed', 'ha_router_replicated_interface'];

const isInterface = ({ device_owner: owner }: VendorPort): boolean =>
  interfaceOwners.some((name) => owner === `network:${name}`);

/** Connects a subnet to a router, unless it is connected. */
export async function connectSubnet(network: NetworkApi, router: string, subnet: string): Promise<void> {
  const ports = await network.ports.list({ device_id: router });
  if (ports.some(({ fixed_ips: ips }) => ips?.some(({ subnet_id: id }) => id === subnet))) return;
  await network.addInterface(router, subnet);
}

/** Disconnects a subnet from all routers. */
export async function disconnectSubnet(network: NetworkApi, subnet: string): Promise<void> {
  const ports = await network.ports.list({ fixed_ips: `subnet_id=${subnet}` });
  for (const { device_id: router, id } of ports.filter(isInterface))
    if (router) await ifExists(network.removeInterface(router, id));
}

/** Removes a router with its connections. */
export async function deleteRouter(network: NetworkApi, router: string): Promise<void> {
  await ifExists(network.routers.update(router, { external_gateway_info: null }));
  for (const { id } of (await network.ports.list({ device_id: router })).filter(isInterface))
    await ifExists(network.removeInterface(router, id));
  await network.routers.delete(router);
}
