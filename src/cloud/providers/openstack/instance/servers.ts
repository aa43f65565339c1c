import type { PlainValues } from '../../../catalogue/driver.ts';
import { ifExists } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import type { VendorServer } from '../api/compute.ts';
import { idOf, type OperationTarget } from '../flows/kind-flows.ts';
import { instanceValues, serverState } from '../mapping/values.ts';
import { volumesOf } from '../volume/flow.ts';

/* Servers: their values and actions (providers.md 4.7). */

/** Row values of an instance, from its server and related objects. */
export async function pullInstance(own: ProjectCloud, id: string): Promise<PlainValues> {
  const server = await own.compute.servers.get(id);
  const ports = await own.network.ports.list({ device_id: id });
  const ips = await own.network.floatingIps.list({ project_id: server.tenant_id });
  return instanceValues(server, {
    flavor: server.flavor?.id ? await ifExists(own.compute.flavors.get(server.flavor.id)) : undefined,
    ports,
    floatingIps: ips.filter(({ port_id: id }) => ports.some((port) => port.id === id)),
    volumes: await volumesOf(own, id),
  });
}

const taskOf = (server: VendorServer): string | null => server['OS-EXT-STS:task_state'] ?? null;

/** Whether a server is idle in a state. */
const isIdleIn = (server: VendorServer, state: string): boolean => server.status === state && taskOf(server) === null;

/** Waits until a server is as wanted and stores its state meanwhile. Fails with the vendor's message if the server is in error. */
export async function awaitServer(
  { compute }: ProjectCloud,
  flow: Flow,
  id: string,
  stage: string,
  isDone: (server: VendorServer) => boolean,
  isFailed: (server: VendorServer) => boolean = () => false,
): Promise<void> {
  await flow.until(stage, async () => {
    const server = await compute.servers.get(id);
    if (isDone(server)) return 'done';
    const values = { runtime_state: serverState(server.status) };
    const reason = server.fault?.message?.trim().replace(/\.$/, '');
    if (server.status === 'ERROR') flow.fail(reason || 'Instance runtime state become erred: ERROR', { values });
    if (isFailed(server)) flow.fail(reason || `Instance stays ${server.status}`, { values });
    return { values };
  });
}

export const isActive = (server: VendorServer): boolean => isIdleIn(server, 'ACTIVE');

/** An action that changes the state; skipped if the server is already in the target state. */
const change =
  (order: PlainValues, from: string, to: string) =>
  async ({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> => {
    const id = idOf(flow.call);
    const hasState = async (): Promise<boolean> => (await own.compute.servers.get(id)).status === to;
    const send = async (): Promise<void> => {
      if (!(await hasState())) await own.compute.servers.act(id, order);
    };
    const isBegun = async (): Promise<boolean> => !isIdleIn(await own.compute.servers.get(id), from);
    await flow.sendOnce('ordered', send, isBegun);
    await awaitServer(
      own,
      flow,
      id,
      'done',
      (server) => isIdleIn(server, to),
      (server) => isIdleIn(server, from),
    );
    return { values: await pullInstance(own, id) };
  };

async function restart({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const id = idOf(flow.call);
  const isBegun = async (): Promise<boolean> => !isActive(await own.compute.servers.get(id));
  await flow.sendOnce('ordered', () => own.compute.servers.act(id, { reboot: { type: 'SOFT' } }), isBegun);
  await awaitServer(own, flow, id, 'done', isActive);
  return { values: await pullInstance(own, id) };
}

/** Confirms a resize, unless the cloud does so by itself. */
async function changeFlavor({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { compute } = own;
  const id = idOf(flow.call);
  const flavor = String(flow.call.parameters.flavor);
  const hasFlavor = (server: VendorServer): boolean => server.flavor?.id === flavor;
  const isVerified = (server: VendorServer): boolean => isIdleIn(server, 'VERIFY_RESIZE');
  const isBegun = async (): Promise<boolean> => {
    const server = await compute.servers.get(id);
    return !isIdleIn(server, 'SHUTOFF') || hasFlavor(server);
  };
  await flow.sendOnce('resized', () => compute.servers.act(id, { resize: { flavorRef: flavor } }), isBegun);
  await awaitServer(
    own,
    flow,
    id,
    'verified',
    (server) => isVerified(server) || (isIdleIn(server, 'SHUTOFF') && hasFlavor(server)),
    (server) => isIdleIn(server, 'SHUTOFF'),
  );
  await flow.sendOnce(
    'confirmed',
    async () => {
      if (isVerified(await compute.servers.get(id))) await compute.servers.act(id, { confirmResize: null });
    },
    async () => !isVerified(await compute.servers.get(id)),
  );
  await awaitServer(own, flow, id, 'done', (server) => isIdleIn(server, 'SHUTOFF'));
  return { values: await pullInstance(own, id) };
}

export const serverActions = {
  start: change({ 'os-start': null }, 'SHUTOFF', 'ACTIVE'),
  stop: change({ 'os-stop': null }, 'ACTIVE', 'SHUTOFF'),
  restart,
  change_flavor: changeFlavor,
};
