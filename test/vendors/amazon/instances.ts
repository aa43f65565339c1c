import type { Action } from './action.ts';
import { type Parameters, tagParameters } from './parameters.ts';
import { Rejection } from './rejection.ts';
import { type Instance, instanceTypes, type Setup } from './setup.ts';

/* EC2 actions on instances. */

const stateCodes: Readonly<Record<string, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};

const shownState = (name: string) => ({ code: stateCodes[name] ?? 0, name });
export const shownTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
export const shownTags = (tags: ReadonlyMap<string, string>) => [...tags].map(([key, value]) => ({ key, value }));

/** Whether a value matches a filter, in which * and ? are wildcards. */
const matchesPattern = (wish: string, value: string): boolean => {
  const expression = wish
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(value);
};

/** Whether an object with these values and tags matches the filters. */
export const matchesFilters = (
  parameters: Parameters,
  values: Readonly<Record<string, string | undefined>>,
  tags: ReadonlyMap<string, string> = new Map(),
): boolean =>
  [...parameters.filters()].every(([name, wanted]) => {
    const value = name.startsWith('tag:') ? tags.get(name.slice(4)) : values[name];
    return value !== undefined && wanted.some((wish) => matchesPattern(wish, value));
  });

function shownInstance(setup: Setup, instance: Instance): object {
  const { id, image, key, launched, number, reason, region, state, tags, token, type, zone } = instance;
  const privateIpAddress = `172.31.${(number >> 8) & 255}.${number & 255}`;
  const publicIp = state === 'running' ? `54.93.${(number >> 8) & 255}.${number & 255}` : undefined;
  const isThere = state !== 'terminated' && state !== 'shutting-down';
  return {
    instanceId: id,
    imageId: image.id,
    instanceState: shownState(state),
    privateDnsName: '',
    dnsName: '',
    reason: '',
    keyName: key,
    amiLaunchIndex: 0,
    productCodes: [],
    instanceType: type,
    launchTime: shownTime(launched),
    placement: { availabilityZone: zone, groupName: '', tenancy: 'default' },
    monitoring: { state: 'disabled' },
    privateIpAddress: isThere ? privateIpAddress : undefined,
    ipAddress: publicIp,
    groupSet: [],
    stateReason: reason,
    architecture: 'x86_64',
    rootDeviceType: 'ebs',
    rootDeviceName: image.rootDevice,
    blockDeviceMapping: setup
      .volumesOf(id)
      .map((volume) => ({
        deviceName: volume.attachment?.device,
        ebs: {
          volumeId: volume.id,
          status: volume.attachment?.state,
          attachTime: shownTime(volume.created),
          deleteOnTermination: volume.attachment?.deleteOnTermination,
        },
      })),
    virtualizationType: 'hvm',
    clientToken: token,
    tagSet: shownTags(tags),
    hypervisor: 'xen',
    networkInterfaceSet: isThere
      ? [
          {
            networkInterfaceId: `eni-${id.slice(2)}`,
            description: '',
            privateIpAddress,
            privateIpAddressesSet: [
              { privateIpAddress, primary: true, association: publicIp && { publicIp, ipOwnerId: 'amazon' } },
            ],
            ipv6AddressesSet: [],
          },
        ]
      : [],
    ebsOptimized: false,
    regionName: region,
  };
}

const reservation = (setup: Setup, instance: Instance) => ({
  reservationId: instance.id.replace(/^i-/, 'r-'),
  ownerId: '123456789012',
  groupSet: [],
  instancesSet: [shownInstance(setup, instance)],
});

/** An action that changes the state of instances. */
const transition = (
  allowed: readonly string[],
  verb: string,
  change: (setup: Setup, instance: Instance) => void,
): Action => ({
  declaration: { required: ['InstanceId.#'], optional: ['Force'] },
  run: ({ parameters, region, contents: setup }) => {
    const instances = parameters.list('InstanceId').map((id) => setup.instance(region, id));
    for (const { id, state } of instances)
      if (!allowed.includes(state))
        throw new Rejection(
          'IncorrectInstanceState',
          `The instance '${id}' is not in a state from which it can be ${verb}.`,
        );
    return {
      instancesSet: instances.map((instance) => {
        const before = instance.state;
        change(setup, instance);
        return { instanceId: instance.id, currentState: shownState(instance.state), previousState: shownState(before) };
      }),
    };
  },
});

function blockDevice(parameters: Parameters, rootDevice: string, smallest: number): number {
  const [n] = parameters.numbers('BlockDeviceMapping');
  if (n === undefined) return smallest;
  const [device, size] = [
    parameters.text(`BlockDeviceMapping.${n}.DeviceName`),
    parameters.number(`BlockDeviceMapping.${n}.Ebs.VolumeSize`) ?? smallest,
  ];
  if (device !== rootDevice)
    throw new Rejection('InvalidBlockDeviceMapping', `This stand-in has no device ${device} besides the root device`);
  if (size < smallest)
    throw new Rejection(
      'InvalidBlockDeviceMapping',
      `Volume of size ${size}GB is smaller than snapshot 'snap-1', expect size >= ${smallest}GB`,
    );
  return size;
}

const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

export const instanceActions: Readonly<Record<string, Action>> = {
  DescribeInstances: {
    declaration: {
      optional: ['InstanceId.#'],
      filters: ['client-token', 'instance-id', 'instance-state-name', 'tag:*'],
      isPaged: true,
    },
    run: ({ largestPage, parameters, region, contents: setup }) => {
      const ids = parameters.list('InstanceId');
      if (ids.length > 0 && parameters.text('MaxResults') !== undefined)
        throw new Rejection(
          'InvalidParameterCombination',
          'The parameter instancesSet cannot be used with the parameter maxResults',
        );
      const matches = ids.length > 0 ? ids.map((id) => setup.instance(region, id)) : setup.instancesIn(region);
      const wanted = matches.filter(({ id, state, tags, token }) =>
        matchesFilters(parameters, { 'client-token': token, 'instance-id': id, 'instance-state-name': state }, tags),
      );
      return parameters.page('reservationSet', wanted, (instance) => reservation(setup, instance), largestPage);
    },
  },
  RunInstances: {
    writes: true,
    declaration: {
      required: ['ImageId', 'MinCount', 'MaxCount'],
      optional: [
        'InstanceType',
        'ClientToken',
        'KeyName',
        'UserData',
        'Placement.AvailabilityZone',
        'BlockDeviceMapping.#.DeviceName',
        'BlockDeviceMapping.#.Ebs.VolumeSize',
        'BlockDeviceMapping.#.Ebs.VolumeType',
        'BlockDeviceMapping.#.Ebs.DeleteOnTermination',
        ...tagParameters,
      ],
    },
    run: ({ parameters, region, contents: setup }) => {
      const [type, key] = [parameters.text('InstanceType') ?? 'm1.small', parameters.text('KeyName')];
      const [zone, userData] = [
        parameters.text('Placement.AvailabilityZone') ?? `${region}b`,
        parameters.text('UserData'),
      ];
      const instance = setup.once(parameters, setup.instances, (token) => {
        const image = setup.image(region, parameters.text('ImageId') ?? '');
        if (!instanceTypes[type])
          throw new Rejection('InvalidParameterValue', `Invalid value '${type}' for InstanceType.`);
        if (key !== undefined && !setup.keys.has(`${region} ${key}`))
          throw new Rejection('InvalidKeyPair.NotFound', `The key pair '${key}' does not exist`);
        if (!zone.startsWith(region))
          throw new Rejection('InvalidParameterValue', `Invalid availability zone: [${zone}]`);
        if (userData !== undefined && !isBase64(userData))
          throw new Rejection('InvalidParameterValue', 'Invalid BASE64 encoding of user data.');
        if (parameters.number('MinCount') !== 1 || parameters.number('MaxCount') !== 1)
          throw new Rejection('InvalidParameterValue', 'This stand-in launches one instance at a time.');
        const size = blockDevice(parameters, image.rootDevice, image.size);
        const creation = setup.addInstance({
          region,
          zone,
          type,
          image,
          token,
          key,
          userData: Buffer.from(userData ?? '', 'base64').toString(),
          tags: parameters.tags('instance'),
        });
        setup.attachRoot(creation, size, parameters.tags('volume'));
        return creation;
      });
      return reservation(setup, instance);
    },
  },
  StartInstances: {
    writes: true,
    ...transition(['stopped', 'running', 'pending'], 'started', (setup, instance) => {
      if (instance.state === 'stopped') setup.start(instance, 'stopped');
    }),
  },
  StopInstances: {
    writes: true,
    ...transition(['running', 'stopping', 'stopped'], 'stopped', (setup, instance) => {
      if (instance.state !== 'running') return;
      setup.change(instance, 'stopping', 'stopped');
      instance.reason = {
        code: 'Client.UserInitiatedShutdown',
        message: 'Client.UserInitiatedShutdown: User initiated shutdown',
      };
    }),
  },
  RebootInstances: {
    writes: true,
    declaration: { required: ['InstanceId.#'] },
    run: (call) => {
      transition(['running'], 'rebooted', () => undefined).run(call);
      return { return: true };
    },
  },
  TerminateInstances: {
    writes: true,
    ...transition(Object.keys(stateCodes), 'terminated', (setup, instance) => {
      if (instance.state !== 'terminated' && instance.state !== 'shutting-down')
        setup.change(instance, 'shutting-down', 'terminated');
    }),
  },
  ModifyInstanceAttribute: {
    writes: true,
    declaration: { required: ['InstanceId'], optional: ['InstanceType.Value'] },
    run: ({ parameters, region, contents: setup }) => {
      const instance = setup.instance(region, parameters.text('InstanceId') ?? '');
      const type = parameters.text('InstanceType.Value') ?? instance.type;
      if (instance.state !== 'stopped')
        throw new Rejection('IncorrectInstanceState', `The instance '${instance.id}' is not in the 'stopped' state.`);
      if (!instanceTypes[type])
        throw new Rejection('InvalidParameterValue', `Invalid value '${type}' for InstanceType.`);
      instance.type = type;
      return { return: true };
    },
  },
};
