/** Pages that are not generic lists or objects. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { replace } from '../api/route.ts';
import { Loading } from '../components/card.tsx';
import { AlertsPage } from './alerts.tsx';
import { AuditPage } from './audit.tsx';
import { DeliveryPage } from './delivery.tsx';
import { HooksPage } from './hooks.tsx';
import { InboxPage } from './inbox.tsx';
import { NewResourcePage, newResourcePath } from './new-resource.tsx';
import { OperationPage } from './operation.tsx';
import { OwnersPage } from './owners.tsx';
import { InvitationsPage, PeoplePage } from './people.tsx';
import { guide, ProviderGuide } from './provider-guide.tsx';
import { AccountsPage } from './providers.tsx';
import { ResourcesPage } from './resources.tsx';
import { StatisticsPage } from './statistics.tsx';

/** Redirects an old address to a tab. */
function RedirectToTab({ path, tab }: { readonly path: string; readonly tab: string }): JSX.Element {
  useEffect(() => replace(path, { tab }), [path, tab]);
  return <Loading />;
}

/** Pages by list name, or by `<list>/<nested list>` of the object with this key. */
export const pages: Readonly<Record<string, (key: string, part: string) => JSX.Element>> = {
  customers: () => <OwnersPage kind="customer" />,
  projects: () => <OwnersPage kind="project" />,
  users: () => <PeoplePage />,
  'user-invitations': () => <InvitationsPage />,
  alerts: () => <AlertsPage />,
  audit: () => <AuditPage />,
  hooks: () => <HooksPage />,
  notifications: () => <InboxPage />,
  operation: () => <OperationPage />,
  [guide.split('/')[1] ?? '']: (type) => <ProviderGuide type={type} />,
  statistics: () => <StatisticsPage />,
  resources: () => <ResourcesPage />,
  [newResourcePath.split('/')[1] ?? '']: (list) => <NewResourcePage list={list} />,
  'service-settings': () => <AccountsPage />,
  'hooks-web/deliveries/': (hook, uuid) => <DeliveryPage hook={hook} uuid={uuid} />,
  'customers/team': (uuid) => <RedirectToTab path={`/customers/${uuid}/`} tab="team" />,
  'projects/team': (uuid) => <RedirectToTab path={`/projects/${uuid}/`} tab="team" />,
};
