import { namesOf } from '../../kernel/present.ts';
import { type ContextKeys, contexts } from './context.ts';

/** Levels of an event, from the least to the most severe. */
export type Level = 'debug' | 'info' | 'warning' | 'error';

/** A level as a word and as a number. */
export interface Importance {
  readonly name: string;
  readonly code: number;
}

export const importances: Readonly<Record<Level, Importance>> = {
  debug: { name: 'low', code: 10 },
  info: { name: 'normal', code: 20 },
  warning: { name: 'high', code: 30 },
  error: { name: 'very high', code: 40 },
};

/** Groups of event types that hooks and filters name. */
type Group = 'customers' | 'projects' | 'resources' | 'ssh' | 'users';

export interface EventType {
  readonly groups: readonly Group[];
  readonly level: Level;
  /** Text with `{key}` for context values. A part in [brackets] is omitted if its value is empty. */
  readonly message: string;
  readonly context: ContextKeys;
  /** Whether hooks and filters accept the type although no operation causes it. */
  readonly isNeverEmitted?: boolean;
}

const info = (groups: readonly Group[], context: ContextKeys, message: string): EventType => ({
  groups,
  level: 'info',
  message,
  context,
});
const error = (groups: readonly Group[], message: string): EventType => ({
  groups,
  level: 'error',
  message,
  context: contexts.failedResource,
});
const neverEmitted = (groups: readonly Group[], context: ContextKeys): EventType => ({
  ...info(groups, context, ''),
  isNeverEmitted: true,
});
const users: readonly Group[] = ['users'];
const customers: readonly Group[] = ['customers'];
const projects: readonly Group[] = ['projects'];
const resources: readonly Group[] = ['resources'];
const roles: readonly Group[] = ['customers', 'projects', 'users'];
const ssh: readonly Group[] = ['ssh', 'users'];

/** Every type of event (events.md 4.2). `record` appends the changed fields to the message of an update. */
export const catalogue = {
  auth_logged_in_with_username: info(
    users,
    contexts.actor,
    'User {user_username}[ with full name {user_full_name}] authenticated successfully with username and password.',
  ),
  auth_logged_out: info(
    users,
    contexts.actor,
    'User {user_username}[ with full name {user_full_name}] has logged out.',
  ),
  auth_login_failed_with_username: info(
    users,
    contexts.unknownUser,
    'User {username} failed to authenticate with username and password.',
  ),
  custom_notification: info([], contexts.anyObject, '{message}'),
  customer_creation_succeeded: info(customers, contexts.customer, 'Customer {customer_name} has been created.'),
  customer_deletion_succeeded: info(customers, contexts.customer, 'Customer {customer_name} has been deleted.'),
  customer_price_limit_updated: neverEmitted(customers, contexts.customer),
  customer_update_succeeded: info(customers, contexts.customer, 'Customer {customer_name} has been updated.'),
  project_creation_succeeded: info(projects, contexts.project, 'Project {project_name} has been created.'),
  project_deletion_succeeded: info(projects, contexts.project, 'Project {project_name} has been deleted.'),
  project_price_limit_updated: neverEmitted(projects, contexts.project),
  project_update_succeeded: info(projects, contexts.project, 'Project {project_name} has been updated.'),
  resource_creation_failed: error(resources, 'Resource {resource_name} creation has failed.'),
  resource_creation_scheduled: info(
    resources,
    contexts.resource,
    'Resource {resource_name} creation has been scheduled.',
  ),
  resource_creation_succeeded: info(resources, contexts.resource, 'Resource {resource_name} has been created.'),
  resource_deletion_failed: error(resources, 'Resource {resource_name} deletion has failed.'),
  resource_deletion_scheduled: info(
    resources,
    contexts.resource,
    'Resource {resource_name} deletion has been scheduled.',
  ),
  resource_deletion_succeeded: info(resources, contexts.resource, '{resource_full_name} has been deleted.'),
  resource_import_succeeded: info(resources, contexts.resource, 'Resource {resource_full_name} has been imported.'),
  resource_restart_failed: error(resources, 'Resource {resource_name} restart has failed.'),
  resource_restart_scheduled: info(
    resources,
    contexts.resource,
    'Resource {resource_name} has been scheduled to restart.',
  ),
  resource_restart_succeeded: info(resources, contexts.resource, 'Resource {resource_name} has been restarted.'),
  resource_start_failed: error(resources, 'Resource {resource_name} start has failed.'),
  resource_start_scheduled: info(resources, contexts.resource, 'Resource {resource_name} has been scheduled to start.'),
  resource_start_succeeded: info(resources, contexts.resource, 'Resource {resource_name} has been started.'),
  resource_stop_failed: error(resources, 'Resource {resource_name} stop has failed.'),
  resource_stop_scheduled: info(resources, contexts.resource, 'Resource {resource_name} has been scheduled to stop.'),
  resource_stop_succeeded: info(resources, contexts.resource, 'Resource {resource_name} has been stopped.'),
  resource_update_succeeded: info(resources, contexts.resource, '{resource_full_name} has been updated.'),
  role_granted: info(
    roles,
    contexts.role,
    'User {affected_user_username} has gained role of {role_name} in {structure_type} {structure_name}.',
  ),
  role_revoked: info(
    roles,
    contexts.role,
    'User {affected_user_username} has lost role of {role_name} in {structure_type} {structure_name}.',
  ),
  ssh_key_creation_succeeded: info(
    ssh,
    contexts.sshKey,
    'SSH key {ssh_key_name} has been created for user [{user_full_name} ]with username {user_username}.',
  ),
  ssh_key_deletion_succeeded: info(
    ssh,
    contexts.sshKey,
    'SSH key {ssh_key_name} has been deleted for user [{user_full_name} ]with username {user_username}.',
  ),
  token_created: info([], contexts.user, 'Token has been updated for {affected_user_username}'),
  user_activated: info(users, contexts.user, 'User {affected_user_username} has been activated.'),
  user_creation_succeeded: info(users, contexts.user, 'User {affected_user_username} has been created.'),
  user_deactivated: info(users, contexts.user, 'User {affected_user_username} has been deactivated.'),
  user_deletion_succeeded: info(users, contexts.user, 'User {affected_user_username} has been deleted.'),
  user_organization_approved: info(
    [],
    contexts.organization,
    'User {affected_user_username} has been approved for organization {affected_organization}.',
  ),
  user_organization_claimed: info(
    [],
    contexts.organization,
    'User {affected_user_username} has claimed organization {affected_organization}.',
  ),
  user_organization_rejected: info(
    [],
    contexts.organization,
    'User {affected_user_username} claim for organization {affected_organization} has been rejected.',
  ),
  user_organization_removed: info(
    [],
    contexts.organization,
    'User {affected_user_username} has been removed from organization {affected_organization}.',
  ),
  user_password_updated: info(users, contexts.user, 'Password has been changed for user {affected_user_username}.'),
  user_token_lifetime_updated: info(
    users,
    contexts.tokenLifetime,
    'Token lifetime has been changed for {affected_user_username} to {affected_user_token_lifetime}',
  ),
  user_update_succeeded: info(users, contexts.user, 'User {affected_user_username} has been updated.'),
} as const satisfies Record<string, EventType>;

export type EventTypeName = keyof typeof catalogue;

/** Every type, sorted. */
export const eventTypes: readonly EventTypeName[] = namesOf(catalogue).sort();

/** Every group with its types, both sorted. */
export const eventGroups: Readonly<Record<Group, readonly EventTypeName[]>> = {
  customers: typesIn('customers'),
  projects: typesIn('projects'),
  resources: typesIn('resources'),
  ssh: typesIn('ssh'),
  users: typesIn('users'),
};

function typesIn(group: Group): EventTypeName[] {
  return eventTypes.filter((type) => catalogue[type].groups.includes(group));
}

/** Returns the types of groups. Unknown groups have none. */
export const typesOfGroups = (groups: readonly string[]): EventTypeName[] =>
  eventTypes.filter((type) => catalogue[type].groups.some((group) => groups.includes(group)));

/** Renders the message of an event. */
export const messageOf = (type: EventTypeName, values: Readonly<Record<string, string>>): string =>
  rendered(catalogue[type].message, values);

/**
 * Renders a text with `{key}` for values and [brackets] around parts to omit if their value is empty. Placeholders inside values
 * are not replaced.
 */
export function rendered(message: string, values: Readonly<Record<string, string>>): string {
  let parts = partsOf.get(message);
  if (!parts) {
    parts = split(message);
    partsOf.set(message, parts);
  }
  let text = '';
  for (const { after, before, isOptional, key } of parts) {
    const value = key === undefined ? '' : (values[key] ?? '');
    if (value !== '' || !isOptional) text += before + value + after;
  }
  return text;
}

/** A value in a message with its surrounding text, which is omitted if an optional value is empty. */
interface Part {
  readonly before: string;
  readonly key: string | undefined;
  readonly after: string;
  readonly isOptional: boolean;
}

const partsOf = new Map<string, readonly Part[]>();

const split = (message: string): Part[] =>
  [...message.matchAll(/\[([^\]{]*)\{(\w+)\}([^\]]*)\]|([^[{]*)\{(\w+)\}|[^[{]+|[[{]/g)].map(
    ([all, inside = '', optional, after = '', before = '', key]) =>
      optional === undefined
        ? { before: key === undefined ? all : before, key, after: '', isOptional: false }
        : { before: inside, key: optional, after, isOptional: true },
  );
