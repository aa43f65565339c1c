import type { PlainValues } from '../../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedKind, ValueGenerator } from '../../../catalogue/simulation.ts';
import { within } from '../simulated/limits.ts';
import { dashedUuid, detachedVolume } from '../simulated/objects.ts';

/** Values that a volume restored from a snapshot inherits from the original volume. */
function inherited({ source_snapshot: id }: PlainValues, { all }: ValueGenerator): PlainValues {
  if (!id) return {};
  const snapshot = all('Snapshot').find(({ backend_id }) => backend_id === id);
  const source = all('Volume').find(({ backend_id }) => backend_id === snapshot?.values.source_volume);
  const { bootable = false, image, image_name: name } = source?.values ?? {};
  return { bootable, ...(image !== undefined && { image, image_name: name }) };
}

/** Simulation of OpenStack.Volume. */
export const volume: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: {
    create: within(({ size }) => [{ volumes: 1, storage: Number(size) }]),
    extend: within((_volume, { growth }) => [{ storage: Number(growth) }]),
  },
  initialValues: (_n, values, draw) => ({
    type: 'lvm',
    instance_backend_id: '',
    device: '',
    ...inherited(values, draw),
  }),
  transitionStates: {
    create: ['creating'],
    attach: ['attaching'],
    detach: ['detaching'],
    extend: ['extending'],
    delete: ['deleting'],
  },
  final: { create: 'available', attach: 'in-use', detach: 'available' },
  actionValues: {
    attach: (_values, { device, instance_backend_id }) => ({ device, instance_backend_id }),
    detach: () => detachedVolume,
    extend: ({ runtime_state }, { disk_size }) => ({ size: disk_size, runtime_state }),
  },
  otherChanges: {
    attach: ({ instance_backend_id: id, size }, all) => grown(all('Instance'), id, Number(size)),
    detach: ({ size }, all, { instance_backend_id: id }) => grown(all('Instance'), id, -Number(size)),
    extend: ({ instance_backend_id: id }, all, { growth }) => grown(all('Instance'), id, Number(growth)),
  },
  unmanaged: (_n, _draw, fellow) => ({
    size: 10_240,
    bootable: false,
    type: 'lvm',
    device: '',
    instance_backend_id: '',
    tenant_backend_id: fellow('Tenant') ?? '',
  }),
};

/** The disk of an instance is the total size of its volumes. */
function grown(instances: readonly OtherObject[], id: unknown, growth: number): OtherChange[] {
  return instances
    .filter(({ backend_id }) => backend_id === id)
    .map(({ backend_id, values }) => ({
      kind: 'Instance',
      action: 'change',
      backend_id,
      values: { disk: Math.max(0, Number(values.disk) + growth) },
    }));
}

/** Simulation of OpenStack.Snapshot. */
export const snapshot: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: { create: within(({ size }) => [{ snapshots: 1, storage: Number(size) }]) },
  transitionStates: { create: ['creating'], delete: ['deleting'] },
  final: { create: 'available' },
};
