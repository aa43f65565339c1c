import type { BackendObject, Inventory, PlainValues } from '../../catalogue/driver.ts';
import type { VendorDroplet, VendorImage, VendorRegion, VendorSize } from './api.ts';

/* Maps vendor objects to row values; sizes in MiB. */

const mebibytes = 1024;

const runtimeStates: Readonly<Record<string, string>> = {
  new: 'provisioning',
  active: 'online',
  off: 'offline',
  archive: 'archive',
};

/** The runtime state for a vendor's status; unknown ones are errors. */
export const runtimeState = (status: string): string => runtimeStates[status] ?? 'error';

const imageName = ({ distribution, name }: { readonly distribution: string; readonly name: string }): string =>
  `${distribution} ${name}`.trim();

/** Row values of a droplet. */
export function dropletValues(droplet: VendorDroplet): PlainValues {
  const { disk, image, memory, name, networks, region, size_slug: size, status, vcpus } = droplet;
  const addresses = [...(networks?.v4 ?? []), ...(networks?.v6 ?? [])];
  const addressesOf = (type: string): string[] =>
    addresses.filter((address) => address.type === type).map((address) => address.ip_address);
  return {
    name,
    runtime_state: runtimeState(status),
    cores: vcpus,
    ram: memory,
    disk: disk * mebibytes,
    size_name: size,
    external_ips: addressesOf('public'),
    internal_ips: addressesOf('private'),
    ...(image && { image_name: imageName(image), min_disk: (image.min_disk_size ?? 0) * mebibytes }),
    ...(region && { region: region.slug, region_name: region.name }),
  };
}

/** A droplet as an object of the provider. */
export function dropletObject(droplet: VendorDroplet): BackendObject {
  const { name, ...values } = dropletValues(droplet);
  return {
    kind: 'Droplet',
    backend_id: String(droplet.id),
    name: String(name),
    values: { ...values, created: droplet.created_at },
  };
}

/** The properties by kind, without regions that accept no new droplets. */
export function propertySets(
  regions: readonly VendorRegion[],
  images: readonly VendorImage[],
  sizes: readonly VendorSize[],
): Inventory['properties'] {
  return {
    Region: regions
      .filter(({ available }) => available)
      .map(({ name, slug }) => ({ backend_id: slug, name, details: {} })),
    Image: images.map((image) => ({
      backend_id: String(image.id),
      name: imageName(image),
      details: {
        distribution: image.distribution,
        type: image.type,
        regions: image.regions,
        is_official: image.slug !== null,
        is_public: image.public === true,
        created_at: image.created_at,
        min_disk_size: image.min_disk_size === null ? null : image.min_disk_size * mebibytes,
      },
    })),
    Size: sizes.map(({ disk, memory, regions: available, slug, transfer, vcpus }) => ({
      backend_id: slug,
      name: slug,
      details: {
        cores: vcpus,
        ram: memory,
        disk: disk * mebibytes,
        transfer: Math.round((transfer ?? 0) * mebibytes * mebibytes),
        regions: available,
      },
    })),
  };
}
