import type { Inventory, PlainValues } from '../../../catalogue/driver.ts';
import type { Property } from '../../../properties/property.ts';
import type { VendorImage } from '../api/cloud.ts';
import type { VendorFlavor, VendorServer } from '../api/compute.ts';
import type {
  VendorFloatingIp,
  VendorNetwork,
  VendorPort,
  VendorRule,
  VendorSecurityGroup,
  VendorSubnet,
} from '../api/network.ts';
import type { VendorSnapshot, VendorVolume } from '../api/volume.ts';
import { numbered, type Rule } from '../security-group/security-group.ts';

/** Bounds of a volume's size in MiB. */
export const smallestVolume = 1024;
export const largestVolume = 2_147_483_647;

/** Cores of a flavor, and its memory and disk in MiB. */
export const sizeOf = ({ values: { cores, disk, ram } }: Pick<Property, 'values'>) => ({
  cores: Number(cores),
  disk: Number(disk),
  ram: Number(ram),
});

/* Maps vendor objects to row values, with the names of the simulator; sizes in MiB. */

const mebibytes = 1024;

/** Whole GiB of MiB, as the vendor counts disks. */
export const gibibytes = (size: unknown): number => Math.ceil(Number(size) / mebibytes);

/** MiB of a vendor's GiB; -1 (no limit) stays -1. */
export const inMebibytes = (size: number): number => (size < 0 ? size : size * mebibytes);

/** The runtime state for a server's status: the vendor's status, with one exception. */
export const serverState = (status: string): string => (status === 'BUILD' ? 'BUILDING' : status);

/** Marks the object of a row, so that it can be found if the response is lost. */
export const marker = 'tenantry_uuid';
export const markerText = (uuid: string): string => `${marker}=${uuid}`;

const withoutMarker = ({ [marker]: _, ...metadata }: Readonly<Record<string, string>>): PlainValues => metadata;

/** Objects of a server at the other services. */
interface ServerParts {
  readonly flavor: VendorFlavor | undefined;
  readonly ports: readonly VendorPort[];
  readonly floatingIps: readonly VendorFloatingIp[];
  readonly volumes: readonly VendorVolume[];
}

const byCreation = (a: VendorPort, b: VendorPort): number =>
  `${a.created_at}${a.id}`.localeCompare(`${b.created_at}${b.id}`);

/** Row values of an instance. */
export function instanceValues(server: VendorServer, parts: ServerParts): PlainValues {
  const { flavor, floatingIps, volumes } = parts;
  const ports = [...parts.ports].sort(byCreation);
  const internal = ports.flatMap(({ fixed_ips: ips, mac_address }) =>
    (ips ?? []).map(({ ip_address, subnet_id }) => ({ subnet: subnet_id, ip4_address: ip_address, mac_address })),
  );
  const image = volumes.map(({ volume_image_metadata: metadata }) => metadata?.image_name).find(Boolean);
  const disks = inMebibytes(volumes.reduce((sum, { size }) => sum + size, 0));
  return {
    name: server.name,
    runtime_state: serverState(server.status),
    tenant_backend_id: server.tenant_id,
    ...(flavor && {
      cores: flavor.vcpus,
      ram: flavor.ram,
      flavor: flavor.id,
      flavor_name: flavor.name,
      flavor_disk: inMebibytes(flavor.disk),
    }),
    disk: disks || inMebibytes(flavor?.disk ?? 0),
    ...(image && { image_name: image }),
    security_groups: [...new Set(ports.flatMap(({ security_groups: groups }) => groups ?? []))],
    internal_ips_set: internal,
    internal_ips: internal.map(({ ip4_address: address }) => address),
    external_ips: floatingIps.map(({ floating_ip_address: address }) => address),
  };
}

/** The project of an object, at services that show it only to administrators. */
const inTenant = (project: string | null | undefined): PlainValues => (project ? { tenant_backend_id: project } : {});

export function volumeValues(volume: VendorVolume): PlainValues {
  const { attachments, bootable, description, metadata, name, size, snapshot_id, status, volume_type } = volume;
  const [attached] = attachments ?? [];
  const image = volume.volume_image_metadata ?? {};
  return {
    name,
    description,
    size: inMebibytes(size),
    bootable: String(bootable) === 'true',
    metadata: withoutMarker(metadata ?? {}),
    ...(image.image_id && { image: image.image_id, image_name: image.image_name ?? '' }),
    image_metadata: image,
    type: volume_type,
    device: attached?.device ?? '',
    instance_backend_id: attached?.server_id ?? '',
    source_snapshot: snapshot_id,
    runtime_state: status,
    ...inTenant(volume['os-vol-tenant-attr:tenant_id']),
  };
}

export const snapshotValues = (snapshot: VendorSnapshot): PlainValues => ({
  name: snapshot.name,
  description: snapshot.description,
  size: inMebibytes(snapshot.size),
  metadata: withoutMarker(snapshot.metadata ?? {}),
  source_volume: snapshot.volume_id,
  runtime_state: snapshot.status,
  ...inTenant(snapshot['os-extended-snapshot-attributes:project_id']),
});

export const networkValues = (network: VendorNetwork): PlainValues => ({
  name: network.name,
  description: network.description,
  is_external: network['router:external'] ?? false,
  type: network['provider:network_type'] ?? '',
  segmentation_id: network['provider:segmentation_id'],
  tenant_backend_id: network.project_id,
});

export const subnetValuesOf = (subnet: VendorSubnet): PlainValues => ({
  name: subnet.name,
  description: subnet.description,
  network: subnet.network_id,
  cidr: subnet.cidr,
  gateway_ip: subnet.gateway_ip,
  allocation_pools: subnet.allocation_pools,
  ip_version: subnet.ip_version,
  enable_dhcp: subnet.enable_dhcp,
  dns_nameservers: subnet.dns_nameservers,
  tenant_backend_id: subnet.project_id,
});

/** Row values of a floating IP on `port`. */
export function floatingIpValues(ip: VendorFloatingIp, port: VendorPort | undefined): PlainValues {
  const reached = port?.fixed_ips?.find(({ ip_address: address }) => address === ip.fixed_ip_address);
  return {
    name: ip.floating_ip_address,
    address: ip.floating_ip_address,
    backend_network_id: ip.floating_network_id,
    runtime_state: ip.status,
    instance_backend_id: port?.device_owner?.startsWith('compute:') ? port.device_id : '',
    subnet: reached?.subnet_id ?? null,
    tenant_backend_id: ip.project_id,
  };
}

const protocols = ['tcp', 'udp', 'icmp'] as const;
const anywhere = '0.0.0.0/0';

/**
 * A rule as represented in responses; undefined if it cannot be: egress rules, IPv6, sources that are groups, and other
 * protocols.
 */
export function shownRule(rule: VendorRule): Omit<Rule, 'id'> | undefined {
  const { direction, ethertype, port_range_max: to, port_range_min: from, protocol, remote_group_id: group } = rule;
  const known = protocols.find((name) => name === protocol);
  if (direction !== 'ingress' || ethertype !== 'IPv4' || group || (protocol && !known)) return undefined;
  // All ports of a protocol that has ports.
  const [first, last] = known === 'tcp' || known === 'udp' ? [1, 65_535] : [-1, -1];
  return {
    protocol: known ?? '',
    from_port: from ?? first,
    to_port: to ?? last,
    cidr: rule.remote_ip_prefix ?? anywhere,
  };
}

/** Sorts rules, because the vendor returns them in no particular order. */
export const ordered = (rules: readonly Omit<Rule, 'id'>[]): Rule[] =>
  numbered(
    [...rules]
      .map(({ cidr, from_port, protocol, to_port }) => ({ protocol, from_port, to_port, cidr }))
      .sort(
        (a, b) =>
          a.protocol.localeCompare(b.protocol) ||
          a.from_port - b.from_port ||
          a.to_port - b.to_port ||
          a.cidr.localeCompare(b.cidr),
      ),
  );

export const securityGroupValues = (group: VendorSecurityGroup): PlainValues => ({
  name: group.name,
  description: group.description,
  rules: ordered((group.security_group_rules ?? []).flatMap((rule) => shownRule(rule) ?? [])),
  tenant_backend_id: group.project_id,
});

/** The properties: public flavors and images. */
export const propertySets = (
  flavors: readonly VendorFlavor[],
  images: readonly VendorImage[],
): Inventory['properties'] => ({
  Flavor: flavors
    .filter((flavor) => flavor['os-flavor-access:is_public'])
    .map(({ disk, id, name, ram, vcpus }) => ({
      backend_id: id,
      name,
      details: { cores: vcpus, ram, disk: inMebibytes(disk) },
    })),
  Image: images.map(({ id, min_disk: disk, min_ram: ram, name }) => ({
    backend_id: id,
    name: name ?? '',
    details: { min_disk: inMebibytes(disk ?? 0), min_ram: ram ?? 0 },
  })),
});
