/** English texts for API names such as `openstack-instances` or `error_message`. */
import { fieldLabel, quotaLabel, wordsOf } from './labels.ts';

/** Lists, actions and pages whose texts differ from their API names. */
const known: Readonly<Record<string, string>> = {
  'customer-permissions': 'Customer roles',
  'customer-permissions-log': 'Past customer roles',
  'project-permissions': 'Project roles',
  'project-permissions-log': 'Past project roles',
  'service-settings': 'Provider accounts',
  services: 'Provider accounts in use',
  'user-invitations': 'Invitations',
  alerts: 'Alerts',
  feature: 'Group',
  hooks: 'Notifications',
  'hooks-web': 'Webhooks',
  'hooks-push': 'Phone notifications',
  'hooks-email': 'Email notifications',
  keys: 'SSH keys',
  'api-keys': 'API keys',
  operation: 'Operations',
  outbox: 'Message queue',
  notifications: 'Personal notifications',
  'openstack-tenants': 'OpenStack private clouds',
  'digitalocean-droplets': 'Droplets',
  'aws-instances': 'EC2 instances',
  'aws-volumes': 'EBS volumes',
  'monitoring-items': 'Monitoring',
  'resource-sla': 'Availability',
  'deployment-settings': 'Settings in force',
  api_key_expiring: 'API key expiring',
  hook_disabled: 'Notification disabled',
  disk_low: 'Disk space low',
};

/** Returns the English text of an API name. */
export function englishOf(name: string): string {
  if (Object.hasOwn(known, name)) return known[name] ?? name;
  const label = fieldLabel(name)?.label ?? quotaLabel(name);
  if (label !== undefined) return label;
  const [, provider] = /^(\w+)-service-project-link$/.exec(name) ?? [];
  if (provider !== undefined) return `${englishOf(provider)} connections`;
  return wordsOf(name);
}

/** Actions whose titles differ from their API names. */
const actions: Readonly<Record<string, string>> = {
  unlink: 'Stop managing',
  pull: 'Refresh from provider',
  link: 'Import',
  update: 'Edit',
  sync: 'Sync',
  update_floating_ips: 'Change floating IPs',
  update_internal_ips_set: 'Change networks',
  update_security_groups: 'Change security groups',
  push_security_groups: 'Change security groups',
};

/** Returns the title of an action such as `change_flavor`. `title` is its title in OPTIONS. */
export function englishOfAction(name: string, title = ''): string {
  if (Object.hasOwn(actions, name)) return actions[name] ?? name;
  const words = title === '' ? name.split('_').join(' ') : title;
  return (
    words.charAt(0).toUpperCase() +
    words
      .slice(1)
      .toLowerCase()
      .replace(/\bips?\b/g, (word) => word.replace('ip', 'IP'))
  );
}
