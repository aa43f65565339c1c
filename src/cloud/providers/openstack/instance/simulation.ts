import type { PlainValues, RowChange } from '../../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedKind, ValueGenerator } from '../../../catalogue/simulation.ts';
import { within } from '../simulated/limits.ts';
import { asList, attachedTo, dashedUuid, detachedAddress, detachedVolume } from '../simulated/objects.ts';

interface Subnet {
  readonly subnet: string;
  readonly allocation_pools: readonly { readonly start: string; readonly end: string }[];
}

interface InternalIp {
  readonly subnet: string;
  readonly ip4_address: string;
  readonly mac_address: string;
}

interface FloatingIp {
  /** Id of an existing one. */
  readonly backend_id?: string;
  /** Row of a new one. */
  readonly uuid?: string;
  readonly address?: string;
  readonly subnet: string;
}

const asNumber = (address: string): number =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
const asAddress = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');

/** The next unused address of a subnet's pool. */
function freeAddress({ allocation_pools: [pool], subnet }: Subnet, { all, next }: ValueGenerator): string {
  if (!pool) return '';
  const first = asNumber(pool.start);
  const count = asNumber(pool.end) - first + 1;
  const used = new Set(
    all('Instance').flatMap(({ values }) =>
      asList<InternalIp>(values.internal_ips_set).map(({ ip4_address: address }) => address),
    ),
  );
  for (let tries = 0; tries < count; tries++) {
    const address = asAddress(first + ((next(`addresses ${subnet}`) - 1) % count));
    if (!used.has(address)) return address;
  }
  return '';
}

/** Connections to these subnets; keeps existing ones. */
const connected = (subnets: readonly Subnet[], current: readonly InternalIp[], draw: ValueGenerator): InternalIp[] =>
  subnets.map(
    (subnet) =>
      current.find((ip) => ip.subnet === subnet.subnet) ?? {
        subnet: subnet.subnet,
        ip4_address: freeAddress(subnet, draw),
        mac_address: draw.macAddress(),
      },
  );

const addresses = (ips: readonly InternalIp[]): string[] => ips.map(({ ip4_address: address }) => address);

/** External addresses in the requested order; generates new ones. */
const external = (requested: readonly FloatingIp[], draw: ValueGenerator): string[] =>
  requested.map(({ address }) => address || draw.externalAddress());

/** Changes that associate floating IPs with the instance. */
function attachedIps(object: PlainValues, requested: readonly FloatingIp[]): OtherChange[] {
  const external_ips = asList<string>(object.external_ips);
  return requested.map(({ backend_id: id, subnet, uuid }, i): OtherChange => {
    const values = { instance_backend_id: object.backend_id, subnet, runtime_state: 'ACTIVE' };
    if (id !== undefined) return { kind: 'FloatingIP', action: 'change', backend_id: id, values };
    const address = external_ips[i];
    const own = { name: address, address, tenant_backend_id: object.tenant_backend_id };
    return { kind: 'FloatingIP', action: 'add', ...(uuid !== undefined && { uuid }), values: { ...own, ...values } };
  });
}

const devices = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `/dev/vd${letter}`);

/** The volumes created with a new instance and attached to it. */
const firstVolumes = (object: PlainValues, { volumes }: PlainValues): OtherChange[] =>
  asList<PlainValues & { uuid: string }>(volumes).map(({ parent_id: _, uuid, ...volume }, i) => ({
    kind: 'Volume',
    action: 'add',
    uuid,
    values: { ...volume, instance_backend_id: object.backend_id, device: devices[i], runtime_state: 'in-use' },
  }));

/** Rows created with an instance stay in creation until the instance is created. */
const creating = ({ floating_ips: ips, volumes }: PlainValues): RowChange[] => [
  ...asList<{ uuid: string }>(volumes).map(
    ({ uuid }): RowChange => ({
      kind: 'OpenStack.Volume',
      action: 'change',
      uuid,
      values: { state: 'Creating', runtime_state: 'creating' },
    }),
  ),
  ...newIps({ floating_ips: ips }),
];

const newIps = ({ floating_ips: ips }: PlainValues): RowChange[] =>
  asList<FloatingIp>(ips).flatMap(({ uuid }): RowChange[] =>
    uuid === undefined ? [] : [{ kind: 'OpenStack.FloatingIP', action: 'change', uuid, values: { state: 'Creating' } }],
  );

/** Changes of volumes and floating IPs when their instance is deleted. */
function afterDeletion(
  { backend_id: id }: PlainValues,
  all: (kind: string) => readonly OtherObject[],
  flags: PlainValues,
): OtherChange[] {
  const volumes = attachedTo(all('Volume'), id).map(
    ({ backend_id, values }): OtherChange =>
      flags.delete_volumes || values.bootable
        ? { kind: 'Volume', action: 'remove', backend_id }
        : { kind: 'Volume', action: 'change', backend_id, values: detachedVolume },
  );
  const ips = attachedTo(all('FloatingIP'), id).map(
    ({ backend_id }): OtherChange =>
      flags.release_floating_ips ? { kind: 'FloatingIP', action: 'remove', backend_id } : freed(backend_id),
  );
  return [...volumes, ...ips];
}

/** Floating IPs of an instance that lose the subnet through which they reach it. */
const cutOff = (instance: unknown, subnets: readonly Subnet[], floatingIps: readonly OtherObject[]): OtherObject[] =>
  attachedTo(floatingIps, instance).filter(({ values }) => !subnets.some(({ subnet }) => subnet === values.subnet));

const freed = (backend_id: string): OtherChange => ({
  kind: 'FloatingIP',
  action: 'change',
  backend_id,
  values: detachedAddress,
});

/** Simulation of OpenStack.Instance. */
export const instance: SimulatedKind = {
  id: (_n, draw) => dashedUuid(draw),
  rejects: {
    // Volumes, then the server, then its floating IPs.
    create: within(({ cores, ram }, { floating_ips: ips, volumes }) => [
      ...asList<PlainValues>(volumes).map(({ size }) => ({ volumes: 1, storage: Number(size) })),
      { instances: 1, vcpu: Number(cores), ram: Number(ram) },
      ...newIps({ floating_ips: ips }).map(() => ({ floating_ip_count: 1 })),
    ]),
    change_flavor: within((before, { cores, ram }) => [
      { vcpu: Number(cores) - Number(before.cores), ram: Number(ram) - Number(before.ram) },
    ]),
    update_floating_ips: within((_instance, { floating_ips: ips }) =>
      newIps({ floating_ips: ips }).map(() => ({ floating_ip_count: 1 })),
    ),
  },
  initialValues: (_n, { floating_ips: ips, subnets }, draw) => {
    const internal = connected(asList<Subnet>(subnets), [], draw);
    return {
      internal_ips_set: internal,
      internal_ips: addresses(internal),
      external_ips: external(asList<FloatingIp>(ips), draw),
    };
  },
  transitionStates: {
    create: ['BUILDING'],
    start: ['SHUTOFF'],
    stop: ['ACTIVE'],
    restart: ['REBOOT'],
    change_flavor: ['RESIZE', 'VERIFY_RESIZE'],
  },
  final: { create: 'ACTIVE', start: 'ACTIVE', stop: 'SHUTOFF', restart: 'ACTIVE', change_flavor: 'SHUTOFF' },
  sideEffects: { create: creating, update_floating_ips: newIps },
  actionValues: {
    change_flavor: (_values, { cores, flavor, flavor_disk, flavor_name, ram }) => ({
      cores,
      flavor,
      flavor_disk,
      flavor_name,
      ram,
    }),
    update_security_groups: (_values, { security_groups: groups }) => ({ security_groups: groups }),
    update_internal_ips_set: ({ backend_id: id, external_ips: ips, internal_ips_set: current }, { subnets }, draw) => {
      const internal = connected(asList<Subnet>(subnets), asList<InternalIp>(current), draw);
      const disconnectedAddresses = cutOff(id, asList<Subnet>(subnets), draw.all('FloatingIP')).map(
        ({ values }) => values.address,
      );
      return {
        internal_ips_set: internal,
        internal_ips: addresses(internal),
        external_ips: asList<string>(ips).filter((address) => !disconnectedAddresses.includes(address)),
      };
    },
    update_floating_ips: (_values, { floating_ips: ips }, draw) => ({
      external_ips: external(asList<FloatingIp>(ips), draw),
    }),
  },
  otherChanges: {
    create: (object, _all, parameters) => [
      ...firstVolumes(object, parameters),
      ...attachedIps(object, asList<FloatingIp>(parameters.floating_ips)),
    ],
    update_internal_ips_set: ({ backend_id: id }, all, { subnets }) =>
      cutOff(id, asList<Subnet>(subnets), all('FloatingIP')).map(({ backend_id }) => freed(backend_id)),
    update_floating_ips: (object, _all, { floating_ips: ips, freed: left }) => [
      ...asList<string>(left).map(freed),
      ...attachedIps(object, asList<FloatingIp>(ips)),
    ],
    delete: afterDeletion,
  },
  unmanaged: (_n, draw, fellow) => {
    const tenant = fellow('Tenant') ?? '';
    const own = draw.all('SubNet').find(({ values }) => values.tenant_backend_id === tenant);
    const internal = own
      ? connected([{ subnet: own.backend_id, allocation_pools: asList(own.values.allocation_pools) }], [], draw)
      : [];
    return {
      tenant_backend_id: tenant,
      cores: 1,
      ram: 512,
      disk: 1024,
      flavor: '1',
      flavor_name: 'm1.tiny',
      flavor_disk: 1024,
      image_name: 'CirrOS 0.4.0',
      security_groups: [],
      internal_ips_set: internal,
      internal_ips: addresses(internal),
      external_ips: [],
    };
  },
};
