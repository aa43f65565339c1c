import * as v from 'valibot';
import { Objects, type Quotas, quotaSets } from './objects.ts';
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

type VendorQuotas = v.InferOutput<typeof quotas>;
export type VendorVolume = v.InferOutput<typeof volume>;
export type VendorSnapshot = v.InferOutput<typeof snapshot>;

export class VolumeApi {
  readonly volumes: Objects<VendorVolume>;
  readonly snapshots: Objects<VendorSnapshot>;
  readonly quotas: Quotas<VendorQuotas>;

  constructor(call: Call) {
    this.volumes = new Objects(call, { path: 'volumes', name: 'volume', schema: volume, isDetailed: true });
    this.snapshots = new Objects(call, { path: 'snapshots', name: 'snapshot', schema: snapshot, isDetailed: true });
    this.quotas = quotaSets(call, '?usage=true', quotas);
  }
}
