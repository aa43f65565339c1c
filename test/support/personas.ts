import type { Client, Fixture, Json } from './fixture.ts';

/** The personas, named by their relation to a customer and its project. */
export const personaNames = [
  'staff',
  'support',
  'owner',
  'helper',
  'manager',
  'admin',
  'observer',
  'stranger',
] as const;

export type PersonaName = (typeof personaNames)[number];

/** A customer with one project, and users for each relation to them, with the names of the relations. */
export interface Personas {
  readonly customer: Json;
  readonly project: Json;
  readonly users: Readonly<Record<Exclude<PersonaName, 'staff'>, Json>>;
  readonly clients: Readonly<Record<PersonaName, Client>>;
}

/**
 * Creates the personas: `support` is global support, `owner` and `helper` are owner and support of the customer, `manager`,
 * `admin` and `observer` are manager, administrator and support of the project. `stranger` has no role.
 */
export async function createPersonas(fixture: Fixture): Promise<Personas> {
  const customer = await fixture.customer('Alice', { abbreviation: 'ALC', contact_details: 'Baker Street' });
  const project = await fixture.project('Rocket', customer);
  const users = {
    support: await fixture.user('support', { is_support: true }),
    owner: await fixture.user('owner'),
    helper: await fixture.user('helper'),
    manager: await fixture.user('manager'),
    admin: await fixture.user('admin.of.project'),
    observer: await fixture.user('observer'),
    stranger: await fixture.user('stranger'),
  };
  await fixture.grant(customer, users.owner, 'owner');
  await fixture.grant(customer, users.helper, 'support');
  await fixture.grant(project, users.manager, 'manager');
  await fixture.grant(project, users.admin, 'admin');
  await fixture.grant(project, users.observer, 'support');
  const clients = {
    staff: fixture.staff,
    support: fixture.as('support'),
    owner: fixture.as('owner'),
    helper: fixture.as('helper'),
    manager: fixture.as('manager'),
    admin: fixture.as('admin.of.project'),
    observer: fixture.as('observer'),
    stranger: fixture.as('stranger'),
  };
  fixture.events();
  return { customer, project, users, clients };
}

/** Collects the result of `send` for each persona. */
export async function asEachPersona<T>(
  { clients }: Personas,
  send: (client: Client, part: PersonaName) => Promise<T>,
): Promise<Record<PersonaName, T>> {
  const results = {} as Record<PersonaName, T>;
  for (const part of personaNames) results[part] = await send(clients[part], part);
  return results;
}

/** Returns the same value for all personas, with overrides. */
export function sameExcept<T>(
  usual: T,
  exceptions: Readonly<Partial<Record<PersonaName, T>>> = {},
): Record<PersonaName, T> {
  const results = {} as Record<PersonaName, T>;
  for (const part of personaNames) results[part] = exceptions[part] ?? usual;
  return results;
}
