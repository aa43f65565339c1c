import type { EventContext } from '../scopes/scope.ts';

export interface UserNames {
  readonly uuid: string;
  readonly username: string;
  readonly full_name: string;
  readonly native_name: string;
}

/** U: the user of an event. Replaces the actor. */
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

const userKeys = ['user_uuid', 'user_username', 'user_full_name', 'user_native_name'] as const;
const affectedUserKeys = userKeys.map((key) => `affected_${key}`);
const customerKeys = ['customer_uuid', 'customer_name', 'customer_abbreviation', 'customer_contact_details'];
const projectKeys = ['project_uuid', 'project_name'];
const settingsKeys = ['settings_uuid', 'settings_name', 'service_settings_type'];
const serviceKeys = ['service_uuid', 'service_name', 'service_type', ...settingsKeys];
const resourceKeys = ['resource_uuid', 'resource_name', 'resource_full_name', 'resource_type'];
const scopeKeys = ['uuid', 'name', 'username', 'full_name', 'native_name', 'abbreviation', 'contact_details'].map(
  (name) => `scope_${name}`,
);
const quotaKeys = ['quota_uuid', 'quota_name', 'quota_limit', 'quota_usage'];
const sshKeyKeys = ['ssh_key_uuid', 'ssh_key_name'];
const objectKeys = [quotaKeys, sshKeyKeys, customerKeys, projectKeys, serviceKeys, resourceKeys].flat();

/** The keys of a context. */
export interface ContextKeys {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** REQ. Events of timers have no actor, and not every reader sees the client's address. */
const requestKeys = ['ip_address', ...userKeys];

const keys = (required: readonly string[], optional: readonly string[] = []): ContextKeys => ({
  required,
  optional: [...requestKeys, ...optional].filter((key) => !required.includes(key)),
});

/** Context keys of events by subject (events.md 4.2). */
export const contexts = {
  actor: keys(userKeys),
  unknownUser: { required: ['username'], optional: ['ip_address'] },
  anyObject: keys([], [...scopeKeys, ...objectKeys]),
  customer: keys(customerKeys),
  project: keys([...projectKeys, ...customerKeys]),
  resource: keys([...resourceKeys, ...serviceKeys, ...projectKeys, ...customerKeys]),
  failedResource: keys([...resourceKeys, ...serviceKeys, ...projectKeys, ...customerKeys, 'error_message']),
  role: keys([...customerKeys, ...affectedUserKeys, 'structure_type', 'role_name'], projectKeys),
  settings: keys(settingsKeys, customerKeys),
  place: keys(customerKeys, projectKeys),
  sshKey: keys([...sshKeyKeys, ...userKeys]),
  user: keys(affectedUserKeys),
  organization: keys([...affectedUserKeys, 'affected_organization']),
  tokenLifetime: keys(affectedUserKeys, ['affected_user_token_lifetime']),
} satisfies Readonly<Record<string, ContextKeys>>;

/** Throws if a context lacks a required key of a type or kind, or has an undeclared key. */
export function requireDeclaredKeys(
  name: string,
  { optional, required }: ContextKeys,
  context: Readonly<Record<string, unknown>>,
): void {
  const missing = required.filter((key) => context[key] === undefined);
  const extra = Object.keys(context).filter((key) => !required.includes(key) && !optional.includes(key));
  if (missing.length + extra.length > 0)
    throw new Error(`the context of ${name} lacks [${missing}] and has undeclared keys [${extra}]`);
}

/** Describes a change of a field, for the value `changes` of an event. */
export const changeText = (label: string, before: string, after: string): string =>
  ` ${label} has been changed from '${before}' to '${after}'.`;
