import type { Fixture, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import { type SimulatedService, simulatedService, work } from '../../../support/simulated.ts';

/** A simulated OpenStack with one ready tenant in the project of the personas. */
export interface Cloud extends SimulatedService {
  readonly fixture: Fixture;
  readonly people: Personas;
  readonly tenant: Json;
  readonly subnet: Json;
}

/** Creates the personas, a simulated cloud in their project, and a tenant, with these options of the settings. */
export async function startCloud(fixture: Fixture, options: Readonly<Record<string, unknown>> = {}): Promise<Cloud> {
  const people = await createPersonas(fixture);
  const service = await simulatedService(fixture, 'openstack', people, {
    external_network_id: 'public-net',
    ...options,
  });
  const created = await people.clients.admin.post('/api/openstack-tenants/', {
    service_project_link: service.link.url,
    name: 'Lab',
  });
  if (created.status !== 201) throw new Error(JSON.stringify(created.body));
  await work(fixture);
  const tenant = (await fixture.staff.get(created.body.url)).body;
  const subnet = (await fixture.staff.get(`/api/openstack-subnets/?tenant_uuid=${tenant.uuid}`)).body[0];
  fixture.events();
  return { ...service, fixture, people, tenant, subnet };
}

/** Returns the first object of a list. */
export const first = async ({ fixture }: Pick<Cloud, 'fixture'>, path: string): Promise<Json> =>
  (await fixture.staff.get(`/api/${path}`)).body[0];

export const flavor = (cloud: Pick<Cloud, 'fixture'>, name: string): Promise<Json> =>
  first(cloud, `openstack-flavors/?name_exact=${name}`);
export const image = (cloud: Pick<Cloud, 'fixture'>, name: string): Promise<Json> =>
  first(cloud, `openstack-images/?name=${name}`);
export const group = (cloud: Pick<Cloud, 'fixture'>, name: string): Promise<Json> =>
  first(cloud, `openstack-security-groups/?name_exact=${name}`);

/** The minimum body that creates an instance. */
export async function instanceBody(
  cloud: Cloud,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, unknown>> {
  return {
    service_project_link: cloud.link.url,
    tenant: cloud.tenant.url,
    name: 'web',
    flavor: (await flavor(cloud, 'm1.small')).url,
    image: (await image(cloud, 'Ubuntu')).url,
    system_volume_size: 10_240,
    ...fields,
  };
}

/** Unlinks a resource, as the owner. */
export const unlink = async ({ people }: Pick<Cloud, 'people'>, { url }: Json): Promise<[number, Json]> => {
  const response = await people.clients.owner.post(`${url}unlink/`);
  return [response.status, response.body];
};

/** Posts to a path as the project's administrator; returns the status and body. */
export async function post({ people }: Pick<Cloud, 'people'>, path: string, body?: unknown): Promise<[number, Json]> {
  const response = await people.clients.admin.post(path, body);
  return [response.status, response.body];
}

/** Creates an object as the project's administrator; returns it after its operation. */
export async function created(cloud: Cloud, path: string, body?: unknown): Promise<Json> {
  const [status, object] = await post(cloud, path, body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(object)}`);
  await work(cloud.fixture);
  return present(cloud, object);
}

export const instance = async (cloud: Cloud, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  created(cloud, '/api/openstack-instances/', await instanceBody(cloud, fields));

export const volume = (cloud: Cloud, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> =>
  created(cloud, '/api/openstack-volumes/', {
    service_project_link: cloud.link.url,
    tenant: cloud.tenant.url,
    name: 'disk',
    size: 2048,
    ...fields,
  });

/** Returns the current representation of an object. */
export const present = async ({ fixture }: Pick<Cloud, 'fixture'>, object: Json): Promise<Json> =>
  (await fixture.staff.get(object.url)).body;

/** Runs an action of an object to its end; returns the first response. */
export async function act(cloud: Cloud, object: Json, action: string, body?: unknown): Promise<[number, Json]> {
  const response = await post(cloud, `${object.url}${action}/`, body);
  await work(cloud.fixture);
  return response;
}

/** Deletes an object and waits for the end. `query` has flags. */
export async function destroy(cloud: Cloud, object: Json, query = ''): Promise<[number, Json]> {
  const response = await cloud.people.clients.admin.delete(object.url + query);
  await work(cloud.fixture);
  return [response.status, response.body];
}

export const messages = ({ fixture }: Pick<Cloud, 'fixture'>): string[] =>
  fixture.events().map(({ message }) => message);

/** Returns the names in a list. */
export const names = async ({ fixture }: Pick<Cloud, 'fixture'>, path: string): Promise<string[]> =>
  (await fixture.staff.get(`/api/${path}`)).body.map((object: Json) => object.name);
