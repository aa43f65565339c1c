import * as v from 'valibot';
import type { RowChange } from '../../../catalogue/driver.ts';
import { ifExists } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import type { VendorPort } from '../api/network.ts';
import { idOf, type OperationTarget } from '../flows/kind-flows.ts';
import { orderFloatingIp } from '../flows/parts.ts';
import { floatingIpValues } from '../mapping/values.ts';
import { pullInstance } from './servers.ts';

/* Connections of a server: a port in each of its subnets, with its security groups, and floating IPs on these ports. */

const subnetsSchema = v.optional(v.array(v.object({ subnet: v.string() })), []);
const idsSchema = v.optional(v.array(v.string()), []);

/** A floating IP of an operation: an existing one, or a new one for a row. */
const addressSchema = v.object({
  subnet: v.string(),
  backend_id: v.optional(v.string()),
  uuid: v.optional(v.string()),
  backend_network_id: v.optional(v.string(), ''),
});
type Address = v.InferOutput<typeof addressSchema>;

const addressesOf = ({ call }: Flow): Address[] =>
  v.parse(v.optional(v.array(addressSchema), []), call.parameters.floating_ips);

/** Ids of the subnets that an operation names. */
export const subnetsOf = ({ call }: Flow): string[] =>
  v.parse(subnetsSchema, call.parameters.subnets).map(({ subnet }) => subnet);

/** Security groups of an instance; the vendor's default if none are named. */
export const groupsOf = (groups: unknown): string[] => v.parse(idsSchema, groups);

/** Creates the port of an instance in a subnet, with its security groups. Returns its id. */
export function makePort({ network }: ProjectCloud, flow: Flow, subnet: string, groups: readonly string[]) {
  const { parent, uuid } = flow.call;
  const name = `${uuid}-${subnet}`;
  return flow.createOnce(portStage(subnet), {
    create: async () => {
      const { network_id } = await network.subnets.get(subnet);
      return network.ports.create({
        name,
        network_id,
        project_id: parent,
        fixed_ips: [{ subnet_id: subnet }],
        ...(groups.length > 0 && { security_groups: groups }),
      });
    },
    find: async () => (await network.ports.list({ project_id: parent, name }))[0]?.id,
  });
}

const portStage = (subnet: string): string => `port ${subnet}`;
const addressStage = (uuid: string | undefined): string => `address ${uuid}`;

export const portsOf = ({ network }: ProjectCloud, server: string): Promise<VendorPort[]> =>
  network.ports.list({ device_id: server });

/** Returns the ids of the tenant's floating IPs at these ports. */
export const floatingIpsOf = async (
  network: ProjectCloud['network'],
  { call: { parent } }: Flow,
  ports: readonly string[],
): Promise<string[]> =>
  (await network.floatingIps.list({ project_id: parent }))
    .filter(({ port_id: port }) => ports.includes(port ?? ''))
    .map(({ id }) => id);

const isIn =
  (subnet: string) =>
  ({ fixed_ips: ips }: VendorPort): boolean =>
    ips?.some(({ subnet_id: id }) => id === subnet) ?? false;

/** Creates the new floating IPs of an operation, then associates all of them with a server. */
export async function attachAddresses(target: OperationTarget, flow: Flow, server: string): Promise<void> {
  const { network } = target.own;
  for (const { backend_id: known, backend_network_id: external, subnet, uuid = '' } of addressesOf(flow)) {
    const change = (id: string): RowChange => ({
      kind: 'OpenStack.FloatingIP',
      action: 'change',
      uuid,
      values: { backend_id: id, state: 'Creating' },
    });
    const id =
      known ??
      (await orderFloatingIp(target, flow, addressStage(uuid), {
        external,
        uuid,
        updates: (created) => ({ changes: [change(created)] }),
      }));
    await flow.ensure(`led ${id}`, async () => {
      const port = (await portsOf(target.own, server)).find(isIn(subnet));
      if (!port) flow.fail(`Instance has no port in subnet ${subnet}`);
      await network.floatingIps.update(id, { port_id: port.id });
    });
  }
}

/** Current values of the rows of an operation's floating IPs. */
export async function addressChanges({ own: { network } }: OperationTarget, flow: Flow): Promise<RowChange[]> {
  const changes: RowChange[] = [];
  for (const { backend_id: known, uuid } of addressesOf(flow)) {
    const id = known ?? String(flow.resultOf(addressStage(uuid)));
    const ip = await network.floatingIps.get(id);
    const port = ip.port_id ? await ifExists(network.ports.get(ip.port_id)) : undefined;
    const values = floatingIpValues(ip, port);
    changes.push(
      known === undefined && uuid !== undefined
        ? { kind: 'OpenStack.FloatingIP', action: 'put', uuid, values: { ...values, backend_id: id, state: 'OK' } }
        : changeToDetached(id, values),
    );
  }
  return changes;
}

const detached = { instance_backend_id: '', subnet: null, runtime_state: 'DOWN' };

const changeToDetached = (id: string, values: RowChange['values'] = detached): RowChange => ({
  kind: 'OpenStack.FloatingIP',
  action: 'change',
  backend_id: id,
  values: values ?? detached,
});

/** Deletes the leftovers of a failed operation: new floating IPs, and ports without a server. */
export async function removeLeftovers({ own: { network } }: OperationTarget, flow: Flow): Promise<void> {
  for (const { backend_id: known, uuid } of addressesOf(flow)) {
    const address = flow.resultOf(addressStage(uuid));
    if (known === undefined && typeof address === 'string') await ifExists(network.floatingIps.delete(address));
    else if (known !== undefined && flow.resultOf(`led ${known}`))
      await ifExists(network.floatingIps.update(known, { port_id: null }));
  }
  for (const subnet of subnetsOf(flow)) {
    const portId = flow.resultOf(portStage(subnet));
    const port = typeof portId === 'string' ? await ifExists(network.ports.get(portId)) : undefined;
    if (port?.device_id === '') await ifExists(network.ports.delete(port.id));
  }
}

export async function updateSecurityGroups({ own }: OperationTarget, { call }: Flow): Promise<RowUpdates> {
  const groups = groupsOf(call.parameters.security_groups);
  for (const { id } of await portsOf(own, idOf(call))) await own.network.ports.update(id, { security_groups: groups });
  return { values: { security_groups: groups } };
}

/** Connects a server to new subnets, then disconnects it from subnets that are no longer named, with their floating IPs. */
export async function updateInternalIps({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { network } = own;
  const server = idOf(flow.call);
  const wanted = subnetsOf(flow);
  const before = await portsOf(own, server);
  const groups = groupsOf(flow.call.values.security_groups);
  for (const subnet of wanted) {
    if (before.some(isIn(subnet))) continue;
    const port = await makePort(own, flow, subnet, groups);
    await flow.ensure(`plugged ${subnet}`, async () => {
      if ((await network.ports.get(port)).device_id !== server) await own.compute.plug(server, port);
    });
  }
  const removedPorts = before.filter((port) => !wanted.some((subnet) => isIn(subnet)(port))).map(({ id }) => id);
  const ports = await flow.once('left', v.array(v.string()), async () => removedPorts);
  const cut = await flow.once('cut off', v.array(v.string()), () => floatingIpsOf(network, flow, ports));
  for (const port of ports) {
    await flow.ensure(`unplugged ${port}`, () => ifExists(own.compute.unplug(server, port)));
    await flow.until(`gone ${port}`, async () => {
      const existing = await ifExists(network.ports.get(port));
      if (existing?.device_id) return {};
      if (existing) await ifExists(network.ports.delete(port));
      return 'done';
    });
  }
  return { values: await pullInstance(own, server), changes: cut.map((id) => changeToDetached(id)) };
}

export async function updateFloatingIps(target: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { own } = target;
  const server = idOf(flow.call);
  const left = v.parse(idsSchema, flow.call.parameters.freed);
  return flow.withCleanup(
    async () => {
      for (const id of left)
        await flow.ensure(`freed ${id}`, () => own.network.floatingIps.update(id, { port_id: null }));
      await attachAddresses(target, flow, server);
      return {
        values: await pullInstance(own, server),
        changes: [...left.map((id) => changeToDetached(id)), ...(await addressChanges(target, flow))],
      };
    },
    () => removeLeftovers(target, flow),
  );
}
