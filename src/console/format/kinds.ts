/** Names and icons of object types. */
import { ownValue } from '../item.ts';

interface Kind {
  /** In English. */
  readonly word: string;
  readonly icon: string;
}

const of = (icon: string, word: string): Kind => ({ word, icon });

/** By the `resource_type` of the API. */
const resourceTypes: Readonly<Record<string, Kind>> = {
  'OpenStack.Instance': of('machine', 'OpenStack instance'),
  'OpenStack.Volume': of('volume', 'OpenStack volume'),
  'OpenStack.Snapshot': of('snapshot', 'OpenStack snapshot'),
  'OpenStack.Tenant': of('cloud', 'OpenStack private cloud'),
  'OpenStack.Network': of('network', 'OpenStack network'),
  'OpenStack.SubNet': of('network', 'OpenStack subnet'),
  'OpenStack.FloatingIP': of('network', 'OpenStack floating IP'),
  'OpenStack.SecurityGroup': of('shield', 'OpenStack security group'),
  'DigitalOcean.Droplet': of('machine', 'Droplet'),
  'Amazon.Instance': of('machine', 'EC2 instance'),
  'Amazon.Volume': of('volume', 'EBS volume'),
  'GitLab.Group': of('application', 'GitLab group'),
  'GitLab.Project': of('repository', 'GitLab project'),
  'JIRA.Project': of('issue', 'JIRA project'),
  'Oracle.Database': of('database', 'Oracle database'),
};

/** Resource types by list. */
const typesByList: Readonly<Record<string, string>> = {
  'openstack-instances': 'OpenStack.Instance',
  'openstack-volumes': 'OpenStack.Volume',
  'openstack-snapshots': 'OpenStack.Snapshot',
  'openstack-tenants': 'OpenStack.Tenant',
  'openstack-networks': 'OpenStack.Network',
  'openstack-subnets': 'OpenStack.SubNet',
  'openstack-floating-ips': 'OpenStack.FloatingIP',
  'openstack-security-groups': 'OpenStack.SecurityGroup',
  'digitalocean-droplets': 'DigitalOcean.Droplet',
  'aws-instances': 'Amazon.Instance',
  'aws-volumes': 'Amazon.Volume',
  'gitlab-groups': 'GitLab.Group',
  'gitlab-projects': 'GitLab.Project',
  'jira-projects': 'JIRA.Project',
  'oracle-databases': 'Oracle.Database',
};

/** Icons of providers by the `type` of an account. */
const providerIcons: Readonly<Record<string, string>> = {
  OpenStack: 'cloud',
  DigitalOcean: 'machine',
  Amazon: 'application',
  JIRA: 'issue',
  GitLab: 'repository',
  Oracle: 'database',
};

/** Returns the icon of a provider by its type. */
export const iconOfProvider = (type: string): string => ownValue(providerIcons, type) ?? 'service-settings';

/** Icons of other lists whose names differ from the icon names. */
const listIcons: Readonly<Record<string, string>> = {
  'jira-issues': 'issue',
  'openstack-flavors': 'flavor',
  'openstack-images': 'image',
  'api-keys': 'keys',
  'service-accounts': 'user',
  users: 'user',
};

/** Returns name and icon of a `resource_type`. An unknown type keeps its name. */
export const kindOfType = (type: string): Kind => ownValue(resourceTypes, type) ?? of('resources', type);

/** Returns the list of a `resource_type`; undefined for an unknown type. */
export const listOfType = (type: string): string | undefined =>
  Object.keys(typesByList).find((list) => typesByList[list] === type);

/** Returns the icon for objects of a list. */
export const iconOfList = (list: string): string => kindOfList(list)?.icon ?? ownValue(listIcons, list) ?? list;

/** Returns name and icon of a resource in a list; undefined for other lists. */
export function kindOfList(list: string): Kind | undefined {
  const type = ownValue(typesByList, list);
  return type === undefined ? undefined : kindOfType(type);
}

/** All type names, for the translation test. */
export const kindWords = (): readonly string[] => Object.values(resourceTypes).map(({ word }) => word);
