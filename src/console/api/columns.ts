/** Chooses the columns of a table. */

import { ownValue } from '../item.ts';
import { type Item, pathOf, textOf } from './api.ts';

/** The most informative columns, in display order. */
const preferredColumns = [
  '@timestamp',
  'message',
  'summary',
  'full_name',
  'username',
  'user_full_name',
  'name',
  'resource_type',
  'type',
  'role',
  'severity',
  'status',
  'state',
  'runtime_state',
  'customer_name',
  'project_name',
  'email',
  'value',
  'limit',
  'usage',
  'expiration_time',
  'is_active',
  'created',
];

const maxColumns = 7;

const machine = [
  'name',
  'state',
  'runtime_state',
  'cores',
  'ram',
  'disk',
  'external_ips',
  'internal_ips',
  'project_name',
  'created',
];
const storage = ['name', 'state', 'runtime_state', 'size', 'instance_name', 'project_name', 'created'];

const events = ['@timestamp', 'message', 'level', 'event_type', 'user_username', 'customer_name', 'project_name'];

/** Columns of lists that do not use the default ones. The column `name` falls back to the display name of the object. */
const byList: Readonly<Record<string, readonly string[]>> = {
  'digitalocean-droplets': machine,
  'aws-instances': machine,
  'openstack-instances': machine,
  'aws-volumes': storage,
  'openstack-volumes': storage,
  'service-settings': ['name', 'type', 'state', 'error_message', 'is_simulated', 'shared', 'customer_name'],
  'hooks-web': ['name', 'hook_type', 'is_active', 'event_groups', 'created'],
  'hooks-push': ['name', 'hook_type', 'is_active', 'event_groups', 'created'],
  'hooks-email': ['name', 'hook_type', 'is_active', 'event_groups', 'is_confirmed', 'created'],
  outbox: ['subject', 'kind', 'receiver', 'attempts', 'error_message', 'created', 'next_attempt'],
  jobs: [
    'operation',
    'resource_name',
    'settings_name',
    'state',
    'attempts',
    'error_message',
    'created',
    'next_attempt',
  ],
  sessions: ['name', 'method', 'is_current', 'created', 'last_use', 'expires'],
  backups: ['name', 'state', 'target', 'size', 'created', 'verified'],
  deliveries: ['created', 'event_type', 'status', 'attempts', 'response_code', 'error_message', 'next_attempt'],
};

/** Returns the list of an object from its link; of nested lists, the innermost. */
export const listOf = (item: Item): string => /([a-z-]+)\/[0-9a-f]+\/$/.exec(pathOf(textOf(item, 'url')))?.[1] ?? '';

/**
 * Returns the columns of a table. Objects of one kind (`isOfKind`) have the columns of their list. Otherwise, the most
 * informative columns come first, then other plain values that differ.
 */
export function columnsOf(items: readonly Item[], isOfKind: boolean): readonly string[] {
  const [list = '', ...others] = new Set(items.map(listOf));
  const own = ownValue(byList, list);
  if (isOfKind && own && others.length === 0) return own;
  if (items.some((item) => '@timestamp' in item)) return events;
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const isPlain = (name: string): boolean =>
    items.some((item) => item[name] !== null && item[name] !== '' && item[name] !== undefined) &&
    items.every((item) => typeof item[name] !== 'object' || item[name] === null);
  const isLink = (name: string): boolean => items.some((item) => /^https?:/.test(textOf(item, name)));
  const isQuiet =
    /^(url|uuid|pk|token|description|certificate|backend_id|scope|@version|levelname|event_type)$|_uuid$|_url$|native_name|_abbreviation$/;
  // `resource_type` and `event_type` are more precise.
  const isRedundant = (name: string): boolean =>
    name === 'type' && (names.includes('resource_type') || names.includes('event_type'));
  const first = preferredColumns.filter(
    (name) => names.includes(name) && isPlain(name) && !isRedundant(name) && !isLink(name),
  );
  const rest = names.filter((name) => !first.includes(name) && !isQuiet.test(name) && isPlain(name) && !isLink(name));
  // Lists with few informative columns show their other values, too.
  return [...first, ...(first.length < 4 ? rest : [])].slice(0, maxColumns);
}
