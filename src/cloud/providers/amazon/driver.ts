import { present } from '../../../kernel/present.ts';
import type {
  BackendObject,
  Driver,
  DriverCall,
  DriverSettings,
  Inventory,
  PlainValues,
  Step,
} from '../../catalogue/driver.ts';
import { literalPrefix } from '../../catalogue/pattern.ts';
import { ProviderError } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { maxObjects } from '../../operations/paging.ts';
import { AmazonApi } from './api.ts';
import { regions, sizes } from './catalogue.ts';
import { Instances } from './instances.ts';
import { image } from './properties.ts';
import { backendObject, dimensionsOf, instanceValues, mebibytes, rootVolumeOf, volumeValues } from './values.ts';
import { Volumes } from './volumes.ts';

/** Driver for Amazon's EC2 Query API (providers.md 6.5). */
export class AmazonDriver implements Driver {
  readonly #api: AmazonApi;
  readonly #kinds: Readonly<Record<string, Instances | Volumes>>;
  readonly #options: PlainValues;

  constructor({ backend_url: backendUrl, options, token, username }: DriverSettings, http: VendorHttp) {
    const credentials = { accessKeyId: username ?? '', secretAccessKey: token ?? '' };
    this.#api = new AmazonApi(http, present(backendUrl), credentials);
    this.#kinds = { Instance: new Instances(this.#api), Volume: new Volumes(this.#api) };
    this.#options = options;
  }

  ping(): Promise<void> {
    return this.#api.ping();
  }

  async sync(): Promise<Inventory> {
    const images: Inventory['properties'][string][number][] = [];
    const objects: BackendObject[] = [];
    for (const { backend_id: region } of regions) {
      images.push(...(await this.#images(region, maxObjects - images.length)));
      objects.push(...(await this.#objects(region)));
    }
    const rank = ({ kind }: BackendObject): number => (kind === 'Instance' ? 0 : 1);
    return {
      properties: { Region: regions, Image: images, Size: sizes },
      quotas: {},
      objects: objects.sort((a, b) => rank(a) - rank(b)),
    };
  }

  async create(call: DriverCall): Promise<Step> {
    return this.#kind(call).create(call);
  }

  /** Names and descriptions are not sent to the vendor. */
  async update(): Promise<Step> {
    return { kind: 'done' };
  }

  async delete(call: DriverCall): Promise<Step> {
    return this.#kind(call).delete(call);
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    return this.#kind(call).action(name, call);
  }

  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    return this.#kind(call).pull(call);
  }

  #kind({ kind }: DriverCall): Instances | Volumes {
    return present(this.#kinds[kind]);
  }

  /** The images of a region that match the settings, at most `max`. */
  async #images(region: string, max: number): Promise<Inventory['properties'][string]> {
    const isIncluded = (name: string): boolean => image.isIncluded?.(name, this.#options) ?? true;
    const exceeded = (): ProviderError =>
      new ProviderError('invalid', `Backend offers more than ${maxObjects} images: set images_regex to keep fewer`);
    const { images_regex: expression } = this.#options;
    // The vendor has some ten thousand images per region and no regular expressions; filtering by prefix shortens the list.
    const beginning = typeof expression === 'string' ? literalPrefix(expression) : '';
    const images = await this.#api.images(region, beginning, isIncluded, { maxItems: max, exceeded });
    return images.map(({ imageId, name }) => ({ backend_id: imageId, name: name || imageId, details: { region } }));
  }

  /**
   * Instances and volumes of a region, without the terminated instances that the vendor lists for a while. Maps each object as
   * it is parsed: keeping the raw responses of a large account would take several times the memory.
   */
  async #objects(region: string): Promise<BackendObject[]> {
    const instances = await this.#api.instances(region, (instance) => ({
      root: rootVolumeOf(instance) ?? '',
      type: instance.instanceType,
      object: backendObject('Instance', instance.instanceId, instance.launchTime, instanceValues(instance, region)),
    }));
    const notTerminated = instances.filter(({ object }) => object.values.runtime_state !== 'terminated');
    const roots = new Set(notTerminated.map(({ root }) => root));
    const disks = new Map<string, number>();
    const volumes = await this.#api.volumes(region, (volume) => {
      disks.set(volume.volumeId, volume.size * mebibytes);
      return backendObject('Volume', volume.volumeId, volume.createTime, {
        ...volumeValues(volume, region),
        is_root: roots.has(volume.volumeId),
      });
    });
    const dimensions = await this.#unusualTypes(region, new Set(notTerminated.map(({ type }) => type)));
    for (const { object, root, type } of notTerminated)
      Object.assign(object.values, dimensions.get(type), { disk: disks.get(root) });
    return [...notTerminated.map(({ object }) => object), ...volumes];
  }

  /** Cores and memory of the types that are missing in the table of sizes. */
  async #unusualTypes(region: string, types: ReadonlySet<string>): Promise<Map<string, PlainValues>> {
    const unusual = [...types].filter((type) => !dimensionsOf(type));
    const vendorTypes = unusual.length > 0 ? await this.#api.instanceTypes(region, unusual) : [];
    return new Map(
      vendorTypes.map(({ instanceType, memoryInfo, vCpuInfo }) => [
        instanceType,
        { cores: vCpuInfo.defaultVCpus, ram: memoryInfo.sizeInMiB },
      ]),
    );
  }
}
