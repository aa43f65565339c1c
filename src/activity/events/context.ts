import type { EventContext } from '../scopes/scope.ts';

export interface UserNames {
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
}

/** U: the user an event is about. Replaces the actor. */
export const userContext = (user: UserNames): EventContext => ({
  user_uuid: user.uuid,
  user_username: user.username,
  user_full_name: user.full_name,
  user_native_name: user.native_name,
});

/** AFF: the user an operation changes. */
export const affectedUser = (user: UserNames): EventContext => ({
  affected_user_uuid: user.uuid,
  affected_user_username: user.username,
  affected_user_full_name: user.full_name,
  affected_user_native_name: user.native_name,
});

export interface CustomerNames {
  readonly uuid: string;
  readonly name: string;
  readonly abbreviation: string;
  readonly contact_details: string;
}

/** CUST */
export const customerContext = (customer: CustomerNames): EventContext => ({
  customer_uuid: customer.uuid,
  customer_name: customer.name,
  customer_abbreviation: customer.abbreviation,
  customer_contact_details: customer.contact_details,
});

/** PROJ: a project with its customer. */
export const projectContext = (
  project: { readonly uuid: string; readonly name: string },
  customer: CustomerNames,
): EventContext => ({ project_uuid: project.uuid, project_name: project.name, ...customerContext(customer) });

/** KEY: an SSH key with its owner. */
export const keyContext = (key: { readonly uuid: string; readonly name: string }, owner: UserNames): EventContext => ({
  ssh_key_uuid: key.uuid,
  ssh_key_name: key.name,
  ...userContext(owner),
});
