import type { Request } from '../../../kernel/access/request.ts';
import type { NewValues } from '../../../kernel/collection/field.ts';
import { exampleLink } from '../../../kernel/collection/json-schema.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { invalid, invalidRequest } from '../../../kernel/http/error.ts';
import type { BackendObject, PlainValues } from '../../catalogue/driver.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import {
  type ActionPlan,
  type CreationPlan,
  type NewResource,
  type ResourceLocation,
  resourceAction,
  resourceKind,
} from '../../catalogue/type.ts';
import {
  chosenProperty,
  isInRegion,
  type Property,
  propertyByBackendId,
  propertyLink,
} from '../../properties/property.ts';
import { relatedList, shownDetail } from '../../resources/details.ts';
import { detailsOf } from '../../resources/resource.ts';
import { image as imageKind } from './properties.ts';

/** Runtime states in which an instance can be resized, and volumes attached to it. */
const offlineStates = ['terminated', 'stopped', 'suspended', 'paused'];

/** Why an instance that must be offline cannot be changed, or undefined. */
export const rejectUnlessOffline = ({
  runtime_state: state,
}: Pick<ResourceRow, 'runtime_state'>): string | undefined =>
  offlineStates.includes(state) ? undefined : 'Instance runtime state must be in one of offline states.';

const resizeFields = { size: propertyLink('Amazon.Size', 'aws-sizes') };

const fields = {
  region: propertyLink('Amazon.Region', 'aws-regions'),
  image: propertyLink('Amazon.Image', 'aws-images'),
  ...resizeFields,
  region_name: shownDetail('region_name', { type: 'string' }, '""'),
};

type NewInstance = NewResource<typeof fields>;

/** The chosen image. Throws 400 if the settings exclude it. */
function chosenImage(request: Request, values: NewInstance, settings: number): Property {
  const image = chosenProperty(request, values, 'image', settings);
  const options: PlainValues = JSON.parse(
    request.db.scalar<string>(sql`SELECT options FROM service_settings WHERE id = ${settings}`),
  );
  if (!imageKind.isIncluded?.(image.name, options))
    throw invalid({ image: ['Invalid hyperlink - Object does not exist.'] });
  return image;
}

function accept(request: Request, values: NewInstance, { settings }: ResourceLocation): CreationPlan {
  const region = chosenProperty(request, values, 'region', settings);
  const image = chosenImage(request, values, settings);
  const size = chosenProperty(request, values, 'size', settings);
  if (image.values.region !== region.backend_id) throw invalidRequest(`Image is missing in region ${region.name}`);
  if (!isInRegion(size, region.backend_id)) throw invalidRequest(`Size is missing in region ${region.name}`);
  const { cores, disk, ram } = size.values;
  return {
    row: {
      cores,
      ram,
      disk,
      image_name: image.name,
      region: region.backend_id,
      region_name: region.name,
      size_name: size.backend_id,
    },
    parameters: { image: image.backend_id },
  };
}

function acceptResize(request: Request, instance: ResourceRow, values: NewValues<typeof resizeFields>): ActionPlan {
  const size = chosenProperty(request, values, 'size', instance.settings_id);
  const current = detailsOf(instance);
  const [cores, disk, ram] = [Number(size.values.cores), Number(size.values.disk), Number(size.values.ram)];
  if (!isInRegion(size, String(current.region))) throw invalid({ size: ['New size is not within the same region.'] });
  if (size.backend_id === current.size_name) throw invalid({ size: ['New size is the same as current.'] });
  if (disk < instance.disk) throw invalid({ size: ['New disk size should be greater than the previous value'] });
  return {
    parameters: { size: size.backend_id, cores, ram, disk, shown: { size: size.name } },
    quotaDeltas: { link: { vcpu: cores - instance.cores, ram: ram - instance.ram, storage: disk - instance.disk } },
  };
}

const importItem = (request: Request, { values }: BackendObject, settings: number): PlainValues => ({
  region: propertyByBackendId(request, 'Amazon.Region', String(values.region), settings)?.uuid,
  state: 'OK',
  public_ips: values.external_ips,
  flavor_name: values.size_name,
});

/** Amazon.Instance (providers.md 6.3) */
export const instance = resourceKind({
  name: 'Instance',
  path: 'aws-instances',
  examples: {
    name: 'web-1',
    create: {
      region: exampleLink('aws-regions'),
      image: exampleLink('aws-images'),
      size: exampleLink('aws-sizes'),
      ssh_public_key: exampleLink('keys'),
    },
  },
  plural: 'instances',
  category: 'vms',
  isVirtualMachine: true,
  runtime: { online: 'running', offline: 'stopped' },
  fields,
  related: relatedList('Amazon.Volume', 'aws-volumes', 'x.instance_id = r.id'),
  deletion: { removedTogether: ({ id }) => sql`r.instance_id = ${id} AND r.details ->> '$.is_root'` },
  isCreatable: true,
  accept,
  quotaDeltas: ({ cores, disk, ram }) => ({
    link: { vcpu: cores, ram, storage: disk },
    service: { instance_count: 1 },
  }),
  actions: [
    { name: 'start', runtimeStates: ['stopped'], response: { status: 'start was scheduled' } },
    { name: 'stop', runtimeStates: ['running'], response: { status: 'stop was scheduled' } },
    { name: 'restart', runtimeStates: ['running'], response: { status: 'restart was scheduled' } },
    resourceAction({
      name: 'resize',
      denialReason: (_request, row) => rejectUnlessOffline(row),
      fields: resizeFields,
      accept: acceptResize,
      response: { status: 'resize was scheduled' },
    }),
  ],
  limits: { delete: 25 },
  importing: {
    fields: ['cores', 'ram', 'disk', 'region', 'state', 'public_ips', 'flavor_name', 'runtime_state'],
    item: importItem,
  },
});
