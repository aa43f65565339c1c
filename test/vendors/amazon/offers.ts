import { createHash } from 'node:crypto';
import type { Action } from './action.ts';
import { matchesFilters } from './instances.ts';
import { Rejection } from './rejection.ts';
import { instanceTypes, type Image as OfferedImage } from './setup.ts';

/* EC2 actions on keys, images, zones and types. */

export const otherActions: Readonly<Record<string, Action>> = {
  DescribeKeyPairs: {
    declaration: { optional: ['KeyName.#'], filters: ['key-name'] },
    run: ({ parameters, region, contents: setup }) => {
      const names = parameters.list('KeyName');
      for (const name of names)
        if (!setup.keys.has(`${region} ${name}`))
          throw new Rejection('InvalidKeyPair.NotFound', `The key pair '${name}' does not exist`);
      const matches = [...setup.keys].filter(
        ([place, { name }]) =>
          place.startsWith(`${region} `) &&
          (names.length === 0 || names.includes(name)) &&
          matchesFilters(parameters, { 'key-name': name }),
      );
      return { keySet: matches.map(([, { material, name }]) => shownKey(name, material)) };
    },
  },
  ImportKeyPair: {
    writes: true,
    declaration: { required: ['KeyName', 'PublicKeyMaterial'] },
    run: ({ parameters, region, contents: setup }) => {
      const [name, encoded] = [parameters.text('KeyName') ?? '', parameters.text('PublicKeyMaterial') ?? ''];
      const material = Buffer.from(encoded, 'base64').toString();
      if (!/^ssh-(rsa|ed25519) [A-Za-z0-9+/=]+/.test(material))
        throw new Rejection('InvalidKey.Format', 'Key is not in valid OpenSSH public key format');
      if (name.length > 255) throw new Rejection('InvalidParameterValue', `Invalid key name '${name}'`);
      if (setup.keys.has(`${region} ${name}`))
        throw new Rejection('InvalidKeyPair.Duplicate', `The keypair '${name}' already exists.`);
      setup.keys.set(`${region} ${name}`, { name, material });
      return shownKey(name, material);
    },
  },
  DeleteKeyPair: {
    writes: true,
    declaration: { required: ['KeyName'] },
    run: ({ parameters, region, contents: setup }) => {
      setup.keys.delete(`${region} ${parameters.text('KeyName')}`);
      return { return: true };
    },
  },
  DescribeImages: {
    declaration: {
      optional: ['ImageId.#', 'Owner.#'],
      filters: ['virtualization-type', 'image-type', 'root-device-type', 'architecture', 'state', 'name'],
      isPaged: true,
    },
    run: ({ largestPage, parameters, region, contents: setup }) => {
      const [ids, owners] = [parameters.list('ImageId'), parameters.list('Owner')];
      const matches =
        ids.length > 0
          ? ids.map((id) => setup.image(region, id))
          : setup.images.filter(
              (image) => image.region === region && (owners.length === 0 || owners.includes(image.owner)),
            );
      const wanted = matches.filter(({ architecture, name }) =>
        matchesFilters(parameters, {
          'virtualization-type': 'hvm',
          'image-type': 'machine',
          'root-device-type': 'ebs',
          state: 'available',
          architecture,
          name,
        }),
      );
      const displayed = ({ architecture, id, name, owner, rootDevice, size }: OfferedImage): object => ({
        imageId: id,
        imageLocation: `${owner}/${name}`,
        imageState: 'available',
        isPublic: owner !== 'somebody',
        architecture,
        imageType: 'machine',
        imageOwnerAlias: owner,
        name,
        rootDeviceType: 'ebs',
        rootDeviceName: rootDevice,
        blockDeviceMapping: [{ deviceName: rootDevice, ebs: { volumeSize: size, deleteOnTermination: true } }],
        virtualizationType: 'hvm',
        hypervisor: 'xen',
      });
      return parameters.page('imagesSet', wanted, displayed, largestPage);
    },
  },
  DescribeAvailabilityZones: {
    declaration: { filters: ['state', 'zone-type'] },
    run: ({ parameters, region }) => ({
      availabilityZoneInfo: ['c', 'a', 'b']
        .filter(() => matchesFilters(parameters, { state: 'available', 'zone-type': 'availability-zone' }))
        .map((zone) => ({
          zoneName: region + zone,
          zoneState: 'available',
          regionName: region,
          zoneType: 'availability-zone',
        })),
    }),
  },
  DescribeInstanceTypes: {
    declaration: { optional: ['InstanceType.#'], isPaged: true },
    run: ({ parameters }) => {
      const requests = parameters.list('InstanceType');
      for (const type of requests)
        if (!instanceTypes[type])
          throw new Rejection('InvalidInstanceType', `The following supplied instance types do not exist: [${type}]`);
      const matches = Object.entries(instanceTypes).filter(
        ([type]) => requests.length === 0 || requests.includes(type),
      );
      return parameters.page('instanceTypeSet', matches, ([type, [cores, memory]]) => ({
        instanceType: type,
        vCpuInfo: { defaultVCpus: cores },
        memoryInfo: { sizeInMiB: memory },
      }));
    },
  },
};

const shownKey = (name: string, material: string) => ({
  keyPairId: `key-${createHash('sha256').update(name).digest('hex').slice(0, 17)}`,
  keyName: name,
  keyFingerprint: createHash('sha256').update(material).digest('base64'),
});
