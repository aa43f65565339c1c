import * as v from 'valibot';
import { Objects, type Quotas, quotaSets } from './objects.ts';
import { allItems, member } from './responses.ts';
import type { Call } from './session.ts';

/* Compute v2.1: servers, flavors, key pairs and quotas (providers.md 4.7). Memory in MiB, disks in GiB. */

const text = v.nullish(v.string(), '');

const flavor = v.object({
  id: v.string(),
  name: v.string(),
  vcpus: v.number(),
  ram: v.number(),
  disk: v.number(),
  'os-flavor-access:is_public': v.nullish(v.boolean(), true),
});

const server = v.object({
  id: v.string(),
  name: v.string(),
  status: v.string(),
  tenant_id: v.string(),
  created: v.nullish(v.string(), null),
  flavor: v.nullish(v.object({ id: text }), { id: '' }),
  metadata: v.nullish(v.record(v.string(), v.string()), {}),
  fault: v.nullish(v.object({ message: text }), null),
  'OS-EXT-STS:task_state': v.nullish(v.string(), null),
  'OS-SRV-USG:launched_at': v.nullish(v.string(), null),
  'os-extended-volumes:volumes_attached': v.nullish(v.array(v.object({ id: v.string() })), []),
});

const attachment = v.object({ volumeId: v.string(), device: v.nullish(v.string(), null) });
const keyPair = v.object({ keypair: v.object({ name: v.string(), fingerprint: text }) });
const amount = v.object({ limit: v.number(), in_use: v.number() });
const quotas = v.object({ instances: amount, cores: amount, ram: amount });
const statistics = v.object({
  vcpus: v.number(),
  vcpus_used: v.number(),
  memory_mb: v.number(),
  memory_mb_used: v.number(),
  local_gb: v.number(),
  local_gb_used: v.number(),
});

type VendorQuotas = v.InferOutput<typeof quotas>;
export type VendorFlavor = v.InferOutput<typeof flavor>;
export type VendorServer = v.InferOutput<typeof server>;

/** Parameters of a new server. */
interface NewServer {
  readonly name: string;
  readonly flavorRef: string;
  readonly block_device_mapping_v2: readonly object[];
  readonly networks: readonly { readonly port: string }[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly key_name?: string;
  readonly availability_zone?: string;
  readonly user_data?: string;
}

export class ComputeApi {
  readonly servers: Objects<VendorServer>;
  readonly flavors: Objects<VendorFlavor>;
  readonly quotas: Quotas<VendorQuotas>;

  constructor(private readonly call: Call) {
    this.servers = new Objects(call, { path: 'servers', name: 'server', schema: server, isDetailed: true });
    this.flavors = new Objects(call, { path: 'flavors', name: 'flavor', schema: flavor, isDetailed: true });
    this.quotas = quotaSets(call, '/detail', quotas);
  }

  statistics = async () =>
    member(await this.call('GET', '/os-hypervisors/statistics'), 'hypervisor_statistics', statistics);

  createServer = (wanted: NewServer): Promise<string> => this.servers.create({ ...wanted });

  attachments = (id: string) =>
    allItems(this.call, `/servers/${id}/os-volume_attachments`, 'volumeAttachments', attachment);

  attach = (id: string, volumeId: string, device: string): Promise<unknown> =>
    this.call('POST', `/servers/${id}/os-volume_attachments`, {
      volumeAttachment: { volumeId, ...(device !== '' && { device }) },
    });

  detach = (id: string, volume: string): Promise<unknown> =>
    this.call('DELETE', `/servers/${id}/os-volume_attachments/${volume}`);

  plug = (id: string, port: string): Promise<unknown> =>
    this.call('POST', `/servers/${id}/os-interface`, { interfaceAttachment: { port_id: port } });

  unplug = (id: string, port: string): Promise<unknown> => this.call('DELETE', `/servers/${id}/os-interface/${port}`);

  /** Name and MD5 fingerprint of the administrator's key pairs. */
  keyPairs = async () => (await allItems(this.call, '/os-keypairs', 'keypairs', keyPair)).map(({ keypair }) => keypair);

  addKeyPair = (name: string, publicKey: string): Promise<unknown> =>
    this.call('POST', '/os-keypairs', { keypair: { name, public_key: publicKey } });

  deleteKeyPair = (name: string): Promise<unknown> => this.call('DELETE', `/os-keypairs/${encodeURIComponent(name)}`);
}
