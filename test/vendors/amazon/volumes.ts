import type { Action } from './action.ts';
import { matchesFilters, shownTags, shownTime } from './instances.ts';
import { tagParameters } from './parameters.ts';
import { Rejection } from './rejection.ts';
import type { Volume } from './setup.ts';

/* EC2 actions on volumes. */

/** Minimum and maximum size of a volume by type, in GiB. */
const bounds: Readonly<Record<string, readonly [number, number]>> = {
  gp2: [1, 16_384],
  io1: [4, 16_384],
  standard: [1, 1024],
};

const shownAttachment = ({ attachment, id }: Volume) =>
  attachment && {
    volumeId: id,
    instanceId: attachment.instance,
    device: attachment.device,
    status: attachment.state,
    attachTime: shownTime(attachment.at),
    deleteOnTermination: attachment.deleteOnTermination,
  };

const shownVolume = (volume: Volume): object => ({
  volumeId: volume.id,
  size: volume.size,
  snapshotId: '',
  availabilityZone: volume.zone,
  status: volume.state,
  createTime: shownTime(volume.created),
  attachmentSet: volume.attachment ? [shownAttachment(volume)] : [],
  tagSet: shownTags(volume.tags),
  volumeType: volume.type,
  encrypted: false,
});

function checkSize(type: string, size: number, iops: number | undefined): void {
  const [least, most] = bounds[type] ?? [];
  if (least === undefined || most === undefined)
    throw new Rejection('UnknownVolumeType', `Unsupported volume type '${type}' for volume creation.`);
  if (size < least || size > most)
    throw new Rejection(
      'InvalidParameterValue',
      `Volume of ${size}GiB is invalid; it must be between ${least}GiB and ${most}GiB for ${type}`,
    );
  if (type !== 'io1') {
    if (iops !== undefined)
      throw new Rejection('InvalidParameterCombination', `The parameter iops is not supported for ${type} volumes.`);
    return;
  }
  if (iops === undefined)
    throw new Rejection('MissingParameter', 'The parameter iops must be specified for io1 volumes.');
  if (iops < 100 || iops > Math.min(64_000, size * 50))
    throw new Rejection('InvalidParameterValue', `Iops to volume size ratio of ${iops / size} is invalid`);
}

export const volumeActions: Readonly<Record<string, Action>> = {
  DescribeVolumes: {
    declaration: { optional: ['VolumeId.#'], filters: ['tag:*', 'status', 'attachment.instance-id'], isPaged: true },
    run: ({ largestPage, parameters, region, contents: setup }) => {
      const ids = parameters.list('VolumeId');
      if (ids.length > 0 && parameters.text('MaxResults') !== undefined)
        throw new Rejection(
          'InvalidParameterCombination',
          'The parameter volumeSet cannot be used with the parameter maxResults',
        );
      const matches = ids.length > 0 ? ids.map((id) => setup.volume(region, id)) : setup.volumesIn(region);
      const wanted = matches.filter(({ attachment, state, tags }) =>
        matchesFilters(parameters, { status: state, 'attachment.instance-id': attachment?.instance }, tags),
      );
      return parameters.page('volumeSet', wanted, shownVolume, largestPage);
    },
  },
  CreateVolume: {
    writes: true,
    declaration: {
      required: ['AvailabilityZone'],
      optional: ['Size', 'VolumeType', 'Iops', 'ClientToken', ...tagParameters],
    },
    run: ({ parameters, region, contents: setup }) => {
      const [zone, size, type] = [
        parameters.text('AvailabilityZone') ?? '',
        parameters.number('Size'),
        parameters.text('VolumeType') ?? 'gp2',
      ];
      const volume = setup.once(parameters, setup.volumes, () => {
        if (!zone.startsWith(region)) throw new Rejection('InvalidZone.NotFound', `The zone '${zone}' does not exist.`);
        if (size === undefined)
          throw new Rejection('MissingParameter', 'The request must contain the parameter size or snapshotId');
        checkSize(type, size, parameters.number('Iops'));
        return setup.addVolume({ region, zone, size, type, tags: parameters.tags('volume'), attachment: undefined });
      });
      return shownVolume(volume);
    },
  },
  AttachVolume: {
    writes: true,
    declaration: { required: ['VolumeId', 'InstanceId', 'Device'] },
    run: ({ parameters, region, contents: setup }) => {
      const volume = setup.volume(region, parameters.text('VolumeId') ?? '');
      const instance = setup.instance(region, parameters.text('InstanceId') ?? '');
      const device = parameters.text('Device') ?? '';
      if (volume.attachment) throw new Rejection('VolumeInUse', `${volume.id} is already attached to an instance`);
      if (volume.state !== 'available')
        throw new Rejection('IncorrectState', `Volume '${volume.id}' is in the '${volume.state}' state.`);
      if (instance.state !== 'running' && instance.state !== 'stopped')
        throw new Rejection('IncorrectState', `Instance '${instance.id}' is not 'running'.`);
      if (volume.zone !== instance.zone)
        throw new Rejection(
          'InvalidVolume.ZoneMismatch',
          `The volume '${volume.id}' is not in the same availability zone as instance '${instance.id}'`,
        );
      if (setup.volumesOf(instance.id).some(({ attachment }) => attachment?.device === device))
        throw new Rejection(
          'InvalidParameterValue',
          `Invalid value '${device}' for unixDevice. Attachment point ${device} is already in use`,
        );
      volume.state = 'in-use';
      volume.attachment = {
        instance: instance.id,
        device,
        state: 'attaching',
        at: setup.now() + setup.transitionMs,
        deleteOnTermination: false,
      };
      return { ...shownAttachment(volume) };
    },
  },
  DetachVolume: {
    writes: true,
    declaration: { required: ['VolumeId'], optional: ['InstanceId', 'Device', 'Force'] },
    run: ({ parameters, region, contents: setup }) => {
      const volume = setup.volume(region, parameters.text('VolumeId') ?? '');
      const { attachment } = volume;
      if (attachment?.state !== 'attached')
        throw new Rejection('IncorrectState', `Volume '${volume.id}' is in the '${volume.state}' state.`);
      const instance = parameters.text('InstanceId') ?? attachment.instance;
      if (instance !== attachment.instance)
        throw new Rejection(
          'InvalidAttachment.NotFound',
          `The volume '${volume.id}' is not attached to instance '${instance}'`,
        );
      const { image, state } = setup.instance(region, instance);
      if (attachment.device === image.rootDevice && state !== 'stopped')
        throw new Rejection(
          'OperationNotPermitted',
          `Unable to detach root volume '${volume.id}' from instance '${attachment.instance}'`,
        );
      Object.assign(attachment, { state: 'detaching', at: setup.now() + setup.transitionMs });
      return { ...shownAttachment(volume) };
    },
  },
  DeleteVolume: {
    writes: true,
    declaration: { required: ['VolumeId'] },
    run: ({ parameters, region, contents: setup }) => {
      const volume = setup.volume(region, parameters.text('VolumeId') ?? '');
      if (volume.attachment)
        throw new Rejection(
          'VolumeInUse',
          `Volume ${volume.id} is currently attached to ${volume.attachment.instance}`,
        );
      setup.change(volume, 'deleting', 'gone');
      return { return: true };
    },
  },
  ModifyVolume: {
    writes: true,
    declaration: { required: ['VolumeId'], optional: ['Size'] },
    run: ({ parameters, region, contents: setup }) => {
      const volume = setup.volume(region, parameters.text('VolumeId') ?? '');
      const size = parameters.number('Size') ?? volume.size;
      if (size < volume.size)
        throw new Rejection('InvalidParameterValue', 'New size cannot be smaller than existing size');
      if (volume.growth && setup.now() < volume.growth.at + 6 * 3_600_000)
        throw new Rejection(
          'VolumeModificationRateExceeded',
          "You've reached the maximum modification rate per volume limit. Wait at least 6 hours between modifications per EBS volume.",
        );
      volume.growth = { from: volume.size, to: size, at: setup.now(), isFailed: false };
      volume.size = size;
      return { volumeModification: { volumeId: volume.id, modificationState: 'modifying', targetSize: size } };
    },
  },
  DescribeVolumesModifications: {
    declaration: { optional: ['VolumeId.#'], filters: ['volume-id'], isPaged: true },
    run: ({ parameters, region, contents: setup }) => {
      const grown = setup
        .volumesIn(region)
        .filter(({ growth, id }) => growth && matchesFilters(parameters, { 'volume-id': id }));
      return parameters.page('volumeModificationSet', grown, ({ growth, id }) => ({
        volumeId: id,
        modificationState: growth?.isFailed
          ? 'failed'
          : setup.now() < (growth?.at ?? 0) + setup.transitionMs
            ? 'modifying'
            : 'optimizing',
        statusMessage: growth?.isFailed ? 'The volume could not be modified.' : undefined,
        originalSize: growth?.from,
        targetSize: growth?.to,
      }));
    },
  },
};
