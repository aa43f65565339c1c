import * as v from 'valibot';
import type { RowChange } from '../../../catalogue/driver.ts';
import { ifExists } from '../../../catalogue/provider-error.ts';
import { findOrCreate } from '../../../operations/creation.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ComputeApi } from '../api/compute.ts';
import { deleteAndWait, idOf, type KindFlows, type OperationTarget } from '../flows/kind-flows.ts';
import { marker, volumeValues } from '../mapping/values.ts';
import { awaitVolume, detachFrom, isAvailable, orderVolume, volumesOf, zoneOf } from '../volume/flow.ts';
import {
  addressChanges,
  attachAddresses,
  floatingIpsOf,
  groupsOf,
  makePort,
  portsOf,
  removeLeftovers,
  subnetsOf,
  updateFloatingIps,
  updateInternalIps,
  updateSecurityGroups,
} from './connections.ts';
import { awaitServer, isActive, pullInstance, serverActions } from './servers.ts';

/* OpenStack.Instance: a server with its volumes, ports and floating IPs (providers.md 4.8). */

const volumesSchema = v.array(
  v.object({
    uuid: v.string(),
    name: v.string(),
    size: v.number(),
    bootable: v.optional(v.boolean(), false),
    image: v.optional(v.string(), ''),
  }),
);

const keySchema = v.optional(
  v.object({ uuid: v.string(), name: v.string(), public_key: v.string(), fingerprint: v.string() }),
);
type Key = NonNullable<v.InferOutput<typeof keySchema>>;

const keyCharacters = 17;

/** The name of a key at the vendor, where key pairs belong to the administrator. */
const keyName = ({ name, uuid }: Key): string =>
  `${uuid}-${name.slice(0, keyCharacters).replace(/[^A-Za-z0-9 _-]/g, '_')}`;

function uploadKey(compute: ComputeApi, key: Key): Promise<unknown> {
  const name = keyName(key);
  return findOrCreate(
    async () => (await compute.keyPairs()).find((known) => known.name === name),
    () => compute.addKeyPair(name, key.public_key),
  );
}

const volumeStage = (uuid: string): string => `volume ${uuid}`;

const create = (target: OperationTarget, flow: Flow): Promise<RowUpdates> =>
  flow.withCleanup(
    () => build(target, flow),
    () => removeLeftovers(target, flow),
  );

async function build(target: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { options, own } = target;
  const { parameters, uuid, values } = flow.call;
  const zone = zoneOf(parameters, options);
  const volumes = v.parse(volumesSchema, parameters.volumes);
  const ids: string[] = [];
  for (const volume of volumes) {
    const updates = (id: string): RowUpdates => ({
      values: { runtime_state: 'BUILDING' },
      changes: [volumeChange('change', volume.uuid, { backend_id: id, state: 'Creating', runtime_state: 'creating' })],
    });
    ids.push(await orderVolume(own, flow, volumeStage(volume.uuid), { ...volume, description: '', zone }, updates));
  }
  for (const id of ids)
    await awaitVolume(own, flow, id, `available ${id}`, { isDone: isAvailable, reportsState: false });
  const key = v.parse(keySchema, parameters.key);
  if (key) await flow.ensure('key', () => uploadKey(own.compute, key));
  const networks: { port: string }[] = [];
  for (const subnet of subnetsOf(flow))
    networks.push({ port: await makePort(own, flow, subnet, groupsOf(values.security_groups)) });
  const server = await flow.createOnce('server', {
    create: () =>
      own.compute.createServer({
        name: String(values.name),
        flavorRef: String(parameters.flavor),
        metadata: { [marker]: uuid },
        networks,
        block_device_mapping_v2: ids.map((id, i) => ({
          uuid: id,
          source_type: 'volume',
          destination_type: 'volume',
          boot_index: volumes[i]?.bootable ? 0 : -1,
          delete_on_termination: true,
        })),
        ...(key && { key_name: keyName(key) }),
        ...(zone && { availability_zone: zone }),
        ...(values.user_data ? { user_data: Buffer.from(String(values.user_data)).toString('base64') } : {}),
      }),
    find: async () => (await own.compute.servers.list()).find(({ metadata }) => metadata?.[marker] === uuid)?.id,
    updates: (id) => ({ values: { backend_id: id, runtime_state: 'BUILDING' } }),
  });
  await awaitServer(own, flow, server, 'active', isActive);
  await attachAddresses(target, flow, server);
  const changes: RowChange[] = [];
  for (const { uuid: row } of volumes) {
    const id = String(flow.resultOf(volumeStage(row)));
    const current = volumeValues(await own.volume.volumes.get(id));
    changes.push(volumeChange('put', row, { ...current, backend_id: id, state: 'OK' }));
  }
  return { values: await pullInstance(own, server), changes: [...changes, ...(await addressChanges(target, flow))] };
}

const volumeChange = (action: 'put' | 'change', uuid: string, values: NonNullable<RowChange['values']>): RowChange => ({
  kind: 'OpenStack.Volume',
  action,
  uuid,
  values,
});

const idsSchema = v.array(v.string());

/** Detaches the volumes to keep, deletes the server, then deletes the objects that belong to it. */
async function remove({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { compute, network, volume } = own;
  const server = idOf(flow.call);
  const { delete_volumes: takesVolumes, release_floating_ips: takesIps } = flow.call.parameters;
  const ports = await flow.once('ports', idsSchema, async () => (await portsOf(own, server)).map(({ id }) => id));
  const ips = await flow.once('ips', idsSchema, () => floatingIpsOf(network, flow, ports));
  const volumes = await flow.once('volumes', v.object({ gone: idsSchema, kept: idsSchema }), async () => {
    const attached = await volumesOf(own, server);
    const goes = attached.filter((one) => takesVolumes === true || String(one.bootable) === 'true');
    const retained = attached.filter((one) => !goes.includes(one));
    return { gone: goes.map(({ id }) => id), kept: retained.map(({ id }) => id) };
  });
  // Collect them now: after the deletion of the server they cannot be identified.
  flow.checkpoint('listed');
  for (const id of volumes.kept) await detachFrom(own, flow, server, id, false);
  await deleteAndWait(flow, 'server', {
    remove: () => compute.servers.delete(server),
    state: async () => (await ifExists(compute.servers.get(server)))?.status,
  });
  await flow.ensure('disconnected', async () => {
    for (const id of ips)
      await ifExists(
        takesIps === true ? network.floatingIps.delete(id) : network.floatingIps.update(id, { port_id: null }),
      );
    for (const id of ports) await ifExists(network.ports.delete(id));
  });
  for (const id of volumes.gone)
    await flow.until(`gone ${id}`, async () => {
      const status = (await ifExists(volume.volumes.get(id)))?.status;
      if (status === undefined) return 'done';
      if (status === 'error_deleting') flow.fail(`Volume runtime state become erred: ${status}`);
      // The vendor has not deleted it with the server.
      if (status === 'available' || status === 'error') await ifExists(volume.volumes.delete(id));
      return {};
    });
  return {};
}

export const instanceFlows: KindFlows = {
  create,
  update: ({ own }, call) => own.compute.servers.update(idOf(call), { name: String(call.values.name) }),
  delete: remove,
  actions: {
    ...serverActions,
    update_security_groups: updateSecurityGroups,
    update_internal_ips_set: updateInternalIps,
    update_floating_ips: updateFloatingIps,
  },
  pull: ({ own }, call) => pullInstance(own, idOf(call)),
};
