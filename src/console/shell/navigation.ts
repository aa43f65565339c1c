/** The pages of the console by groups, as the sidebar and the keyboard shortcuts offer them. */
import { collections, isOperator, isStaff, ownedCustomers } from '../api/session.ts';
import { t, titleOf } from '../i18n/words.ts';

export interface Destination {
  /** The first segment of the address; empty: the home page. */
  readonly name: string;
  readonly title: string;
  /** The second key of the shortcut `g …`. */
  readonly key?: string;
}

interface Group {
  readonly title: string;
  readonly destinations: readonly Destination[];
}

/** Whether the caller can read a list or the page of the service; other pages are always open. */
function isOffered({ name }: Destination): boolean {
  if (name === 'operation') return isOperator.value;
  if (name === 'audit') return isStaff.value || ownedCustomers.value.size > 0;
  return ['', 'statistics', 'all'].includes(name) || collections.value.has(name);
}

/** The groups that the user can open. */
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
