import { createHash } from 'node:crypto';
import type { Parameters } from './parameters.ts';
import { Rejection } from './rejection.ts';

/* The state of an account at EC2, by region. It changes over time without requests. */

/** A running transition: its target state, and its time in milliseconds. */
interface Change {
  readonly to: string;
  readonly at: number;
}

export interface Instance {
  readonly id: string;
  readonly region: string;
  readonly zone: string;
  type: string;
  readonly image: Image;
  state: string;
  reason: { readonly code: string; readonly message: string } | undefined;
  next: Change | undefined;
  launched: number;
  readonly token: string;
  readonly key: string | undefined;
  readonly userData: string;
  readonly tags: Map<string, string>;
  readonly number: number;
}

export interface Attachment {
  readonly instance: string;
  readonly device: string;
  state: string;
  at: number;
  deleteOnTermination: boolean;
}

export interface Volume {
  readonly id: string;
  readonly region: string;
  readonly zone: string;
  /** GiB. */
  size: number;
  readonly type: string;
  state: string;
  next: Change | undefined;
  readonly created: number;
  readonly tags: Map<string, string>;
  attachment: Attachment | undefined;
  growth: { readonly from: number; readonly to: number; readonly at: number; isFailed: boolean } | undefined;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly owner: 'amazon' | 'aws-marketplace' | 'somebody';
  readonly rootDevice: string;
  /** GiB of its snapshot. */
  readonly size: number;
  readonly architecture: string;
}

/** Types of instances: cores, and memory in MiB. */
export const instanceTypes: Readonly<Record<string, readonly [number, number]>> = {
  't2.nano': [1, 512],
  't2.micro': [1, 1024],
  't2.small': [1, 2048],
  'm4.large': [2, 8192],
  'c4.large': [2, 3840],
  'm3.large': [2, 7680],
  't3.micro': [2, 1024],
};

export const regionNames = [
  'us-east-1',
  'us-west-2',
  'us-west-1',
  'eu-west-1',
  'eu-central-1',
  'ap-south-1',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-northeast-1',
  'ap-northeast-2',
  'sa-east-1',
];

export class Setup {
  /** Duration of a transition in milliseconds. */
  transitionMs = 8000;
  /** Reasons why the next launches or starts fail. */
  readonly failingLaunches: { readonly code: string; readonly message: string }[] = [];
  /** Milliseconds until lists contain a new object. */
  visibilityDelayMs = 0;
  readonly instances = new Map<string, Instance>();
  readonly volumes = new Map<string, Volume>();
  /** By region and name. */
  readonly keys = new Map<string, { readonly name: string; readonly material: string }>();
  readonly #tokens = new Map<string, { readonly fingerprint: string; readonly id: string }>();
  images: Image[] = regionNames.flatMap(imagesOf);
  #count = 0;

  constructor(readonly now: () => number) {}

  /** Applies transitions that are due. */
  advance(): void {
    const now = this.now();
    for (const instance of this.instances.values()) {
      if (!instance.next || instance.next.at > now) continue;
      instance.state = instance.next.to;
      instance.next = undefined;
      if (instance.state === 'terminated') this.#releaseVolumes(instance);
    }
    for (const volume of this.volumes.values()) {
      if (volume.next && volume.next.at <= now) {
        volume.state = volume.next.to;
        volume.next = undefined;
        if (volume.state === 'gone') this.volumes.delete(volume.id);
      }
      const { attachment } = volume;
      if (!attachment || attachment.at > now) continue;
      if (attachment.state === 'attaching') attachment.state = 'attached';
      if (attachment.state === 'detaching') {
        volume.attachment = undefined;
        volume.state = 'available';
      }
    }
  }

  #releaseVolumes({ id }: Instance): void {
    for (const volume of this.volumesOf(id)) {
      if (volume.attachment?.deleteOnTermination) this.volumes.delete(volume.id);
      else Object.assign(volume, { attachment: undefined, state: 'available' });
    }
  }

  /** Volumes attached to an instance. */
  volumesOf = (id: string): Volume[] =>
    [...this.volumes.values()].filter(({ attachment }) => attachment?.instance === id);

  change<T extends { state: string; next: Change | undefined }>(object: T, passing: string, to: string): T {
    object.state = passing;
    object.next = { to, at: this.now() + this.transitionMs };
    return object;
  }

  instance(region: string, id: string): Instance {
    const matches = this.instances.get(id);
    if (matches?.region !== region || this.#isHidden(matches.launched))
      throw new Rejection('InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
    return matches;
  }

  volume(region: string, id: string): Volume {
    const matches = this.volumes.get(id);
    if (matches?.region !== region || this.#isHidden(matches.created))
      throw new Rejection('InvalidVolume.NotFound', `The volume '${id}' does not exist.`);
    return matches;
  }

  image(region: string, id: string): Image {
    const matches = this.images.find((image) => image.id === id && image.region === region);
    if (!matches) throw new Rejection('InvalidAMIID.NotFound', `The image id '[${id}]' does not exist`);
    return matches;
  }

  instancesIn = (region: string): Instance[] =>
    [...this.instances.values()].filter((one) => one.region === region && !this.#isHidden(one.launched));

  volumesIn = (region: string): Volume[] =>
    [...this.volumes.values()].filter((one) => one.region === region && !this.#isHidden(one.created));

  /** Returns the object created with the same client token, which must have the same parameters; otherwise creates one. */
  once<T extends { readonly id: string }>(
    parameters: Pick<Parameters, 'fingerprint' | 'text'>,
    list: ReadonlyMap<string, T>,
    make: (token: string) => T,
  ): T {
    const { fingerprint } = parameters;
    const token = parameters.text('ClientToken') ?? '';
    const known = this.#tokens.get(token);
    if (known && known.fingerprint !== fingerprint)
      throw new Rejection(
        'IdempotentParameterMismatch',
        'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
      );
    const creation = list.get(known?.id ?? '') ?? make(token);
    if (token !== '') this.#tokens.set(token, { fingerprint, id: creation.id });
    return creation;
  }

  /** Adds an instance and starts it. The start may be set to fail. */
  addInstance(
    wanted: Pick<Instance, 'region' | 'zone' | 'type' | 'image' | 'token' | 'key' | 'userData' | 'tags'>,
  ): Instance {
    const instance: Instance = {
      ...wanted,
      id: this.#id('i'),
      state: 'pending',
      reason: undefined,
      next: undefined,
      launched: this.now(),
      number: this.#count,
    };
    this.instances.set(instance.id, instance);
    this.start(instance, 'terminated');
    return instance;
  }

  /** Starts an instance. If the start is set to fail, the instance returns to a state. */
  start(instance: Instance, back: string): void {
    const failure = this.failingLaunches.shift();
    instance.launched = this.now();
    instance.reason = failure;
    this.change(instance, 'pending', failure ? back : 'running');
  }

  addVolume(wanted: Pick<Volume, 'region' | 'zone' | 'size' | 'type' | 'tags' | 'attachment'>): Volume {
    const volume: Volume = {
      ...wanted,
      id: this.#id('vol'),
      state: 'in-use',
      next: undefined,
      created: this.now(),
      growth: undefined,
    };
    this.volumes.set(volume.id, volume);
    return wanted.attachment ? volume : this.change(volume, 'creating', 'available');
  }

  /** Adds a running instance with its root volume, as if created without the driver. */
  launch(region: string, name: string, type = 't2.micro', zone = `${region}a`): Instance {
    const image = this.images.find((one) => one.region === region) as Image;
    const tags = new Map([['Name', name]]);
    const order = { token: '', key: undefined, userData: '', tags };
    const instance = this.addInstance({ region, zone, type, image, ...order });
    Object.assign(instance, { state: 'running', next: undefined });
    this.attachRoot(instance, image.size, new Map());
    return instance;
  }

  attachRoot(instance: Instance, size: number, tags: Map<string, string>): Volume {
    const { id, image, region, zone } = instance;
    const attachment = { instance: id, device: image.rootDevice, state: 'attached', at: 0, deleteOnTermination: true };
    return this.addVolume({ region, zone, size, type: 'gp2', tags, attachment });
  }

  #isHidden = (since: number): boolean => this.now() < since + this.visibilityDelayMs;

  #id = (prefix: string): string =>
    `${prefix}-${createHash('sha256')
      .update(`${prefix} ${++this.#count}`)
      .digest('hex')
      .slice(0, 17)}`;
}

/** The objects of a region. The driver's filters accept only some of them. */
function imagesOf(region: string): Image[] {
  const image = (
    name: string,
    owner: Image['owner'],
    rootDevice: string,
    size: number,
    architecture = 'x86_64',
  ): Image => ({
    id: `ami-${createHash('sha256').update(`${region} ${name}`).digest('hex').slice(0, 17)}`,
    name,
    region,
    owner,
    rootDevice,
    size,
    architecture,
  });
  return [
    image('amzn2-ami-hvm-2.0.20180622.1-x86_64-gp2', 'amazon', '/dev/xvda', 8),
    image('Windows_Server-2016-English-Full-Base-2018.06.13', 'amazon', '/dev/sda1', 30),
    image('ubuntu/images/hvm-ssd/ubuntu-xenial-16.04-amd64', 'aws-marketplace', '/dev/sda1', 8),
    image('amzn2-ami-hvm-2.0.20180622.1-arm64-gp2', 'amazon', '/dev/xvda', 8, 'arm64'),
    image('private', 'somebody', '/dev/sda1', 8),
  ];
}
