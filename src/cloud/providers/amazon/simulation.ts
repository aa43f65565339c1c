import type { PlainValues } from '../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedKind, Simulation } from '../../catalogue/simulation.ts';
import { regions, simulatedImages, sizes } from './catalogue.ts';

const attached = (objects: readonly OtherObject[], instance: PlainValues): OtherObject[] =>
  objects.filter(({ values }) => values.instance_backend_id === instance.backend_id);

const detachment = { device: '', instance_backend_id: '', is_root: false };

/** Generated names are cut to the maximum length. */
const truncateName = (name: string): string => [...name].slice(0, 150).join('');

const rootVolume = ({ backend_id, disk, name, region, region_name }: PlainValues): PlainValues => ({
  name: truncateName(`volume-${name}`),
  description: '',
  size: disk,
  volume_type: 'gp2',
  region,
  region_name,
  device: '/dev/sda1',
  instance_backend_id: backend_id,
  is_root: true,
  runtime_state: 'inuse',
});

const instance: SimulatedKind = {
  id: (_n, draw) => `i-${draw.hex(17)}`,
  initialValues: (_n, _values, draw) => ({
    external_ips: [draw.externalAddress()],
    internal_ips: [draw.internalAddress()],
  }),
  transitionStates: {
    create: ['pending'],
    start: ['pending'],
    stop: ['stopping'],
    restart: ['running'],
    resize: ['stopped'],
    delete: ['shutting-down'],
  },
  final: { create: 'running', start: 'running', stop: 'stopped', restart: 'running', resize: 'stopped' },
  actionValues: { resize: (_values, { cores, disk, ram, size }) => ({ cores, ram, disk, size_name: size }) },
  otherChanges: {
    create: (object) => [{ kind: 'Volume', action: 'add', values: rootVolume(object) }],
    resize: (object, all) =>
      attached(all('Volume'), object).flatMap(({ backend_id, values }): OtherChange[] =>
        values.is_root ? [{ kind: 'Volume', action: 'change', backend_id, values: { size: object.disk } }] : [],
      ),
    delete: (object, all) =>
      attached(all('Volume'), object).map(({ backend_id, values }) =>
        values.is_root
          ? { kind: 'Volume', action: 'remove', backend_id }
          : { kind: 'Volume', action: 'change', backend_id, values: { ...detachment, runtime_state: 'available' } },
      ),
  },
  unmanaged: (_n, draw) => ({
    cores: 1,
    ram: 1024,
    disk: 8192,
    size_name: 't2.micro',
    image_name: 'Amazon Linux 2',
    region: 'eu-west-1',
    region_name: 'EU (Ireland)',
    external_ips: [draw.externalAddress()],
    internal_ips: [draw.internalAddress()],
  }),
};

const volume: SimulatedKind = {
  id: (_n, draw) => `vol-${draw.hex(17)}`,
  transitionStates: { create: ['creating'], attach: ['attaching'], detach: ['detaching'], delete: ['deleting'] },
  final: { create: 'available', attach: 'inuse', detach: 'available' },
  actionValues: {
    attach: (_values, { device, instance_backend_id }) => ({ device, instance_backend_id }),
    detach: () => detachment,
  },
  // Every other one is attached to the instance of the same number.
  unmanaged: (n, _draw, fellow) => {
    const instance = n % 2 === 1 ? fellow('Instance') : undefined;
    const attachment =
      instance === undefined ? {} : { device: '/dev/sdf', instance_backend_id: instance, runtime_state: 'inuse' };
    return {
      size: 10240,
      volume_type: 'gp2',
      region: 'eu-west-1',
      region_name: 'EU (Ireland)',
      device: '',
      instance_backend_id: '',
      ...attachment,
    };
  },
};

/** Simulation of Amazon (providers.md 3.3, 3.4). */
export const simulation: Simulation = {
  properties: { Region: regions, Image: simulatedImages, Size: sizes },
  kinds: { Instance: instance, Volume: volume },
};
