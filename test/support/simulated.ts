import type { Fixture, Json } from './fixture.ts';

/** A service on the simulator, linked to a project. */
export interface SimulatedService {
  readonly service: Json;
  readonly settings: Json;
  readonly link: Json;
}

/**
 * Connects a project to a provider of this type without latencies, through a service of its customer with this name, and waits
 * for the synchronisation. `fields` are further credentials and options.
 */
export async function simulatedService(
  fixture: Fixture,
  prefix: string,
  { customer, project }: { readonly customer: Json; readonly project: Json },
  fields: Readonly<Record<string, unknown>> = {},
): Promise<SimulatedService> {
  const response = await fixture.staff.post(`/api/${prefix}/`, {
    name: 'Cloud',
    customer: customer.url,
    project: project.url,
    simulator_latency: '0',
    simulator_seed: 1,
    ...fields,
  });
  if (response.status !== 201) throw new Error(JSON.stringify(response.body));
  await work(fixture);
  const service = (await fixture.staff.get(response.body.url)).body;
  const settings = (await fixture.staff.get(service.settings)).body;
  const link = (
    await fixture.staff.get(
      `/api/${prefix}-service-project-link/?service_uuid=${service.uuid}&project_uuid=${project.uuid}`,
    )
  ).body[0];
  fixture.events();
  return { service, settings, link };
}

/** Advances time by one second, so that every pending job runs one step. */
export const step = (fixture: Fixture): Promise<void> => fixture.advance(1);

/** Advances time until operations without latency have finished. */
export async function work(fixture: Fixture): Promise<void> {
  for (let i = 0; i < 6; i++) await step(fixture);
}

/**
 * Returns the states of a resource over time, as `<state> <runtime state>`, until they no longer change, the resource is gone, or
 * this many seconds have passed.
 */
export async function collectStates(fixture: Fixture, url: string, seconds = 20): Promise<string[]> {
  const states: string[] = [];
  for (let second = 0; second < seconds; second++) {
    const { body, status } = await fixture.staff.get(url);
    const state = status === 404 ? 'gone' : [body.state, body.runtime_state].filter(Boolean).join(' ');
    if (states.at(-1) !== state) states.push(state);
    if (['OK', 'Erred', undefined].includes(body.state)) break;
    await step(fixture);
  }
  return states;
}

/** Changes options of settings. They apply from the next operation on. */
export async function setOptions(
  fixture: Fixture,
  settings: Json,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { body, status } = await fixture.staff.patch(settings.url, options);
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** Returns the non-zero quota usages of an object, by name. */
export async function usages(fixture: Fixture, object: Json): Promise<Record<string, number>> {
  const { body } = await fixture.staff.get(object.url);
  return Object.fromEntries(
    body.quotas.filter((quota: Json) => quota.usage !== 0).map((quota: Json) => [quota.name, quota.usage]),
  );
}
