import type { Client, Fixture, Json } from './fixture.ts';
import { createPersonas, type Personas } from './personas.ts';
import { type SimulatedService, simulatedService, work } from './simulated.ts';

/** Links to the properties of droplets on the simulator, by short names. */
export interface DropletCatalogue {
  readonly debian: string;
  readonly ubuntu: string;
  readonly nyc: string;
  readonly fra: string;
  /** 1 core, 1024 MiB of memory, 25600 MiB of disk. */
  readonly small: string;
  /** 2 cores, 4096 MiB of memory, 81920 MiB of disk. */
  readonly large: string;
}

/** Returns the catalogue. A service must have synchronised. */
export async function dropletCatalogue(fixture: Fixture): Promise<DropletCatalogue> {
  const find = async (path: string): Promise<string> =>
    (await fixture.staff.get(`/api/digitalocean-${path}`)).body[0].url;
  return {
    debian: await find('images/?distribution=Debian'),
    ubuntu: await find('images/?distribution=Ubuntu'),
    nyc: await find('regions/?name=New+York'),
    fra: await find('regions/?name=Frankfurt'),
    small: await find('sizes/?name_exact=s-1vcpu-1gb'),
    large: await find('sizes/?name_exact=s-2vcpu-4gb'),
  };
}

/** A DigitalOcean service on the simulator, with functions that create droplets. */
export interface Droplets extends SimulatedService {
  readonly catalogue: DropletCatalogue;
  /** The body that creates the smallest Debian droplet. */
  readonly body: (fields?: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Creates a droplet in Creation Scheduled. */
  readonly begin: (fields?: Readonly<Record<string, unknown>>, client?: Client) => Promise<Json>;
  /** Creates a droplet that is OK and online. */
  readonly make: (fields?: Readonly<Record<string, unknown>>, client?: Client) => Promise<Json>;
}

/** Connects a DigitalOcean service to a project. */
export async function dropletService(
  fixture: Fixture,
  place: { readonly customer: Json; readonly project: Json },
  options: Readonly<Record<string, unknown>> = {},
): Promise<Droplets> {
  const cloud = await simulatedService(fixture, 'digitalocean', place, options);
  const catalogue = await dropletCatalogue(fixture);
  const body = (fields = {}): Record<string, unknown> => ({
    service_project_link: cloud.link.url,
    name: 'web',
    region: catalogue.nyc,
    image: catalogue.debian,
    size: catalogue.small,
    ...fields,
  });
  const begin = async (fields = {}, client: Client = fixture.staff): Promise<Json> => {
    const response = await client.post('/api/digitalocean-droplets/', body(fields));
    if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const make = async (fields = {}, client: Client = fixture.staff): Promise<Json> => {
    const { url } = await begin(fields, client);
    await work(fixture);
    return (await fixture.staff.get(url)).body;
  };
  return { ...cloud, catalogue, body, begin, make };
}

/** Creates the personas, a DigitalOcean service in their project, and a droplet there. */
export async function createDroplet(fixture: Fixture): Promise<{ people: Personas; cloud: Droplets; droplet: Json }> {
  const people = await createPersonas(fixture);
  const cloud = await dropletService(fixture, people);
  return { people, cloud, droplet: await cloud.make() };
}
