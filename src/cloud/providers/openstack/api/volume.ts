import * as v from 'valibot';
import { list, member } from './answers.ts';
import type { Call } from './session.ts';

/* Block storage v3: volumes, snapshots and quotas (providers.md 4.7). Sizes in GiB. */

const text = v.nullish(v.string(), '');
const textMap = v.nullish(v.record(v.string(), v.string()), {});

const volume = v.object({
  id: v.string(),
  name: text,
  description: text,
  status: v.string(),
  size: v.number(),
  bootable: v.nullish(v.union([v.string(), v.boolean()]), false),
  volume_type: text,
  snapshot_id: text,
  metadata: textMap,
  volume_image_metadata: textMap,
  attachments: v.nullish(v.array(v.object({ server_id: text, device: text })), []),
  created_at: v.nullish(v.string(), null),
  'os-vol-tenant-attr:tenant_id': text,
});

const snapshot = v.object({
  id: v.string(),
  name: text,
  description: text,
  status: v.string(),
  size: v.number(),
  volume_id: v.string(),
  metadata: textMap,
  created_at: v.nullish(v.string(), null),
  'os-extended-snapshot-attributes:project_id': text,
});

const amount = v.object({ limit: v.number(), in_use: v.number() });
const quotas = v.object({ volumes: amount, snapshots: amount, gigabytes: amount });

export type VendorVolume = v.InferOutput<typeof volume>;
export type VendorSnapshot = v.InferOutput<typeof snapshot>;

type Values = Readonly<Record<string, unknown>>;

export class VolumeApi {
  constructor(private readonly call: Call) {}

  volumes = (filter: Readonly<Record<string, string>> = {}): Promise<VendorVolume[]> =>
    list(this.call, '/volumes/detail', 'volumes', volume, filter);

  volume = async (id: string): Promise<VendorVolume> =>
    member(await this.call('GET', `/volumes/${id}`), 'volume', volume);

  createVolume = async (wanted: Values): Promise<string> =>
    member(await this.call('POST', '/volumes', { volume: wanted }), 'volume', v.object({ id: v.string() })).id;

  updateVolume = (id: string, values: Values): Promise<unknown> =>
    this.call('PUT', `/volumes/${id}`, { volume: values });

  deleteVolume = (id: string): Promise<unknown> => this.call('DELETE', `/volumes/${id}`);

  /** Orders an action, such as `{ 'os-extend': { new_size: 20 } }`. */
  act = (id: string, order: Values): Promise<unknown> => this.call('POST', `/volumes/${id}/action`, order);

  snapshots = (filter: Readonly<Record<string, string>> = {}): Promise<VendorSnapshot[]> =>
    list(this.call, '/snapshots/detail', 'snapshots', snapshot, filter);

  snapshot = async (id: string): Promise<VendorSnapshot> =>
    member(await this.call('GET', `/snapshots/${id}`), 'snapshot', snapshot);

  createSnapshot = async (wanted: Values): Promise<string> =>
    member(await this.call('POST', '/snapshots', { snapshot: wanted }), 'snapshot', v.object({ id: v.string() })).id;

  updateSnapshot = (id: string, values: Values): Promise<unknown> =>
    this.call('PUT', `/snapshots/${id}`, { snapshot: values });

  deleteSnapshot = (id: string): Promise<unknown> => this.call('DELETE', `/snapshots/${id}`);

  quotas = async (project: string) =>
    member(await this.call('GET', `/os-quota-sets/${project}?usage=true`), 'quota_set', quotas);

  setQuotas = (project: string, limits: Readonly<Record<string, number>>): Promise<unknown> =>
    this.call('PUT', `/os-quota-sets/${project}`, { quota_set: limits });

  forgetQuotas = (project: string): Promise<unknown> => this.call('DELETE', `/os-quota-sets/${project}`);
}
