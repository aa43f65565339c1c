import type { Json, RecordedEvent } from './fixture.ts';

type Context = Readonly<Record<string, string>>;

/** Returns the context that a user's request adds to its events: client address and caller. */
export const by = (user: Json): Context => ({
  ip_address: '127.0.0.1',
  user_uuid: user.uuid,
  user_username: user.username,
  user_full_name: user.full_name,
  user_native_name: user.native_name,
});

/** Returns a context without one of its keys. */
export const without = (context: Context, key: string): Context =>
  Object.fromEntries(Object.entries(context).filter(([name]) => name !== key));

/** Returns the context of events of a job that this user started. */
export const inJobOf = (user: Json): Context => without(by(user), 'ip_address');

/** Returns the context of an operation that changes this user. */
export const affecting = (user: Json): Context => ({
  affected_user_uuid: user.uuid,
  affected_user_username: user.username,
  affected_user_full_name: user.full_name,
  affected_user_native_name: user.native_name,
});

/** Returns the context of an event in this customer. */
export const inCustomer = (customer: Json): Context => ({
  customer_uuid: customer.uuid,
  customer_name: customer.name,
  customer_abbreviation: customer.abbreviation,
  customer_contact_details: customer.contact_details,
});

/** Returns the context of an event in this project of a customer. */
export const inProject = (project: Json, customer: Json): Context => ({
  project_uuid: project.uuid,
  project_name: project.name,
  ...inCustomer(customer),
});

/** Returns an event of level info. Later contexts override earlier ones. */
export const expectedEvent = (type: string, message: string, ...contexts: readonly Context[]): RecordedEvent => ({
  type,
  level: 'info',
  message,
  context: Object.assign({}, ...contexts) as Context,
});
