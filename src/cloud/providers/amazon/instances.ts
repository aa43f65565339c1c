import * as v from 'valibot';
import type { DriverCall, PlainValues, RowChange, Step } from '../../catalogue/driver.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import { findOrCreate } from '../../operations/creation.ts';
import { type Accepted, idempotentCall } from '../../operations/idempotency.ts';
import { injectedKeySchema } from '../../people/injected-key.ts';
import type { AmazonApi, NewInstance } from './api.ts';
import type { VendorInstance } from './responses.ts';
import { gibibytes, instanceValues, mebibytes, rootVolumeName, rootVolumeOf, volumeValues } from './values.ts';
import { continueWith, idOf, period, pollAgain, pollMissed, regionOf } from './waiting.ts';

/** Progress of an operation. */
const memoSchema = v.object({
  /** Zone of the new instance and root device name of its image. */
  place: v.optional(v.object({ zone: v.string(), rootDevice: v.string() })),
  instance: v.optional(v.string()),
  /** Whether the vendor has accepted the request. */
  isOrdered: v.optional(v.boolean(), false),
  /** Volumes of an instance to be deleted: those that stay, and those deleted with it. */
  volumes: v.optional(v.object({ kept: v.array(v.string()), gone: v.array(v.string()) })),
  /** Resize: the root volume and the completed steps. */
  root: v.optional(v.string()),
  isGrowing: v.optional(v.boolean(), false),
  isGrown: v.optional(v.boolean(), false),
});

const goneStates = ['shutting-down', 'terminated'];

/** State reasons of an intended stop; any other means that the start failed. */
const wantedStops = ['', 'Client.UserInitiatedShutdown', 'Client.InstanceInitiatedShutdown', 'Server.ScheduledStop'];

const detachment = { device: '', instance_backend_id: '', is_root: false, runtime_state: 'available' };

const volumeKind = 'Amazon.Volume';

/** Operations on instances of EC2 (providers.md 6.3, 6.5). */
export class Instances {
  constructor(private readonly api: AmazonApi) {}

  async create(call: DriverCall): Promise<Step> {
    const { instance, place } = v.parse(memoSchema, call.memo);
    if (instance !== undefined) return this.#awaitBirth(call, instance);
    if (place === undefined) return this.#prepare(call);
    const region = regionOf(call);
    const wanted = wantedInstance(call, place);
    return idempotentCall(call, {
      send: async () => accepted(await this.api.runInstance(region, wanted)),
      find: async () => {
        const existing = await this.api.instanceOf(region, wanted.token);
        return existing && accepted(existing);
      },
      firstPollMs: period,
    });
  }

  /** Terminates an instance and polls until it is gone. */
  async delete(call: DriverCall): Promise<Step> {
    const { isOrdered, volumes } = v.parse(memoSchema, call.memo);
    const [region, id] = [regionOf(call), idOf(call)];
    if (volumes === undefined) {
      const { blockDeviceMapping } = await this.api.instance(region, id);
      const ids = (isGone: boolean): string[] =>
        blockDeviceMapping.flatMap(({ ebs }) => (ebs && ebs.deleteOnTermination === isGone ? [ebs.volumeId] : []));
      return continueWith({ ...call.memo, volumes: { kept: ids(false), gone: ids(true) } });
    }
    const existing = await ifExists(this.api.instance(region, id));
    const state = existing?.instanceState.name ?? 'terminated';
    if (state === 'terminated') {
      const changes = [
        ...volumes.gone.map((id): RowChange => ({ kind: volumeKind, action: 'remove', backend_id: id })),
        ...volumes.kept.map(
          (id): RowChange => ({ kind: volumeKind, action: 'change', backend_id: id, values: detachment }),
        ),
      ];
      return { kind: 'done', changes };
    }
    if (!isOrdered) await this.api.order(region, 'TerminateInstances', id);
    return pollAgain({ ...call.memo, isOrdered: true }, { runtime_state: isOrdered ? state : 'shutting-down' });
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    switch (name) {
      case 'start':
        return this.#switch(call, 'StartInstances', ['pending', 'running']);
      case 'stop':
        return this.#switch(call, 'StopInstances', ['stopping', 'stopped']);
      case 'restart':
        await this.api.order(regionOf(call), 'RebootInstances', idOf(call));
        return { kind: 'done', values: { runtime_state: 'running' } };
      case 'resize':
        return this.#resize(call);
      default:
        throw new Error(`Amazon has no action ${name} of instances`);
    }
  }

  /** Current values; undefined if the instance is terminated. */
  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    const existing = await this.api.instance(regionOf(call), idOf(call));
    return existing.instanceState.name === 'terminated' ? undefined : instanceValues(existing, regionOf(call));
  }

  /** Uploads the key and looks up a zone and the image's root device. Idempotent. */
  async #prepare(call: DriverCall): Promise<Step> {
    const region = regionOf(call);
    await this.#addKey(call);
    const zone = await this.api.firstZone(region);
    const { rootDeviceName: rootDevice } = await this.api.image(region, String(call.parameters.image));
    return continueWith({ ...call.memo, place: { zone, rootDevice } });
  }

  async #addKey(call: DriverCall): Promise<void> {
    const [region, name] = [regionOf(call), keyName(call)];
    const key = v.parse(injectedKeySchema, call.parameters.key);
    if (!key || name === undefined) return;
    await findOrCreate(
      async () => (await this.api.hasKey(region, name)) || undefined,
      async () => {
        await this.api.importKey(region, name, key.public_key);
        return true;
      },
    );
  }

  /** Polls a new instance until it runs, then adds its root volume. */
  async #awaitBirth(call: DriverCall, id: string): Promise<Step> {
    const region = regionOf(call);
    const existing = await ifExists(this.api.instance(region, id));
    if (!existing) return pollMissed(call.memo);
    const state = existing.instanceState.name;
    if (goneStates.includes(state))
      return { kind: 'fail', text: reasonOf(existing), values: { backend_id: '', runtime_state: '' } };
    const values = instanceValues(existing, region);
    if (state !== 'running') return pollAgain(call.memo, { runtime_state: state });
    const root = rootVolumeOf(existing);
    const volume = root === undefined ? undefined : await ifExists(this.api.volume(region, root));
    // The vendor may not list it yet.
    if (!volume) return pollMissed(call.memo);
    const { name = rootVolumeName(call.values.name), ...rest } = volumeValues(volume, region);
    const change: RowChange = {
      kind: volumeKind,
      action: 'put',
      backend_id: volume.volumeId,
      values: { name, description: '', ...rest, is_root: true },
    };
    return { kind: 'done', values, changes: [change] };
  }

  /** Starts or stops an instance and polls until it has. */
  async #switch(
    call: DriverCall,
    order: 'StartInstances' | 'StopInstances',
    [passing, wanted]: readonly [string, string],
  ): Promise<Step> {
    const [region, id] = [regionOf(call), idOf(call)];
    if (!v.parse(memoSchema, call.memo).isOrdered) {
      await this.api.order(region, order, id);
      return pollAgain({ ...call.memo, isOrdered: true }, { runtime_state: passing });
    }
    const existing = await this.api.instance(region, id);
    const state = existing.instanceState.name;
    if (state === wanted) return { kind: 'done', values: instanceValues(existing, region) };
    const hasFailed =
      goneStates.includes(state) || (state === 'stopped' && !wantedStops.includes(existing.stateReason.code));
    return hasFailed
      ? { kind: 'fail', text: reasonOf(existing), values: { runtime_state: state } }
      : pollAgain(call.memo, { runtime_state: state });
  }

  /** Extends the disk first, which the vendor may reject, then changes the type. */
  async #resize(call: DriverCall): Promise<Step> {
    const { isGrowing, isGrown, root } = v.parse(memoSchema, call.memo);
    const [region, id] = [regionOf(call), idOf(call)];
    const disk = gibibytes(call.parameters.disk);
    if (root === undefined) {
      const volume = rootVolumeOf(await this.api.instance(region, id)) ?? '';
      const isLargeEnough = volume === '' || (await this.api.volume(region, volume)).size >= disk;
      return continueWith({ ...call.memo, root: volume, isGrown: isLargeEnough });
    }
    if (!isGrown) return isGrowing ? this.#awaitGrowth(call, root) : this.#grow(call, root, disk);
    const { cores, ram, size } = call.parameters;
    await this.api.changeType(region, id, String(size));
    const changed = disk * mebibytes;
    return {
      kind: 'done',
      values: { runtime_state: 'stopped', cores, ram, disk: call.parameters.disk, size_name: size },
      changes: root === '' ? [] : [{ kind: volumeKind, action: 'change', backend_id: root, values: { size: changed } }],
    };
  }

  #grow(call: DriverCall, root: string, disk: number): Promise<Step> {
    const region = regionOf(call);
    const growing: Accepted = { memo: { isGrowing: true } };
    return idempotentCall(call, {
      send: async () => {
        await this.api.growVolume(region, root, disk);
        return growing;
      },
      find: async () => ((await this.api.growthOf(region, root))?.targetSize === disk ? growing : undefined),
      firstPollMs: period,
    });
  }

  /** Polls a resized volume. The new size is usable while the vendor still optimizes the volume. */
  async #awaitGrowth(call: DriverCall, root: string): Promise<Step> {
    const growth = await this.api.growthOf(regionOf(call), root);
    if (growth?.modificationState === 'failed')
      return { kind: 'fail', text: growth.statusMessage || 'Backend action resize failed' };
    const isGrown = growth?.modificationState === 'optimizing' || growth?.modificationState === 'completed';
    return isGrown ? continueWith({ ...call.memo, isGrown }) : pollAgain(call.memo);
  }
}

/** Stores the id of a new instance in the row and the memo before the next request. */
const accepted = ({ instanceId, instanceState: { name } }: VendorInstance): Accepted => ({
  memo: { instance: instanceId },
  values: { backend_id: instanceId, runtime_state: name },
});

/** Names a key by its fingerprint, so that a region has it once whatever users call it. */
function keyName({ parameters }: DriverCall): string | undefined {
  const key = v.parse(injectedKeySchema, parameters.key);
  return key && `tenantry-${key.fingerprint.replaceAll(':', '')}`;
}

function wantedInstance(call: DriverCall, place: { readonly zone: string; readonly rootDevice: string }): NewInstance {
  const { parameters, uuid, values } = call;
  return {
    ...place,
    token: uuid,
    name: String(values.name),
    image: String(parameters.image),
    type: String(values.size_name),
    disk: gibibytes(values.disk),
    rootName: rootVolumeName(values.name),
    keyName: keyName(call),
    userData: String(values.user_data ?? ''),
  };
}

/** The vendor's reason for the state of an instance. */
const reasonOf = ({ instanceState: { name }, stateReason: { code, message } }: VendorInstance): string =>
  (message || code || `Instance is ${name}`).replace(/\.$/, '');
