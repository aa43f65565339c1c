import type { Request } from '../../../kernel/access/request.ts';
import { exampleLink } from '../../../kernel/collection/example.ts';
import { type Field, FieldError, type Fields, hidden, type Values } from '../../../kernel/collection/field.ts';
import { datetime } from '../../../kernel/collection/instants.ts';
import { link } from '../../../kernel/collection/links.ts';
import { properName } from '../../../kernel/collection/rules.ts';
import { integer, text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { conflict, invalid } from '../../../kernel/http/error.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import type { ActionAcceptance, ResourceAction } from '../../catalogue/type.ts';
import { makeResource } from '../../resources/creation.ts';
import { resourceTarget } from '../../resources/details.ts';
import { resourceOf } from '../../resources/resource.ts';
import { largestVolume, smallestVolume } from './sizes.ts';
import { detailOf, rowsWhere } from './tenancy.ts';

const bootable = (volume: ResourceRow): string | undefined =>
  detailOf<boolean>(volume, 'bootable') ? 'Volume cannot be bootable.' : undefined;

function refuseExtension({ db }: Request, volume: ResourceRow): string | undefined {
  const instance = volume.instance_id === null ? undefined : resourceOf(db, volume.instance_id);
  const isReady = !instance || (instance.state === 'OK' && instance.runtime_state === 'SHUTOFF');
  return bootable(volume) ?? (isReady ? undefined : 'Volume instance should be in shutoff state.');
}

const extendFields: Fields = {
  disk_size: integer({ min: 1, max: largestVolume, required: true, help: 'New size in MiB.', example: 102_400 }),
};

/** An attached volume grows together with its instance, which is busy meanwhile. */
function acceptExtension(_request: Request, volume: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const size = (values as unknown as { disk_size: number }).disk_size;
  if (size < volume.size + smallestVolume)
    throw invalid({ disk_size: [`Disk size should be greater than ${volume.size}`] });
  const added = size - volume.size;
  return {
    parameters: { disk_size: size, growth: added },
    demands: {
      project: { nc_volume_size: added },
      customer: { nc_volume_size: added },
      link: { storage: added },
      parent: { storage: added, volumes_size: added },
    },
    together: volume.instance_id === null ? [] : [volume.instance_id],
  };
}

const attachFields: Fields = {
  instance: {
    ...hidden(link({ required: true, key: "''", to: resourceTarget('OpenStack.Instance', 'openstack-instances') })),
    select: () => ({ path: 'openstack-instances', by: 'tenant' }),
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

function acceptAttachment(request: Request, volume: ResourceRow, values: Values<Fields>): ActionAcceptance {
  const { device, instance: id } = values as unknown as { instance: number; device?: string };
  const instance = resourceOf(request.db, id) as ResourceRow;
  if (instance.link_id !== volume.link_id || instance.parent_id !== volume.parent_id) {
    throw invalid({ instance: ['Volume and instance should belong to the same service and project.'] });
  }
  const used = devicesOf(request, instance);
  if (device && used.includes(device)) throw invalid({ device: [`The supplied device path (${device}) is in use.`] });
  if (instance.state !== 'OK' || !['ACTIVE', 'SHUTOFF'].includes(instance.runtime_state)) {
    throw conflict('Volume can be attached only to shutoff or active instance in OK state.');
  }
  const free = letters.map((letter) => `/dev/vd${letter}`).find((path) => !used.includes(path)) ?? '';
  return { parameters: { instance_backend_id: instance.backend_id, device: device || free } };
}

/** An instant that is still to come, or null. */
const future: Field<number | null> = (() => {
  const field = datetime({ help: 'When the snapshot is deleted; null: never.', example: '2030-01-31T00:00:00Z' });
  const input = field.input as NonNullable<typeof field.input>;
  return {
    ...field,
    input: {
      ...input,
      parse: (value: unknown, request: Request, form: boolean): number | null => {
        const instant = input.parse(value, request, form);
        if (instant !== null && instant <= request.now) throw new FieldError(['Enter a date in the future.']);
        return instant;
      },
    },
  };
})();

const snapshotFields: Fields = {
  name: properName('database-before-upgrade'),
  description: text({ max: 500 }),
  kept_until: future,
};

function makeSnapshot(request: Request, volume: ResourceRow, values: Values<Fields>): ResourceRow {
  const {
    description,
    kept_until: keptUntil = null,
    name,
  } = values as unknown as { name: string; description?: string; kept_until?: number | null };
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
  {
    name: 'extend',
    fields: extendFields,
    refuse: refuseExtension,
    accept: acceptExtension,
    answer: { status: 'extend was scheduled' },
  },
  {
    name: 'snapshot',
    fields: snapshotFields,
    example: { name: 'database-before-upgrade', kept_until: '2030-01-31T00:00:00Z' },
    make: makeSnapshot,
    makes: 'OpenStack.Snapshot',
    answer: {},
  },
  {
    name: 'attach',
    fields: attachFields,
    example: { instance: exampleLink('openstack-instances'), device: '/dev/vdc' },
    runtimeStates: ['available'],
    accept: acceptAttachment,
    answer: { status: 'attach was scheduled' },
  },
  {
    name: 'detach',
    runtimeStates: ['in-use'],
    refuse: (_request, volume) => bootable(volume),
    accept: ({ db }, volume) => ({
      parameters: {
        instance_backend_id: volume.instance_id === null ? '' : resourceOf(db, volume.instance_id)?.backend_id,
      },
    }),
    answer: { status: 'detach was scheduled' },
  },
];
