/** The overview of an object by its list. To add a page, add a recipe here. */
import { textOf } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { hrefOf } from '../api/route.ts';
import { Icon } from '../components/icons.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { works } from './attention.tsx';
import { Deliveries } from './hooks.tsx';
import { isMachine, MachineOverview } from './machine.tsx';
import type { ObjectRecipe } from './object.tsx';
import { BackupContent } from './operation.tsx';
import { organisation } from './organisation.tsx';
import { PersonOverview } from './person.tsx';
import { AccountOverview, LastSync } from './providers.tsx';
import { FailedResource, maker, ResourceFacts, ResourceOverview } from './resources.tsx';
import { serviceAccount } from './service-accounts.tsx';
import { Measurements, QuotaHistory } from './statistics.tsx';
import { invitationActions } from './team.tsx';

/** Returns the recipe of the objects of a list. */
export function recipeOf(collection: Collection): ObjectRecipe {
  const own = ownValue(recipes, collection.name);
  if (own) return own;
  return collection.filters.some(({ name }) => name === 'runtime_state') ? resource : {};
}

const resource: ObjectRecipe = {
  overview: (item) => (isMachine(item) ? <MachineOverview machine={item} /> : <ResourceOverview resource={item} />),
  facts: (item) => <ResourceFacts resource={item} />,
  problem: (item) => (textOf(item, 'state') === 'Erred' ? <FailedResource resource={item} /> : undefined),
  tabs: [
    {
      name: 'monitoring',
      // Read with each page: the language may change.
      get title() {
        return t('Monitoring');
      },
      isShown: isMachine,
      content: (item) => (
        <div class="stack">
          <Measurements resource={item} />
        </div>
      ),
    },
  ],
};

const recipes: Readonly<Record<string, ObjectRecipe>> = {
  customers: organisation('customer'),
  projects: organisation('project'),
  users: { overview: (item) => <PersonOverview user={item} /> },
  quotas: { overview: (item) => <QuotaHistory quota={item} /> },
  'service-settings': {
    overview: (item) => <AccountOverview settings={item} />,
    facts: (item) => (
      <>
        <span>{textOf(item, 'type')}</span>
        {item.shared === true && <span>{titleOf('shared')}</span>}
        <LastSync uuid={textOf(item, 'uuid')} state={textOf(item, 'state')} />
      </>
    ),
  },
  'openstack-tenants': {
    ...resource,
    buttons: (item) =>
      works() && (
        <a
          class="btn primary"
          href={hrefOf(`${maker}openstack-instances/`, {
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
  'hooks-web': { overview: (item) => <Deliveries hook={item} /> },
};
