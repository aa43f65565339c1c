import * as v from 'valibot';
import { ProviderError } from '../../catalogue/provider-error.ts';
import { decoded, malformed, type VendorHttp } from '../../catalogue/vendor-http.ts';
import type { ListLimit } from '../../operations/paging.ts';
import { type Credentials, filters, numbered, type Parameters, Query, tagged } from './query.ts';
import {
  imageSchema,
  instanceTypeSchema,
  keySchema,
  modificationSchema,
  reservationSchema,
  type VendorImage,
  type VendorInstance,
  type VendorInstanceType,
  type VendorModification,
  type VendorVolume,
  volumeSchema,
  zoneSchema,
} from './responses.ts';

/* The calls of Amazon's EC2 API (providers.md 6.5). */

/** Region for calls without a region. */
const mainRegion = 'us-east-1';

/** Objects per page, small enough to parse without blocking the event loop for long. */
const pageSize = '50';

/** Tag with the uuid of the row, which finds an object whose creation got no response. */
const ownTag = 'tenantry:uuid';

/** Parameters of a new instance; sizes in GiB. */
export interface NewInstance {
  readonly token: string;
  readonly name: string;
  readonly image: string;
  readonly type: string;
  readonly zone: string;
  readonly rootDevice: string;
  readonly disk: number;
  readonly rootName: string;
  readonly keyName: string | undefined;
  readonly userData: string;
}

/** Parameters of a new volume; size in GiB, `iops` for types that require it. */
interface NewVolume {
  readonly token: string;
  readonly name: string;
  readonly size: number;
  readonly type: string;
  readonly zone: string;
  readonly iops: number | undefined;
}

export class AmazonApi {
  readonly #query: Query;

  constructor(http: VendorHttp, backendUrl: string, credentials: Credentials) {
    this.#query = new Query(http, backendUrl, credentials);
  }

  /** One cheap authenticated call. */
  async ping(): Promise<void> {
    await this.#query.call(mainRegion, 'DescribeKeyPairs', {});
  }

  /** Whether a region has a key of this name. */
  async hasKey(region: string, name: string): Promise<boolean> {
    const keys = await this.#query.list(region, 'DescribeKeyPairs', filters({ 'key-name': name }), 'keySet', keySchema);
    return keys.length > 0;
  }

  async importKey(region: string, name: string, publicKey: string): Promise<void> {
    const material = Buffer.from(publicKey).toString('base64');
    await this.#query.call(region, 'ImportKeyPair', { KeyName: name, PublicKeyMaterial: material });
  }

  /** Images of Amazon and its marketplace in a region that fit the supported sizes, start with `beginning` and pass the filter. */
  async images(
    region: string,
    beginning: string,
    isIncluded: (name: string) => boolean,
    limit: ListLimit,
  ): Promise<VendorImage[]> {
    return this.#query.read(
      region,
      'DescribeImages',
      {
        ...numbered('Owner', ['amazon', 'aws-marketplace']),
        ...filters({
          'virtualization-type': 'hvm',
          'image-type': 'machine',
          'root-device-type': 'ebs',
          architecture: 'x86_64',
          state: 'available',
          ...(beginning !== '' && { name: `${beginning}*` }),
        }),
        MaxResults: '1000',
      },
      'imagesSet',
      imageSchema,
      (images) => images.filter(({ name }) => isIncluded(name)),
      limit,
    );
  }

  async image(region: string, id: string): Promise<VendorImage> {
    const [result] = await this.#query.list(region, 'DescribeImages', { 'ImageId.1': id }, 'imagesSet', imageSchema);
    if (!result) throw malformed();
    return result;
  }

  /** The first zone of a region. */
  async firstZone(region: string): Promise<string> {
    const zones = await this.#query.list(
      region,
      'DescribeAvailabilityZones',
      filters({ state: 'available', 'zone-type': 'availability-zone' }),
      'availabilityZoneInfo',
      zoneSchema,
    );
    const [first] = zones.map(({ zoneName }) => zoneName).sort();
    if (first === undefined) throw new ProviderError('invalid', `Region ${region} has no available zone`);
    return first;
  }

  async instanceTypes(region: string, names: readonly string[]): Promise<VendorInstanceType[]> {
    return this.#query.list(
      region,
      'DescribeInstanceTypes',
      numbered('InstanceType', names),
      'instanceTypeSet',
      instanceTypeSchema,
    );
  }

  /** Maps each instance of a region. */
  instances = <Made>(region: string, created: (instance: VendorInstance) => Made): Promise<Made[]> =>
    this.#instances(region, { MaxResults: pageSize }, created);

  /** The instance with an id. Rejects with `not_found`. */
  async instance(region: string, id: string): Promise<VendorInstance> {
    const [result] = await this.#instances(region, { 'InstanceId.1': id }, itself);
    if (!result) throw new ProviderError('not_found', `The instance ID '${id}' does not exist`);
    return result;
  }

  /** The instance created with a client token, or undefined. */
  async instanceOf(region: string, token: string): Promise<VendorInstance | undefined> {
    return (await this.#instances(region, filters({ 'client-token': token }), itself))[0];
  }

  /** Creates one instance. Idempotent by token. */
  async runInstance(region: string, wanted: NewInstance): Promise<VendorInstance> {
    const disk = 'BlockDeviceMapping.1';
    const body = await this.#query.call(region, 'RunInstances', {
      ImageId: wanted.image,
      InstanceType: wanted.type,
      MinCount: '1',
      MaxCount: '1',
      ClientToken: wanted.token,
      'Placement.AvailabilityZone': wanted.zone,
      [`${disk}.DeviceName`]: wanted.rootDevice,
      [`${disk}.Ebs.VolumeSize`]: String(wanted.disk),
      [`${disk}.Ebs.VolumeType`]: 'gp2',
      [`${disk}.Ebs.DeleteOnTermination`]: 'true',
      ...(wanted.keyName !== undefined && { KeyName: wanted.keyName }),
      ...(wanted.userData !== '' && { UserData: Buffer.from(wanted.userData).toString('base64') }),
      ...tagged(1, 'instance', { Name: wanted.name, [ownTag]: wanted.token }),
      ...tagged(2, 'volume', { Name: wanted.rootName }),
    });
    const [created] = decoded(v.object({ RunInstancesResponse: reservationSchema }), body).RunInstancesResponse
      .instancesSet;
    if (!created) throw malformed();
    return created;
  }

  async order(
    region: string,
    action: 'StartInstances' | 'StopInstances' | 'RebootInstances' | 'TerminateInstances',
    id: string,
  ): Promise<void> {
    await this.#query.call(region, action, { 'InstanceId.1': id });
  }

  async changeType(region: string, id: string, type: string): Promise<void> {
    await this.#query.call(region, 'ModifyInstanceAttribute', { InstanceId: id, 'InstanceType.Value': type });
  }

  /** Maps each volume of a region. */
  volumes = <Made>(region: string, created: (volume: VendorVolume) => Made): Promise<Made[]> =>
    this.#volumes(region, { MaxResults: pageSize }, created);

  /** The volume with an id. Rejects with `not_found`. */
  async volume(region: string, id: string): Promise<VendorVolume> {
    const [result] = await this.#volumes(region, { 'VolumeId.1': id }, itself);
    if (!result) throw new ProviderError('not_found', `The volume '${id}' does not exist.`);
    return result;
  }

  /** The volume created with a client token, or undefined. */
  async volumeOf(region: string, token: string): Promise<VendorVolume | undefined> {
    return (await this.#volumes(region, filters({ [`tag:${ownTag}`]: token }), itself))[0];
  }

  /** Creates a volume. Idempotent by token. */
  async createVolume(region: string, { iops, name, size, token, type, zone }: NewVolume): Promise<VendorVolume> {
    const body = await this.#query.call(region, 'CreateVolume', {
      AvailabilityZone: zone,
      Size: String(size),
      VolumeType: type,
      ClientToken: token,
      ...(iops !== undefined && { Iops: String(iops) }),
      ...tagged(1, 'volume', { Name: name, [ownTag]: token }),
    });
    return decoded(v.object({ CreateVolumeResponse: volumeSchema }), body).CreateVolumeResponse;
  }

  async attachVolume(region: string, volume: string, instance: string, device: string): Promise<void> {
    await this.#query.call(region, 'AttachVolume', { VolumeId: volume, InstanceId: instance, Device: device });
  }

  async detachVolume(region: string, volume: string, instance: string): Promise<void> {
    await this.#query.call(region, 'DetachVolume', { VolumeId: volume, InstanceId: instance });
  }

  async deleteVolume(region: string, id: string): Promise<void> {
    await this.#query.call(region, 'DeleteVolume', { VolumeId: id });
  }

  /** Extends a volume to a size in GiB. */
  async growVolume(region: string, id: string, size: number): Promise<void> {
    await this.#query.call(region, 'ModifyVolume', { VolumeId: id, Size: String(size) });
  }

  /** The latest size modification of a volume, or undefined. */
  async growthOf(region: string, id: string): Promise<VendorModification | undefined> {
    const filter = filters({ 'volume-id': id });
    const action = 'DescribeVolumesModifications';
    return (await this.#query.list(region, action, filter, 'volumeModificationSet', modificationSchema)).at(-1);
  }

  #instances<Made>(
    region: string,
    parameters: Parameters,
    created: (instance: VendorInstance) => Made,
  ): Promise<Made[]> {
    const all = (reservations: readonly { readonly instancesSet: readonly VendorInstance[] }[]): Made[] =>
      reservations.flatMap(({ instancesSet }) => instancesSet.map(created));
    return this.#query.read(region, 'DescribeInstances', parameters, 'reservationSet', reservationSchema, all);
  }

  #volumes<Made>(region: string, parameters: Parameters, created: (volume: VendorVolume) => Made): Promise<Made[]> {
    const all = (volumes: readonly VendorVolume[]): Made[] => volumes.map(created);
    return this.#query.read(region, 'DescribeVolumes', parameters, 'volumeSet', volumeSchema, all);
  }
}

const itself = <T>(value: T): T => value;
