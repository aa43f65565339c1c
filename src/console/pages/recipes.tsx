/** Recipes for object pages by list. To customise a page, add a recipe here. */
import { textOf } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { hrefOf } from '../api/route.ts';
import { Icon } from '../components/icons.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { canManageResources } from './attention.tsx';
import { Deliveries, deliveriesOf } from './delivery.tsx';
import { FailedResource } from './failed.tsx';
import { HookBadge, HookFacts, subscribedTab } from './hooks.tsx';
import { invitationActions } from './invite.tsx';
import { machineProblem } from './machine.tsx';
import { isMeasured, Measurements } from './measured.tsx';
import { newResourcePath } from './new-resource.tsx';
import { activityTab, type ObjectRecipe } from './object.tsx';
import { BackupContent } from './operation.tsx';
import { organisation } from './organisation.tsx';
import { PersonBadge, PersonFacts, PersonOverview } from './person.tsx';
import { AccountOverview, FailedAccount, LastSync } from './providers.tsx';
import { cloudLinks, providerPage, ResourceFacts, ResourceOverview } from './resource.tsx';
import { serviceAccount } from './service-accounts.tsx';
import { QuotaHistory } from './statistics.tsx';

/** Returns the recipe for objects of a list. */
export function recipeOf(collection: Collection): ObjectRecipe {
  const own = ownValue(recipes, collection.name);
  if (own) return own;
  return collection.filters.some(({ name }) => name === 'runtime_state') ? resource : {};
}

const resource: ObjectRecipe = {
  overview: (item) => <ResourceOverview resource={item} />,
  facts: (item) => <ResourceFacts resource={item} />,
  // The activity of a resource is a tab.
  links: () => [],
  problem: (item, can) =>
    textOf(item, 'state') === 'Erred' ? <FailedResource resource={item} can={can} /> : machineProblem(item),
  tabs: [
    {
      name: 'monitoring',
      // A getter, because the language may change.
      get title() {
        return t('Monitoring');
      },
      isShown: isMeasured,
      content: (item) => (
        <div class="stack">
          <Measurements resource={item} />
        </div>
      ),
    },
    activityTab,
  ],
};

/** Objects of applications, which users open at the provider. */
const application: ObjectRecipe = {
  ...resource,
  buttons: (item) =>
    providerPage(item) !== '' && (
      <a class="btn primary" href={providerPage(item)} target="_blank" rel="noopener noreferrer external">
        <Icon name="external" />
        {t('Open in {provider}', { provider: textOf(item, 'resource_type').split('.')[0] ?? '' })}
      </a>
    ),
};

const notification: ObjectRecipe = {
  badge: (item) => <HookBadge hook={item} />,
  facts: (item) => <HookFacts hook={item} />,
  actionTitles: () => ({ test: t('Send test') }),
  list: 'hooks',
  tabs: [subscribedTab],
  detailsTitle: () => t('Settings'),
};

const webhook: ObjectRecipe = {
  ...notification,
  overview: (item, _, deliveries) => <Deliveries hook={item} page={deliveries} />,
  overviewList: deliveriesOf,
  overviewTitle: () => t('Deliveries'),
  // The list of deliveries is the first tab.
  links: () => [],
};

const recipes: Readonly<Record<string, ObjectRecipe>> = {
  customers: organisation('customer'),
  projects: organisation('project'),
  users: {
    overview: (item) => <PersonOverview user={item} />,
    badge: (item) => <PersonBadge user={item} />,
    facts: (item) => <PersonFacts user={item} />,
  },
  quotas: { overview: (item) => <QuotaHistory quota={item} /> },
  'service-settings': {
    overview: (item) => <AccountOverview settings={item} />,
    problem: (item) => (textOf(item, 'state') === 'Erred' ? <FailedAccount settings={item} /> : undefined),
    facts: (item) => (
      <>
        <span>{textOf(item, 'type')}</span>
        {item.shared === true && <span>{titleOf('shared')}</span>}
        <LastSync uuid={textOf(item, 'uuid')} state={textOf(item, 'state')} />
      </>
    ),
  },
  'gitlab-groups': application,
  'gitlab-projects': application,
  'jira-projects': application,
  'openstack-tenants': {
    ...resource,
    firstLinks: cloudLinks,
    buttons: (item) =>
      canManageResources() && (
        <a
          class="btn primary"
          href={hrefOf(`${newResourcePath}openstack-instances/`, {
            service_project_link: textOf(item, 'service_project_link'),
            tenant: textOf(item, 'url'),
          })}
        >
          <Icon name="create" />
          {t('Create virtual machine')}
        </a>
      ),
  },
  'service-accounts': serviceAccount,
  'user-invitations': { actionTitles: invitationActions },
  backups: { overview: (item) => <BackupContent backup={item} /> },
  'hooks-web': webhook,
  'hooks-email': notification,
  'hooks-push': notification,
};
