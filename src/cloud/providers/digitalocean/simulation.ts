import type { SimulatedProperty, Simulation } from '../../catalogue/simulation.ts';

const everywhere = ['nyc3', 'ams3', 'fra1', 'sgp1'];

const regions: readonly SimulatedProperty[] = (
  [
    ['nyc3', 'New York 3'],
    ['ams3', 'Amsterdam 3'],
    ['fra1', 'Frankfurt 1'],
    ['sgp1', 'Singapore 1'],
  ] as const
).map(([slug, name]) => ({ backend_id: slug, name, details: {} }));

const images: readonly SimulatedProperty[] = (
  [
    ['ubuntu-16-04-x64', 'Ubuntu', '16.04 x64', 20480, everywhere],
    ['debian-9-x64', 'Debian', '9 x64', 20480, everywhere],
    ['centos-7-x64', 'CentOS', '7 x64', 20480, everywhere],
    ['freebsd-11-x64', 'FreeBSD', '11 x64', 40960, everywhere],
    ['coreos-stable', 'CoreOS', 'stable', 20480, everywhere.filter((slug) => slug !== 'sgp1')],
  ] as const
).map(([slug, distribution, name, minimum, available]) => ({
  backend_id: slug,
  name: `${distribution} ${name}`,
  details: {
    distribution,
    type: 'snapshot',
    regions: available,
    is_official: true,
    created_at: '2017-06-01T00:00:00Z',
    min_disk_size: minimum,
  },
}));

const sizes: readonly SimulatedProperty[] = (
  [
    ['s-1vcpu-1gb', 1, 1024, 25600, 1048576, everywhere],
    ['s-1vcpu-2gb', 1, 2048, 51200, 2097152, everywhere],
    ['s-2vcpu-4gb', 2, 4096, 81920, 4194304, everywhere],
    ['s-4vcpu-8gb', 4, 8192, 163840, 5242880, everywhere],
    ['s-8vcpu-32gb', 8, 32768, 655360, 7340032, ['nyc3', 'ams3']],
  ] as const
).map(([slug, cores, ram, disk, transfer, available]) => ({
  backend_id: slug,
  name: slug,
  details: { cores, ram, disk, transfer, regions: available },
}));

/** Simulation of DigitalOcean (providers.md 3.3, 3.4). */
export const simulation: Simulation = {
  properties: { Region: regions, Image: images, Size: sizes },
  kinds: {
    Droplet: {
      id: (n) => String(1_000_000 + n),
      initialValues: (_n, _values, draw) => ({
        external_ips: [draw.externalAddress()],
        internal_ips: [draw.internalAddress()],
      }),
      transitionStates: {
        create: ['provisioning'],
        start: ['offline'],
        stop: ['online'],
        restart: ['online'],
        resize: ['resizing'],
      },
      final: { create: 'online', start: 'online', stop: 'offline', restart: 'online', resize: 'offline' },
      actionValues: {
        resize: (_values, { cores, new_disk: disk, ram, size }) => ({ cores, ram, disk, size_name: size }),
      },
      unmanaged: (_n, draw) => ({
        cores: 1,
        ram: 1024,
        disk: 25600,
        size_name: 's-1vcpu-1gb',
        image_name: 'Debian 9 x64',
        region: 'fra1',
        region_name: 'Frankfurt 1',
        external_ips: [draw.externalAddress()],
        internal_ips: [draw.internalAddress()],
      }),
    },
  },
};
