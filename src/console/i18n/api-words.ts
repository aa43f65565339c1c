/** English words of API names such as `backend_id`. */

/** Words with a special spelling. */
const spelled: Readonly<Record<string, string>> = {
  aws: 'Amazon',
  amazon: 'Amazon',
  digitalocean: 'DigitalOcean',
  openstack: 'OpenStack',
  gitlab: 'GitLab',
  jira: 'JIRA',
  sla: 'SLA',
  cpu: 'CPU',
  ips: 'IPs',
  ssh: 'SSH',
  vms: 'VMs',
  ip: 'IP',
  url: 'URL',
  uuid: 'UUID',
};

/** Splits an API name into words, with a capital first letter. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/^(nc_|@)/, '')
    .split(/[-_]+/)
    .map((word) => (Object.hasOwn(spelled, word) ? spelled[word] : word))
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
