import * as v from 'valibot';
import type { DriverCall, PlainValues, Step } from '../../catalogue/driver.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import { type Accepted, idempotentCall } from '../../operations/idempotency.ts';
import type { AmazonApi } from './api.ts';
import type { VendorVolume } from './responses.ts';
import { gibibytes, volumeValues } from './values.ts';
import { continueWith, idOf, period, pollAgain, pollMissed, regionOf } from './waiting.ts';

/** Progress of an operation. */
const memoSchema = v.object({
  zone: v.optional(v.string()),
  volume: v.optional(v.string()),
  isOrdered: v.optional(v.boolean(), false),
});

/** Attaching or detaching a volume. */
interface Move {
  readonly order: () => Promise<void>;
  readonly isBegun: (volume: VendorVolume) => boolean;
  readonly isOver: (volume: VendorVolume) => boolean;
}

/** Operations on volumes of EC2 (providers.md 6.4, 6.5). */
export class Volumes {
  constructor(private readonly api: AmazonApi) {}

  async create(call: DriverCall): Promise<Step> {
    const { volume, zone } = v.parse(memoSchema, call.memo);
    const region = regionOf(call);
    if (volume !== undefined) return this.#awaitBirth(call, volume);
    if (zone === undefined) return continueWith({ ...call.memo, zone: await this.api.firstZone(region) });
    const { name, size, volume_type: type } = call.values;
    const wanted = { token: call.uuid, name: String(name), size: gibibytes(size), type: String(type), zone };
    return idempotentCall(call, {
      send: async () => accepted(await this.api.createVolume(region, { ...wanted, iops: iopsOf(wanted) })),
      find: async () => {
        const existing = await this.api.volumeOf(region, call.uuid);
        return existing && accepted(existing);
      },
      firstPollMs: period,
    });
  }

  /** Deletes a volume and polls until it is gone. */
  async delete(call: DriverCall): Promise<Step> {
    const [region, id] = [regionOf(call), idOf(call)];
    if (!v.parse(memoSchema, call.memo).isOrdered) {
      await this.api.deleteVolume(region, id);
      return pollAgain({ ...call.memo, isOrdered: true }, { runtime_state: 'deleting' });
    }
    const existing = await ifExists(this.api.volume(region, id));
    return !existing || existing.status === 'deleted'
      ? { kind: 'done' }
      : pollAgain(call.memo, { runtime_state: volumeValues(existing, region).runtime_state });
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    switch (name) {
      case 'attach':
        return this.#attach(call);
      case 'detach':
        return this.#detach(call);
      default:
        throw new Error(`Amazon has no action ${name} of volumes`);
    }
  }

  /** Current values; undefined if the volume is deleted. */
  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    const existing = await this.api.volume(regionOf(call), idOf(call));
    return existing.status === 'deleted' ? undefined : volumeValues(existing, regionOf(call));
  }

  async #awaitBirth(call: DriverCall, id: string): Promise<Step> {
    const region = regionOf(call);
    const existing = await ifExists(this.api.volume(region, id));
    if (!existing) return pollMissed(call.memo);
    const values = volumeValues(existing, region);
    return existing.status === 'available' ? { kind: 'done', values } : pollAgain(call.memo, withoutAttachment(values));
  }

  #attach(call: DriverCall): Promise<Step> {
    const [region, id] = [regionOf(call), idOf(call)];
    const [instance, device] = [String(call.parameters.instance_backend_id), String(call.parameters.device)];
    return this.#move(call, 'attaching', {
      order: () => this.api.attachVolume(region, id, instance, device),
      isBegun: ({ attachmentSet }) => attachmentSet.some(({ instanceId }) => instanceId === instance),
      isOver: ({ attachmentSet }) => attachmentSet.some(({ status }) => status === 'attached'),
    });
  }

  #detach(call: DriverCall): Promise<Step> {
    const [region, id] = [regionOf(call), idOf(call)];
    // If the volume has moved to another instance meanwhile, it stays attached to that.
    const instance = String(call.values.instance_backend_id);
    return this.#move(call, 'detaching', {
      order: () => this.api.detachVolume(region, id, instance),
      isBegun: ({ attachmentSet }) => attachmentSet.every(({ status }) => status !== 'attached'),
      isOver: ({ status }) => status === 'available',
    });
  }

  /** Attaches or detaches a volume once and polls until the vendor has done it. */
  async #move(call: DriverCall, passing: string, { isBegun, isOver, order }: Move): Promise<Step> {
    const [region, id] = [regionOf(call), idOf(call)];
    const ordered: Accepted = { memo: { isOrdered: true }, values: { runtime_state: passing } };
    if (!v.parse(memoSchema, call.memo).isOrdered)
      return idempotentCall(call, {
        send: async () => {
          await order();
          return ordered;
        },
        find: async () => (isBegun(await this.api.volume(region, id)) ? ordered : undefined),
        firstPollMs: period,
      });
    const existing = await this.api.volume(region, id);
    const values = volumeValues(existing, region);
    return isOver(existing)
      ? { kind: 'done', values: { ...values, is_root: false } }
      : pollAgain(call.memo, withoutAttachment(values));
  }
}

/** Stores the id of a new volume in the row and the memo before the next request. */
const accepted = (volume: VendorVolume): Accepted => ({
  memo: { volume: volume.volumeId },
  values: { backend_id: volume.volumeId, runtime_state: volume.status },
});

/** Values of a volume during an operation; the attachment is stored when the operation ends. */
const withoutAttachment = ({ runtime_state: state }: PlainValues): PlainValues => ({ runtime_state: state });

/** I/O operations per second, required for `io1`: as many as a `gp2` volume of this size, within the limits of `io1`. */
const iopsOf = ({ size, type }: { readonly size: number; readonly type: string }): number | undefined =>
  type === 'io1' ? Math.min(Math.max(100, 3 * size), 64_000) : undefined;
