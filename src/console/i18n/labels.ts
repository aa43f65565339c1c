/** The label, format and placement of every field and quota of the API. A field without a label is named by its words. */
import data from './labels.json' with { type: 'json' };

/**
 * Where to display a field: `shown` first, under `details` (also unknown fields), only in `raw` data and the API explorer, or
 * only in a `form`.
 */
type Placement = 'shown' | 'details' | 'raw' | 'form';

interface FieldLabel {
  /** In English. */
  readonly label: string;
  /** Such as `MiB`, `time` or `id`. Empty for plain text. */
  readonly format: string;
  readonly placement: Placement;
  /** The section of the Details tab. */
  readonly group: string;
}

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

const placements: Readonly<Record<string, Placement>> = { d: 'details', r: 'raw', f: 'form' };

/** Sections of the Details tab, in order. */
export const groups: readonly string[] = Object.keys(data.fields);

const fields: ReadonlyMap<string, FieldLabel> = new Map(
  Object.entries<Readonly<Record<string, readonly string[]>>>(data.fields).flatMap(([group, members]) =>
    Object.entries(members).map(([name, [label, format = '', place = '']]) => [
      name,
      { label: label || wordsOf(name), format, placement: placements[place] ?? 'shown', group },
    ]),
  ),
);

const quotas: ReadonlyMap<string, readonly string[]> = new Map(Object.entries<readonly string[]>(data.quotas));

/** Returns the label of a field; undefined for an unknown one. */
export const fieldLabel = (name: string): FieldLabel | undefined => fields.get(name);

/** Returns the English label of a quota; undefined for an unknown one. */
export const quotaLabel = (name: string): string | undefined => quotas.get(name)?.[0];

/** Whether a quota counts MiB. */
export const isQuotaInMebibytes = (name: string): boolean => quotas.get(name)?.[1] === 'MiB';
