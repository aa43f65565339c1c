import type { Request } from '../../../kernel/access/request.ts';
import type { NewValues } from '../../../kernel/collection/field.ts';
import { link } from '../../../kernel/collection/links.ts';
import { computedValue } from '../../../kernel/collection/representation.ts';
import { choice, integer, text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { conflict, invalid } from '../../../kernel/http/error.ts';
import type { BackendObject } from '../../catalogue/driver.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import {
  type ActionPlan,
  type CreationPlan,
  type NewResource,
  type ResourceLocation,
  resourceAction,
  resourceKind,
} from '../../catalogue/type.ts';
import { chosenProperty, propertyLink } from '../../properties/property.ts';
import {
  instanceFields,
  instanceFilters,
  instanceOrderings,
  relatedList,
  resourceTarget,
  shownDetail,
} from '../../resources/details.ts';
import { detailsOf, knownResource } from '../../resources/resource.ts';
import { rejectUnlessOffline } from './instance.ts';

const smallest = 1024;
/** Limit of the column; the provider's limit is smaller. */
const largest = 2 ** 31 - 1;

const volumeTypes = ['gp2', 'io1', 'standard'];

const fields = {
  size: integer({ min: smallest, max: largest, required: true, update: false, help: 'In MiB.', example: 10_240 }),
  region: propertyLink('Amazon.Region', 'aws-regions'),
  volume_type: {
    ...choice({ required: true, update: false, choices: () => volumeTypes.map((type) => [type, type] as const) }),
    json: () => computedValue(`ifnull(r.details -> '$.volume_type', '""')`),
    // Imported volumes may be of any type.
    shape: { type: 'string', examples: [volumeTypes[0]] },
  },
  region_name: shownDetail('region_name', { type: 'string' }, '""'),
  device: shownDetail('device', { type: 'string' }, '""'),
  ...instanceFields('aws-instances'),
};

const attachFields = {
  instance: link({ required: true, to: resourceTarget('Amazon.Instance', 'aws-instances'), key: "''" }),
  device: text({ max: 128, required: true, help: 'Name of the device, such as /dev/sdf.', example: '/dev/sdf' }),
};

function accept(request: Request, values: NewResource<typeof fields>, { settings }: ResourceLocation): CreationPlan {
  const region = chosenProperty(request, values, 'region', settings);
  const { size, volume_type } = values;
  return { row: { size, volume_type, region: region.backend_id, region_name: region.name } };
}

/** Provider id of the instance that a volume is attached to; empty if detached. */
const attachedTo = (volume: Pick<ResourceRow, 'details'>): string =>
  String(detailsOf(volume).instance_backend_id ?? '');

const rejectAttached = (_request: Request, volume: ResourceRow): string | undefined =>
  attachedTo(volume) === '' ? undefined : 'Volume is already attached to instance.';

const rejectDetached = (_request: Request, volume: ResourceRow): string | undefined =>
  attachedTo(volume) === '' ? 'Volume is already detached.' : undefined;

function acceptAttach(
  request: Request,
  volume: ResourceRow,
  { device, instance: id }: NewValues<typeof attachFields>,
): ActionPlan {
  const instance = knownResource(request.db, id);
  if (instance.link_id !== volume.link_id) throw invalid({ instance: ['Invalid hyperlink - Object does not exist.'] });
  if (detailsOf(instance).region !== detailsOf(volume).region)
    throw invalid({ instance: ['Instance is not within the same region.'] });
  const rejection =
    rejectAttached(request, volume) ??
    (instance.state === 'OK' ? rejectUnlessOffline(instance) : rejectUnlessOffline({ runtime_state: '' }));
  if (rejection !== undefined) throw conflict(rejection);
  return {
    parameters: { instance_backend_id: instance.backend_id, device, shown: { instance: instance.name, device } },
  };
}

/** An attached volume can be imported only after its instance. */
function acceptImport({ db }: Request, { values }: BackendObject, { settings }: ResourceLocation): CreationPlan {
  const instance = String(values.instance_backend_id ?? '');
  const isKnown =
    db.value(
      sql`
        SELECT 1 FROM resource
        WHERE settings_id = ${settings} AND kind = 'Amazon.Instance' AND backend_id = ${instance}`,
    ) !== undefined;
  if (instance !== '' && !isKnown)
    throw invalid({ backend_id: [`You must import instance with ID ${instance} first`] });
  return { row: {} };
}

/** Amazon.Volume (providers.md 6.4) */
export const volume = resourceKind({
  name: 'Volume',
  path: 'aws-volumes',
  examples: { name: 'data-1' },
  plural: 'volumes',
  category: 'storages',
  runtime: { failed: ['error'] },
  fields,
  related: relatedList('Amazon.Instance', 'aws-instances', 'x.id = r.instance_id'),
  filters: instanceFilters('aws-instances'),
  orderings: { size: 'r.size', ...instanceOrderings },
  references: { instance_id: { value: 'instance_backend_id', kind: 'Amazon.Instance' } },
  isCreatable: true,
  accept,
  quotaDeltas: (row) => ({
    project: { nc_volume_count: 1, nc_volume_size: row.size },
    customer: { nc_volume_size: row.size },
    // The root volume is the instance's disk, which is counted there.
    link: { storage: detailsOf(row).is_root ? 0 : row.size },
    service: { volume_count: 1 },
  }),
  actions: [
    resourceAction({
      name: 'attach',
      fields: attachFields,
      denialReason: rejectAttached,
      accept: acceptAttach,
      response: { status: 'attach was scheduled' },
    }),
    { name: 'detach', denialReason: rejectDetached, response: { status: 'detach was scheduled' } },
  ],
  deletion: { denialReason: rejectAttached },
  limits: { delete: 25 },
  importing: {
    fields: ['size', 'state', 'runtime_state', 'device', 'instance_id', 'volume_type'],
    item: (_request, { values }) => ({ state: 'OK', instance_id: values.instance_backend_id || null }),
    accept: acceptImport,
  },
});
