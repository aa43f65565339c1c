import type { PlainValues } from '../../../catalogue/driver.ts';
import { ifThere } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import type { VendorServer } from '../api/compute.ts';
import { idOf, type Place } from '../flows/kind-flows.ts';
import { instanceValues, serverState } from '../mapping/values.ts';
import { volumesOf } from '../volume/flow.ts';

/* Servers: what is told of one, and the actions on it (providers.md 4.7). */

/** What an instance gets of its server and what belongs to it. */
export async function pullInstance(own: ProjectCloud, id: string): Promise<PlainValues> {
  const server = await own.compute.servers.get(id);
  const ports = await own.network.ports.list({ device_id: id });
  const ips = await own.network.floatingIps.list({ project_id: server.tenant_id });
  return instanceValues(server, {
    flavor: server.flavor?.id ? await ifThere(own.compute.flavors.get(server.flavor.id)) : undefined,
    ports,
    floatingIps: ips.filter(({ port_id: id }) => ports.some((port) => port.id === id)),
    volumes: await volumesOf(own, id),
  });
}

const taskOf = (server: VendorServer): string | null => server['OS-EXT-STS:task_state'] ?? null;

/** Whether nothing is being done to a server, and it is in a state. */
const restsIn = (server: VendorServer, state: string): boolean => server.status === state && taskOf(server) === null;

/** Waits until a server is as wanted; its state is told meanwhile. One that is in error is a failure, in the vendor's words. */
export async function awaitServer(
  { compute }: ProjectCloud,
  flow: Flow,
  id: string,
  stage: string,
  isOver: (server: VendorServer) => boolean,
  isFailed: (server: VendorServer) => boolean = () => false,
): Promise<void> {
  await flow.until(stage, async () => {
    const server = await compute.servers.get(id);
    if (isOver(server)) return 'over';
    const values = { runtime_state: serverState(server.status) };
    const reason = server.fault?.message?.trim().replace(/\.$/, '');
    if (server.status === 'ERROR') flow.fail(reason || 'Instance runtime state become erred: ERROR', { values });
    if (isFailed(server)) flow.fail(reason || `Instance stays ${server.status}`, { values });
    return { values };
  });
}

export const isActive = (server: VendorServer): boolean => restsIn(server, 'ACTIVE');

/** An action that leads from one state to another; a server that is there already needs none. */
const change =
  (order: PlainValues, from: string, to: string) =>
  async ({ own }: Place, flow: Flow): Promise<RowUpdates> => {
    const id = idOf(flow.call);
    const isThere = async (): Promise<boolean> => (await own.compute.servers.get(id)).status === to;
    const give = async (): Promise<void> => {
      if (!(await isThere())) await own.compute.servers.act(id, order);
    };
    const isBegun = async (): Promise<boolean> => !restsIn(await own.compute.servers.get(id), from);
    await flow.order('ordered', give, isBegun);
    await awaitServer(
      own,
      flow,
      id,
      'done',
      (server) => restsIn(server, to),
      (server) => restsIn(server, from),
    );
    return { values: await pullInstance(own, id) };
  };

async function restart({ own }: Place, flow: Flow): Promise<RowUpdates> {
  const id = idOf(flow.call);
  const isBegun = async (): Promise<boolean> => !isActive(await own.compute.servers.get(id));
  await flow.order('ordered', () => own.compute.servers.act(id, { reboot: { type: 'SOFT' } }), isBegun);
  await awaitServer(own, flow, id, 'done', isActive);
  return { values: await pullInstance(own, id) };
}

/** A resized server waits for a confirmation, unless the cloud gives it itself. */
async function changeFlavor({ own }: Place, flow: Flow): Promise<RowUpdates> {
  const { compute } = own;
  const id = idOf(flow.call);
  const flavor = String(flow.call.parameters.flavor);
  const hasFlavor = (server: VendorServer): boolean => server.flavor?.id === flavor;
  const isVerified = (server: VendorServer): boolean => restsIn(server, 'VERIFY_RESIZE');
  const isBegun = async (): Promise<boolean> => {
    const server = await compute.servers.get(id);
    return !restsIn(server, 'SHUTOFF') || hasFlavor(server);
  };
  await flow.order('resized', () => compute.servers.act(id, { resize: { flavorRef: flavor } }), isBegun);
  await awaitServer(
    own,
    flow,
    id,
    'verified',
    (server) => isVerified(server) || (restsIn(server, 'SHUTOFF') && hasFlavor(server)),
    (server) => restsIn(server, 'SHUTOFF'),
  );
  await flow.order(
    'confirmed',
    async () => {
      if (isVerified(await compute.servers.get(id))) await compute.servers.act(id, { confirmResize: null });
    },
    async () => !isVerified(await compute.servers.get(id)),
  );
  await awaitServer(own, flow, id, 'done', (server) => restsIn(server, 'SHUTOFF'));
  return { values: await pullInstance(own, id) };
}

export const serverActions = {
  start: change({ 'os-start': null }, 'SHUTOFF', 'ACTIVE'),
  stop: change({ 'os-stop': null }, 'ACTIVE', 'SHUTOFF'),
  restart,
  change_flavor: changeFlavor,
};
