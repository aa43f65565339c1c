import type { Request } from '../../../../kernel/access/request.ts';
import { datetime } from '../../../../kernel/collection/datetime.ts';
import { FieldError, type NewValues, refine, writeOnly } from '../../../../kernel/collection/field.ts';
import { exampleLink } from '../../../../kernel/collection/json-schema.ts';
import { link } from '../../../../kernel/collection/links.ts';
import { nonBlankName } from '../../../../kernel/collection/rules.ts';
import { integer, text } from '../../../../kernel/collection/values.ts';
import { sql } from '../../../../kernel/db/sql.ts';
import { conflict, invalid } from '../../../../kernel/http/error.ts';
import type { ResourceRow } from '../../../catalogue/resource-row.ts';
import { type ActionPlan, type ResourceAction, resourceAction } from '../../../catalogue/type.ts';
import { makeResource } from '../../../resources/creation.ts';
import { resourceTarget } from '../../../resources/details.ts';
import { knownResource, resourceOf } from '../../../resources/resource.ts';
import { largestVolume, smallestVolume } from '../mapping/values.ts';
import { detailOf, rowsWhere } from '../tenancy/tenancy.ts';

const bootable = (volume: ResourceRow): string | undefined =>
  detailOf<boolean>(volume, 'bootable') ? 'Volume cannot be bootable.' : undefined;

function rejectExtension({ db }: Request, volume: ResourceRow): string | undefined {
  const instance = volume.instance_id === null ? undefined : resourceOf(db, volume.instance_id);
  const isReady = !instance || (instance.state === 'OK' && instance.runtime_state === 'SHUTOFF');
  return bootable(volume) ?? (isReady ? undefined : 'Volume instance should be in shutoff state.');
}

const extendFields = {
  disk_size: integer({ min: 1, max: largestVolume, required: true, help: 'New size in MiB.', example: 102_400 }),
};

/** Extending an attached volume also changes its instance, which is busy meanwhile. */
function acceptExtension(
  _request: Request,
  volume: ResourceRow,
  { disk_size: size }: NewValues<typeof extendFields>,
): ActionPlan {
  if (size < volume.size + smallestVolume)
    throw invalid({ disk_size: [`Disk size should be greater than ${volume.size}`] });
  const added = size - volume.size;
  return {
    parameters: { disk_size: size, growth: added },
    quotaDeltas: {
      project: { nc_volume_size: added },
      customer: { nc_volume_size: added },
      link: { storage: added },
      parent: { storage: added, volumes_size: added },
    },
    together: volume.instance_id === null ? [] : [volume.instance_id],
  };
}

const attachFields = {
  instance: {
    ...writeOnly(link({ required: true, key: "''", to: resourceTarget('OpenStack.Instance', 'openstack-instances') })),
    select: () => ({ path: 'openstack-instances', by: 'tenant' as const }),
  },
  device: text({
    max: 255,
    pattern: [/^\/dev\/[A-Za-z0-9]+$/, 'Enter a device path such as /dev/vdb.'],
    help: 'Device path such as /dev/vdb; default: the next free one.',
    example: '/dev/vdc',
  }),
};

const devicesOf = (request: Request, instance: ResourceRow): string[] =>
  rowsWhere(request, 'OpenStack.Volume', sql`r.instance_id = ${instance.id}`).map(
    (volume) => detailOf<string>(volume, 'device') ?? '',
  );

const letters = [...'bcdefghijklmnopqrstuvwxyz'];

function acceptAttachment(
  request: Request,
  volume: ResourceRow,
  { device, instance: id }: NewValues<typeof attachFields>,
): ActionPlan {
  const instance = knownResource(request.db, id);
  if (instance.link_id !== volume.link_id || instance.parent_id !== volume.parent_id) {
    throw invalid({ instance: ['Volume and instance should belong to the same service and project.'] });
  }
  const used = devicesOf(request, instance);
  if (device && used.includes(device)) throw invalid({ device: [`The supplied device path (${device}) is in use.`] });
  if (instance.state !== 'OK' || !['ACTIVE', 'SHUTOFF'].includes(instance.runtime_state)) {
    throw conflict('Volume can be attached only to shutoff or active instance in OK state.');
  }
  const free = letters.map((letter) => `/dev/vd${letter}`).find((path) => !used.includes(path)) ?? '';
  // A device is requested from the provider only if the caller names one.
  return {
    parameters: { instance_backend_id: instance.backend_id, device: device || free, asked_device: device ?? '' },
  };
}

/** A future instant, or null. */
const futureTime = refine(
  datetime({ help: 'When the snapshot is deleted; null: never.', example: '2030-01-31T00:00:00Z' }),
  (instant, { now }) => {
    if (instant !== null && instant <= now) throw new FieldError(['Enter a date in the future.']);
  },
);

const snapshotFields = {
  name: nonBlankName('database-before-upgrade'),
  description: text({ max: 500, lines: 'many' }),
  kept_until: futureTime,
};

function makeSnapshot(
  request: Request,
  volume: ResourceRow,
  { description, kept_until: keptUntil = null, name }: NewValues<typeof snapshotFields>,
): ResourceRow {
  return makeResource(request, 'OpenStack.Snapshot', volume, {
    row: {
      name,
      description,
      size: volume.size,
      parent_id: volume.parent_id,
      tenant_backend_id: detailOf(volume, 'tenant_backend_id'),
      source_volume: volume.backend_id,
      kept_until: keptUntil,
    },
  });
}

/** Actions of a volume (providers.md 4.6). */
export const volumeActions: readonly ResourceAction[] = [
  resourceAction({
    name: 'extend',
    fields: extendFields,
    denialReason: rejectExtension,
    accept: acceptExtension,
    response: { status: 'extend was scheduled' },
  }),
  resourceAction({
    name: 'snapshot',
    fields: snapshotFields,
    example: { name: 'database-before-upgrade', kept_until: '2030-01-31T00:00:00Z' },
    make: makeSnapshot,
    makes: 'OpenStack.Snapshot',
    response: {},
  }),
  resourceAction({
    name: 'attach',
    fields: attachFields,
    example: { instance: exampleLink('openstack-instances'), device: '/dev/vdc' },
    runtimeStates: ['available'],
    accept: acceptAttachment,
    response: { status: 'attach was scheduled' },
  }),
  {
    name: 'detach',
    runtimeStates: ['in-use'],
    denialReason: (_request, volume) => bootable(volume),
    accept: ({ db }, volume) => ({
      parameters: {
        instance_backend_id: volume.instance_id === null ? '' : resourceOf(db, volume.instance_id)?.backend_id,
      },
    }),
    response: { status: 'detach was scheduled' },
  },
];
