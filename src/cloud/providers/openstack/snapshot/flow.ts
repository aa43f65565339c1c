import type { PlainValues } from '../../../catalogue/driver.ts';
import { ifExists } from '../../../catalogue/provider-error.ts';
import type { Flow, RowUpdates } from '../../../operations/flow.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import { deleteAndWait, idOf, type KindFlows, namingOf, type OperationTarget } from '../flows/kind-flows.ts';
import { marker, snapshotValues } from '../mapping/values.ts';

/* OpenStack.Snapshot (providers.md 4.7). */

async function create({ own: { volume } }: OperationTarget, flow: Flow): Promise<RowUpdates> {
  const { uuid, values } = flow.call;
  const naming = namingOf(flow.call);
  const { name } = naming;
  const id = await flow.createOnce('snapshot', {
    create: () =>
      volume.snapshots.create({
        ...naming,
        volume_id: String(values.source_volume),
        metadata: { [marker]: uuid },
        // Allows snapshots of attached volumes.
        force: true,
      }),
    find: async () => (await volume.snapshots.list({ name })).find(({ metadata }) => metadata?.[marker] === uuid)?.id,
    updates: (created) => ({ values: { backend_id: created, runtime_state: 'creating' } }),
  });
  await flow.until('available', async () => {
    const { status } = await volume.snapshots.get(id);
    return status === 'available' ? 'done' : { values: { runtime_state: status } };
  });
  return { values: snapshotValues(await volume.snapshots.get(id)) };
}

const pullSnapshot = async ({ volume }: ProjectCloud, id: string): Promise<PlainValues> =>
  snapshotValues(await volume.snapshots.get(id));

export const snapshotFlows: KindFlows = {
  create,
  update: ({ own }, call) => own.volume.snapshots.update(idOf(call), namingOf(call)),
  delete: async ({ own: { volume } }, flow) => {
    const id = idOf(flow.call);
    await deleteAndWait(flow, 'snapshot', {
      remove: () => volume.snapshots.delete(id),
      state: async () => (await ifExists(volume.snapshots.get(id)))?.status,
    });
    return {};
  },
  actions: {},
  pull: ({ own }, call) => pullSnapshot(own, idOf(call)),
};
