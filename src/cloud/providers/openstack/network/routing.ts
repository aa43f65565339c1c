import { ifThere } from '../../../catalogue/provider-error.ts';
import type { NetworkApi, VendorPort } from '../api/network.ts';

/* How subnets are connected to the router of their tenant. */

/** Owners of the ports by which routers reach subnets: of usual, distributed and highly available ones. */
const interfaceOwners = ['router_interface', 'router_interface_distributed', 'ha_router_replicated_interface'];

const isInterface = ({ device_owner: owner }: VendorPort): boolean =>
  interfaceOwners.some((name) => owner === `network:${name}`);

/** Connects a subnet to a router, unless it is. */
export async function connectSubnet(network: NetworkApi, router: string, subnet: string): Promise<void> {
  const ports = await network.ports.list({ device_id: router });
  if (ports.some(({ fixed_ips: ips }) => ips?.some(({ subnet_id: id }) => id === subnet))) return;
  await network.addInterface(router, subnet);
}

/** Takes a subnet from whatever router it is connected to. */
export async function disconnectSubnet(network: NetworkApi, subnet: string): Promise<void> {
  const ports = await network.ports.list({ fixed_ips: `subnet_id=${subnet}` });
  for (const { device_id: router, id } of ports.filter(isInterface))
    if (router) await ifThere(network.removeInterface(router, id));
}

/** Removes a router with its connections. */
export async function deleteRouter(network: NetworkApi, router: string): Promise<void> {
  await ifThere(network.routers.update(router, { external_gateway_info: null }));
  for (const { id } of (await network.ports.list({ device_id: router })).filter(isInterface))
    await ifThere(network.removeInterface(router, id));
  await network.routers.delete(router);
}
