/** The groups of pages for the sidebar and keyboard shortcuts. */
import { collections, isOperator, isStaff, ownedCustomers } from '../api/session.ts';
import { t, titleOf } from '../i18n/words.ts';

export interface Destination {
  /** The first segment of the address; empty for the home page. */
  readonly name: string;
  readonly title: string;
  /** The second key of the shortcut `g …`. */
  readonly key?: string;
}

interface Group {
  readonly title: string;
  readonly destinations: readonly Destination[];
}

/** Whether the user may open a page. Pages that are neither lists nor about the service are always available. */
function isOffered({ name }: Destination): boolean {
  if (name === 'operation') return isOperator.value;
  if (name === 'audit') return isStaff.value || ownedCustomers.value.size > 0;
  return ['', 'statistics', 'all'].includes(name) || collections.value.has(name);
}

/** Returns the groups with the pages that the user may open. */
export function navigation(): readonly Group[] {
  const of = (name: string, key?: string, title = titleOf(name)): Destination => ({ name, title, ...(key && { key }) });
  const groups: readonly Group[] = [
    { title: '', destinations: [of('', 'h', t('Home'))] },
    {
      title: t('Cloud'),
      destinations: [of('projects', 'p'), of('resources', 'r'), of('service-settings'), of('statistics')],
    },
    { title: t('Activity'), destinations: [of('events', 'e'), of('alerts', 'a'), of('hooks')] },
    { title: t('Organisation'), destinations: [of('customers', 'c'), of('users'), of('user-invitations')] },
    ...(isOperator.value || ownedCustomers.value.size > 0
      ? [{ title: t('Service'), destinations: [of('operation'), of('audit', undefined, t('Audit trail'))] }]
      : []),
    { title: t('Developers'), destinations: [of('all', undefined, t('API explorer'))] },
  ];
  return groups
    .map((group) => ({ ...group, destinations: group.destinations.filter(isOffered) }))
    .filter(({ destinations }) => destinations.length > 0);
}
