/** English names of what the API calls `openstack-instances` or `error_message`. */

const known: Readonly<Record<string, string>> = {
  'customer-permissions': 'Roles in customers',
  'customer-permissions-log': 'Ended roles in customers',
  'project-permissions': 'Roles in projects',
  'project-permissions-log': 'Ended roles in projects',
  'service-settings': 'Provider accounts',
  'user-invitations': 'Invitations',
  hooks: 'Notifications',
  'hooks-web': 'Web hooks',
  'hooks-push': 'Push notifications',
  'hooks-email': 'Email notifications',
  users: 'People',
  keys: 'SSH keys',
};

/** Words as they are written by themselves. */
const spelled: Readonly<Record<string, string>> = {
  aws: 'AWS',
  digitalocean: 'DigitalOcean',
  openstack: 'OpenStack',
  gitlab: 'GitLab',
  jira: 'JIRA',
  sla: 'SLA',
  ips: 'IPs',
  ssh: 'SSH',
  vms: 'VMs',
  ip: 'IP',
  url: 'URL',
  uuid: 'UUID',
};

/** A name of the API in English words. */
export function englishOf(name: string): string {
  if (Object.hasOwn(known, name)) return known[name] ?? name;
  const words = name
    .replace(/^(nc_|@)/, '')
    .split(/[-_]+/)
    .map((word) => (Object.hasOwn(spelled, word) ? spelled[word] : word))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
