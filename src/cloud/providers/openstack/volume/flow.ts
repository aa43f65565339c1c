import type { PlainValues, RowChange } from '../../../catalogue/driver.ts';
import { ifExists, rejectionOf } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import type { VendorVolume } from '../api/volume.ts';
import { deleteAndWait, idOf, type KindFlows, namingOf, type OperationTarget } from '../flows/kind-flows.ts';
import { gibibytes, inMebibytes, marker, volumeValues } from '../mapping/values.ts';

/* OpenStack.Volume (providers.md 4.7). */

/** Parameters of a new volume. */
interface NewVolume {
  readonly uuid: string;
  readonly name: string;
  readonly description: string;
  /** MiB */
  readonly size: number;
  readonly image?: string;
  readonly snapshot?: string;
  readonly zone?: string;
}

/** Creates a volume. Returns its id. */
export function orderVolume(
  { volume }: ProjectCloud,
  flow: Flow,
  stage: string,
  { description, image, name, size, snapshot, uuid, zone }: NewVolume,
  updates?: (id: string) => RowUpdates,
): Promise<string> {
  return flow.createOnce(stage, {
    create: () =>
      volume.volumes.create({
        name,
        description,
        size: gibibytes(size),
        metadata: { [marker]: uuid },
        ...(image && { imageRef: image }),
        ...(snapshot && { snapshot_id: snapshot }),
        ...(zone && { availability_zone: zone }),
      }),
    find: async () => (await volume.volumes.list({ name })).find(({ metadata }) => metadata?.[marker] === uuid)?.id,
    ...(updates && { updates }),
  });
}

/** Waits until a volume is in a state. Stores its runtime state meanwhile, unless the operation is on another object. */
export async function awaitVolume(
  { volume }: ProjectCloud,
  flow: Flow,
  id: string,
  stage: string,
  {
    isDone,
    reportsState = true,
  }: { readonly isDone: (existing: VendorVolume) => boolean; readonly reportsState?: boolean },
): Promise<void> {
  await flow.until(stage, async () => {
    const existing = await ifExists(volume.volumes.get(id));
    // An operation on another object continues without the volume; an operation on the volume itself fails.
    if (!existing) return reportsState ? flow.fail('Volume does not exist at backend') : 'done';
    if (isDone(existing)) return 'done';
    if (existing.status.startsWith('error')) {
      const text = `Volume runtime state become erred: ${existing.status}`;
      flow.fail(text, reportsState ? { values: { runtime_state: existing.status } } : {});
    }
    return reportsState ? { values: { runtime_state: existing.status } } : {};
  });
}

export const isAvailable = ({ status }: VendorVolume): boolean => status === 'available';

async function create({ options, own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { parameters, uuid, values } = flow.call;
  const id = await orderVolume(
    own,
    flow,
    'volume',
    {
      uuid,
      ...namingOf(flow.call),
      size: Number(values.size),
      image: String(values.image ?? ''),
      snapshot: String(values.source_snapshot ?? ''),
      zone: zoneOf(parameters, options),
    },
    (created) => ({ values: { backend_id: created, runtime_state: 'creating' } }),
  );
  await awaitVolume(own, flow, id, 'available', { isDone: isAvailable });
  return { values: await pullVolume(own, id) };
}

/** The zone of new objects in a tenant: the tenant's, else that of the settings. */
export const zoneOf = (parameters: PlainValues, options: PlainValues): string =>
  String(parameters.availability_zone || options.availability_zone || '');

const pullVolume = async ({ volume }: ProjectCloud, id: string): Promise<PlainValues> =>
  volumeValues(await volume.volumes.get(id));

/** Update of an instance's disk to the total of its current volumes; sizes in MiB. */
async function grown(own: ProjectCloud, instance: string): Promise<RowChange[]> {
  if (instance === '') return [];
  const attached = await volumesOf(own, instance);
  const disk = inMebibytes(attached.reduce((sum, { size }) => sum + size, 0));
  return [{ kind: 'OpenStack.Instance', action: 'change', backend_id: instance, values: { disk } }];
}

/** The volumes of a server. */
export async function volumesOf({ compute, volume }: ProjectCloud, server: string): Promise<VendorVolume[]> {
  const volumes: VendorVolume[] = [];
  for (const { volumeId } of (await ifExists(compute.attachments(server))) ?? []) {
    const one = await ifExists(volume.volumes.get(volumeId));
    if (one) volumes.push(one);
  }
  return volumes;
}

const instanceOf = (values: PlainValues): string => String(values.instance_backend_id ?? '');

/** States of a volume that is being attached to a server. */
const beingAttached: ReadonlySet<string> = new Set(['reserved', 'attaching']);

/** Attaches a volume to a server, unless it is attached, and waits for it. */
async function attachTo(own: ProjectCloud, flow: Flow, server: string, device: string): Promise<void> {
  const id = idOf(flow.call);
  const isAttached = ({ attachments }: VendorVolume): boolean => attachments?.[0]?.server_id === server;
  await flow.ensure('attached', async () => {
    const existing = await own.volume.volumes.get(id);
    // An attachment requested before a restart may not be listed yet.
    if (!isAttached(existing) && !beingAttached.has(existing.status)) await own.compute.attach(server, id, device);
  });
  await awaitVolume(own, flow, id, 'in use', {
    isDone: (existing) => existing.status === 'in-use' && isAttached(existing),
  });
}

/** Detaches a volume from a server and waits for it. */
export async function detachFrom(
  own: ProjectCloud,
  flow: Flow,
  server: string,
  id: string,
  reportsState = true,
): Promise<void> {
  await flow.ensure(`detached ${id}`, async () => {
    if ((await ifExists(own.volume.volumes.get(id)))?.status === 'in-use')
      await ifExists(own.compute.detach(server, id));
  });
  await awaitVolume(own, flow, id, `free ${id}`, { isDone: isAvailable, reportsState });
}

async function attach({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { parameters } = flow.call;
  const server = instanceOf(parameters);
  await attachTo(own, flow, server, String(parameters.asked_device ?? ''));
  return { values: await pullVolume(own, idOf(flow.call)), changes: await grown(own, server) };
}

async function detach({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const id = idOf(flow.call);
  const server = instanceOf(flow.call.parameters);
  await detachFrom(own, flow, server, id);
  return { values: await pullVolume(own, id), changes: await grown(own, server) };
}

/** Detaches an attached volume, extends it, and attaches it again even if the extension failed. */
async function extend({ own }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { parameters, values } = flow.call;
  const id = idOf(flow.call);
  const server = instanceOf(values);
  const size = gibibytes(parameters.disk_size);
  if (server !== '') await detachFrom(own, flow, server, id);
  const rejection = await flow.onceForText('extended', async () => {
    const { size: currentSize, status } = await own.volume.volumes.get(id);
    if (currentSize >= size || status === 'extending') return '';
    return (await rejectionOf(() => own.volume.volumes.act(id, { 'os-extend': { new_size: size } })))?.message ?? '';
  });
  if (rejection === '')
    await awaitVolume(own, flow, id, 'grown', { isDone: (existing) => isAvailable(existing) && existing.size >= size });
  if (server !== '') await attachTo(own, flow, server, String(values.device ?? ''));
  const updates = { values: await pullVolume(own, id), changes: await grown(own, server) };
  return rejection === '' ? updates : flow.fail(rejection, updates);
}

export const volumeFlows: KindFlows = {
  create,
  update: ({ own }, call) => own.volume.volumes.update(idOf(call), namingOf(call)),
  delete: async ({ own }, flow) => {
    await removeVolume(own, flow, idOf(flow.call));
    return {};
  },
  actions: { attach, detach, extend },
  pull: ({ own }, call) => pullVolume(own, idOf(call)),
};

/** Deletes a volume and waits until it is gone. */
const removeVolume = ({ volume }: ProjectCloud, flow: Flow, id: string): Promise<void> =>
  deleteAndWait(flow, `volume ${id}`, {
    remove: () => volume.volumes.delete(id),
    state: async () => (await ifExists(volume.volumes.get(id)))?.status,
  });
