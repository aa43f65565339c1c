import * as v from 'valibot';
import { baseOf } from '../../../kernel/url.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import { decoded, type JsonResponse, type VendorCall, type VendorHttp } from '../../catalogue/vendor-http.ts';
import { linkedPages } from '../../operations/paging.ts';

/* Calls of DigitalOcean's API v2 (providers.md 5.5) and the used parts of its responses. */

const pageSize = 200;

const id = v.pipe(v.number(), v.integer());
const text = v.nullish(v.string(), '');
const slugs = v.nullish(v.array(v.string()), []);

const region = v.object({ slug: v.string(), name: v.string(), available: v.optional(v.boolean(), true) });

const image = v.object({
  id,
  name: text,
  distribution: text,
  type: text,
  slug: v.nullish(v.string(), null),
  public: v.nullish(v.boolean(), false),
  regions: slugs,
  created_at: v.nullish(v.string(), null),
  /** GiB */
  min_disk_size: v.nullish(v.number(), null),
});

/** Memory in MiB, disk in GiB, transfer in TiB. */
const size = v.object({
  slug: v.string(),
  vcpus: v.number(),
  memory: v.number(),
  disk: v.number(),
  transfer: v.nullish(v.number(), 0),
  regions: slugs,
});

const addresses = v.nullish(v.array(v.object({ ip_address: v.string(), type: v.string() })), []);

const droplet = v.object({
  id,
  name: v.string(),
  status: v.string(),
  vcpus: v.number(),
  memory: v.number(),
  disk: v.number(),
  size_slug: text,
  created_at: v.nullish(v.string(), null),
  image: v.nullish(v.object({ name: text, distribution: text, min_disk_size: v.nullish(v.number(), null) }), null),
  region: v.nullish(v.object({ slug: v.string(), name: v.string() }), null),
  networks: v.nullish(v.object({ v4: addresses, v6: addresses }), {}),
});

const action = v.object({ id, type: v.string(), status: v.string(), started_at: v.nullish(v.string(), '') });
const key = v.object({ id, fingerprint: v.string() });
const linkedActions = v.nullish(v.object({ actions: v.nullish(v.array(v.object({ id })), []) }), {});
const nextPage = v.object({
  links: v.nullish(v.object({ pages: v.nullish(v.object({ next: v.nullish(v.string()) })) })),
});

export type VendorRegion = v.InferOutput<typeof region>;
export type VendorImage = v.InferOutput<typeof image>;
export type VendorSize = v.InferOutput<typeof size>;
export type VendorDroplet = v.InferOutput<typeof droplet>;
export type VendorAction = v.InferOutput<typeof action>;
type VendorKey = v.InferOutput<typeof key>;

/** Parameters of a new droplet. */
interface NewDroplet {
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: string | number;
  readonly ssh_keys: readonly number[];
  readonly user_data?: string;
}

const object = v.record(v.string(), v.unknown());

/** A member of a response; undefined if the response is not an object. */
const memberOf = (body: unknown, name: string): unknown => (v.is(object, body) ? body[name] : undefined);

/** The vendor's message in an error response. */
const explained = (body: unknown): unknown => memberOf(body, 'message');

export class DigitalOceanApi {
  readonly #base: string;

  constructor(
    private readonly http: VendorHttp,
    backendUrl: string,
    private readonly token: string,
  ) {
    this.#base = baseOf(backendUrl);
  }

  async account(): Promise<void> {
    await this.#call('GET', '/account');
  }

  regions = (): Promise<VendorRegion[]> => this.#list('/regions', 'regions', region);
  images = (): Promise<VendorImage[]> => this.#list('/images', 'images', image);
  sizes = (): Promise<VendorSize[]> => this.#list('/sizes', 'sizes', size);
  droplets = (): Promise<VendorDroplet[]> => this.#list('/droplets', 'droplets', droplet);

  /** Droplets of exactly this name. */
  async dropletsNamed(name: string): Promise<VendorDroplet[]> {
    const droplets = await this.#list('/droplets', 'droplets', droplet, { name });
    return droplets.filter((one) => one.name === name);
  }

  async droplet(dropletId: string | number): Promise<VendorDroplet> {
    const { body } = await this.#call('GET', `/droplets/${dropletId}`);
    return decoded(v.object({ droplet }), body).droplet;
  }

  /** Creates a droplet. Returns it with the id of the vendor's action, if the response has one. */
  async createDroplet(wanted: NewDroplet): Promise<{ droplet: VendorDroplet; action: number | undefined }> {
    const { body } = await this.#call('POST', '/droplets', wanted);
    const created = decoded(v.object({ droplet, links: linkedActions }), body);
    return { droplet: created.droplet, action: created.links?.actions?.at(-1)?.id };
  }

  async deleteDroplet(dropletId: string): Promise<void> {
    await this.#call('DELETE', `/droplets/${dropletId}`);
  }

  async act(
    dropletId: string,
    order: { readonly type: string; readonly size?: string; readonly disk?: boolean },
  ): Promise<VendorAction> {
    const { body } = await this.#call('POST', `/droplets/${dropletId}/actions`, order);
    return decoded(v.object({ action }), body).action;
  }

  async action(actionId: number): Promise<VendorAction> {
    const { body } = await this.#call('GET', `/actions/${actionId}`);
    return decoded(v.object({ action }), body).action;
  }

  /** All actions on a droplet, past and running. */
  actionsOf = (dropletId: string): Promise<VendorAction[]> =>
    this.#list(`/droplets/${dropletId}/actions`, 'actions', action);

  /** The key with this MD5 fingerprint, or undefined. */
  key = (fingerprint: string): Promise<VendorKey | undefined> =>
    ifExists(
      this.#call('GET', `/account/keys/${fingerprint}`).then(
        ({ body }) => decoded(v.object({ ssh_key: key }), body).ssh_key,
      ),
    );

  async addKey(name: string, publicKey: string): Promise<VendorKey> {
    const { body } = await this.#call('POST', '/account/keys', { name, public_key: publicKey });
    return decoded(v.object({ ssh_key: key }), body).ssh_key;
  }

  async deleteKey(keyId: number): Promise<void> {
    await this.#call('DELETE', `/account/keys/${keyId}`);
  }

  #call(method: VendorCall['method'], path: string, json?: unknown): Promise<JsonResponse> {
    return this.http.json(
      { method, url: new URL(this.#base + path), headers: { Authorization: `Bearer ${this.token}` }, json },
      explained,
    );
  }

  /** All pages of a list. */
  #list<T>(
    path: string,
    member: string,
    schema: v.GenericSchema<unknown, T>,
    filter: Readonly<Record<string, string>> = {},
  ): Promise<T[]> {
    return linkedPages({ ...filter, per_page: String(pageSize) }, async (query) => {
      const { body } = await this.#call('GET', path + query);
      const items = decoded(v.array(schema), memberOf(body, member));
      return { items, next: decoded(nextPage, body).links?.pages?.next };
    });
  }
}
