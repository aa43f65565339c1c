import type { Request } from '../../../kernel/access/request.ts';
import type { NewValues } from '../../../kernel/collection/field.ts';
import { exampleLink } from '../../../kernel/collection/json-schema.ts';
import { boolean } from '../../../kernel/collection/values.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import {
  type ActionPlan,
  type CreationPlan,
  type NewResource,
  type ResourceLocation,
  resourceAction,
  resourceKind,
} from '../../catalogue/type.ts';
import { noteUploadedKey } from '../../people/uploaded-keys.ts';
import { chosenProperty, isInRegion, propertyLink } from '../../properties/property.ts';
import { shownDetail } from '../../resources/details.ts';
import { detailsOf } from '../../resources/resource.ts';

const hostnameRule = 'Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)';
/** Distributions that cannot start without a key. */
const keyed = ['Ubuntu', 'FreeBSD', 'CoreOS'];

const createFields = {
  region: propertyLink('DigitalOcean.Region', 'digitalocean-regions'),
  image: propertyLink('DigitalOcean.Image', 'digitalocean-images'),
  size: propertyLink('DigitalOcean.Size', 'digitalocean-sizes'),
  region_name: shownDetail('region_name', { type: 'string' }, '""'),
};

const resizeFields = {
  size: propertyLink('DigitalOcean.Size', 'digitalocean-sizes'),
  disk: boolean({ required: true, help: 'Whether the disk grows too, which cannot be undone.' }),
};

function accept(request: Request, values: NewResource<typeof createFields>, place: ResourceLocation): CreationPlan {
  const region = chosenProperty(request, values, 'region', place.settings);
  const image = chosenProperty(request, values, 'image', place.settings);
  const size = chosenProperty(request, values, 'size', place.settings);
  const { name, ssh_public_key: key } = values;
  if (!/^[a-z0-9.-]+$/i.test(name)) throw invalid({ name: [hostnameRule] });
  if (keyed.includes(String(image.values.distribution)) && typeof key !== 'number') {
    throw invalid({ ssh_public_key: ['SSH public key is required for this image'] });
  }
  if (!isInRegion(image, region.backend_id)) throw invalid({ image: [`Image is missing in region ${region.name}`] });
  if (!isInRegion(size, region.backend_id)) throw invalid({ size: [`Size is missing in region ${region.name}`] });
  if (Number(size.values.disk) < Number(image.values.min_disk_size ?? 0)) {
    throw invalid({ size: [`Disk provided by size ${size.name} is not enough for image ${image.name}`] });
  }
  return {
    row: {
      cores: size.values.cores,
      ram: size.values.ram,
      disk: size.values.disk,
      min_disk: image.values.min_disk_size ?? 0,
      image_name: image.name,
      region_name: region.name,
      region: region.backend_id,
      size_name: size.backend_id,
      transfer: size.values.transfer,
    },
    parameters: { region: region.backend_id, image: image.backend_id, size: size.backend_id },
    afterInsert: () => {
      if (typeof key === 'number') noteUploadedKey(request, place.settings, key);
    },
  };
}

function acceptResize(request: Request, droplet: ResourceRow, values: NewValues<typeof resizeFields>): ActionPlan {
  const size = chosenProperty(request, values, 'size', droplet.settings_id);
  const { disk: isPermanent } = values;
  const [cores, disk, ram] = [Number(size.values.cores), Number(size.values.disk), Number(size.values.ram)];
  const { region, region_name: regionName } = detailsOf(droplet);
  if (cores === droplet.cores && ram === droplet.ram && disk === droplet.disk)
    throw invalid({ size: ['New size is the same. Please select another one.'] });
  if (disk < droplet.disk)
    throw invalid({ size: ['Disk sizes are not allowed to be decreased through a resize operation.'] });
  if (!isInRegion(size, region)) throw invalid({ size: [`Size is missing in region ${regionName}`] });
  return {
    parameters: { size: size.backend_id, disk: isPermanent, cores, ram, new_disk: isPermanent ? disk : droplet.disk },
    quotaDeltas: {
      link: { vcpu: cores - droplet.cores, ram: ram - droplet.ram, storage: isPermanent ? disk - droplet.disk : 0 },
    },
  };
}

/** DigitalOcean.Droplet (providers.md 5.2, 5.3) */
export const droplet = resourceKind({
  name: 'Droplet',
  path: 'digitalocean-droplets',
  examples: {
    name: 'web-1.example.com',
    create: {
      region: exampleLink('digitalocean-regions'),
      image: exampleLink('digitalocean-images'),
      size: exampleLink('digitalocean-sizes'),
      ssh_public_key: exampleLink('keys'),
    },
  },
  plural: 'droplets',
  category: 'vms',
  isVirtualMachine: true,
  runtime: { online: 'online', offline: 'offline', failed: ['error'] },
  fields: createFields,
  isCreatable: true,
  accept,
  quotaDeltas: ({ cores, disk, ram }) => ({ link: { vcpu: cores, ram, storage: disk }, service: { droplet_count: 1 } }),
  actions: [
    { name: 'start', runtimeStates: ['offline'], response: { status: 'start was scheduled' } },
    { name: 'stop', runtimeStates: ['online'], response: { status: 'stop was scheduled' } },
    { name: 'restart', runtimeStates: ['online'], response: { status: 'restart was scheduled' } },
    resourceAction({
      name: 'resize',
      runtimeStates: ['offline'],
      fields: resizeFields,
      accept: acceptResize,
      response: { detail: 'resizing was scheduled' },
    }),
  ],
  importing: {
    states: ['online', 'offline'],
    fields: ['cores', 'ram', 'disk', 'flavor_name'],
    item: (_, { values }) => ({ flavor_name: values.size_name }),
  },
});
