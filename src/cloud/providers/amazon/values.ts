import * as v from 'valibot';
import type { BackendObject, PlainValues } from '../../catalogue/driver.ts';
import { regions, sizes } from './catalogue.ts';
import type { VendorInstance, VendorVolume } from './responses.ts';

/* Maps vendor objects to row values; sizes in MiB. */

export const mebibytes = 1024;

/** Whole GiB of so many MiB. */
export const gibibytes = (size: unknown): number => Math.ceil(Number(size) / mebibytes);

/** Characters of generated names. */
const maxNameLength = 150;

export const rootVolumeName = (instance: unknown): string => [...`volume-${instance}`].slice(0, maxNameLength).join('');

const nameOf = ({ tagSet }: Pick<VendorInstance, 'tagSet'>): string =>
  tagSet.find(({ key }) => key === 'Name')?.value ?? '';

const regionName = (region: string): string => regions.find(({ backend_id: code }) => code === region)?.name ?? region;

const dimensions = v.object({ cores: v.number(), ram: v.number() });

/** Cores and memory of a type in the table of sizes; undefined for other types. */
export function dimensionsOf(type: string): v.InferOutput<typeof dimensions> | undefined {
  const size = sizes.find(({ backend_id: code }) => code === type);
  return size && v.parse(dimensions, size.details);
}

const instant = (time: string): number | undefined =>
  Number.isNaN(Date.parse(time)) ? undefined : Date.parse(time) * 1000;

/** The root volume of an instance, if it has one. */
export const rootVolumeOf = ({ blockDeviceMapping, rootDeviceName }: VendorInstance): string | undefined =>
  blockDeviceMapping.find(({ deviceName }) => deviceName === rootDeviceName)?.ebs?.volumeId;

/** Row values of an instance. */
export function instanceValues(instance: VendorInstance, region: string): PlainValues {
  const { instanceState, instanceType, launchTime, networkInterfaceSet } = instance;
  const addresses = networkInterfaceSet.flatMap(({ privateIpAddressesSet }) => privateIpAddressesSet);
  const external = [
    ...addresses.flatMap(({ association }) => (association?.publicIp ? [association.publicIp] : [])),
    ...networkInterfaceSet.flatMap(({ ipv6AddressesSet }) => ipv6AddressesSet.map(({ ipv6Address }) => ipv6Address)),
  ];
  const name = nameOf(instance);
  return {
    ...(name !== '' && { name }),
    runtime_state: instanceState.name,
    ...dimensionsOf(instanceType),
    size_name: instanceType,
    external_ips: external,
    internal_ips: addresses.flatMap(({ privateIpAddress }) => (privateIpAddress ? [privateIpAddress] : [])),
    region,
    region_name: regionName(region),
    ...(instanceState.name === 'running' && { start_time: instant(launchTime) }),
  };
}

const volumeStates: Readonly<Record<string, string>> = { 'in-use': 'inuse' };

/** The runtime state of a volume; while it is being attached or detached, the state of the attachment. */
function volumeState({ attachmentSet: [attachment], status }: VendorVolume): string {
  if (attachment?.status === 'attaching' || attachment?.status === 'detaching') return attachment.status;
  return volumeStates[status] ?? status;
}

/** Row values of a volume. */
export function volumeValues(volume: VendorVolume, region: string): PlainValues {
  const {
    attachmentSet: [attachment],
    size,
    volumeType,
  } = volume;
  const name = nameOf(volume);
  return {
    ...(name !== '' && { name }),
    size: size * mebibytes,
    volume_type: volumeType,
    runtime_state: volumeState(volume),
    device: attachment?.device ?? '',
    instance_backend_id: attachment?.instanceId ?? '',
    region,
    region_name: regionName(region),
  };
}

/** An object of the provider, named by its id if it has no name. */
export function backendObject(
  kind: string,
  id: string,
  created: string,
  { name = id, ...values }: PlainValues,
): BackendObject {
  return { kind, backend_id: id, name: String(name), values: { ...values, created: created || null } };
}
