/** The list of provider accounts, and the overview of one with its customers, resources and usage. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Item, itemsIn, listIn, type Page, pathOf, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, useList, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections, isOperator, isStaff } from '../api/session.ts';
import { Callout, Card, Loading } from '../components/card.tsx';
import { statusColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { ListPage } from '../components/list.tsx';
import { ListCard } from '../components/list-card.tsx';
import { PostButton } from '../components/post.tsx';
import { SimulatedBadge } from '../components/status.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { ObjectLink, Time, Value } from '../components/values.tsx';
import { iconOfProvider } from '../format/kinds.ts';
import { numberText, serverText, t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';
import { Import } from './import.tsx';
import { newResourcePath } from './new-resource.tsx';
import { guide, mayAddAccounts } from './provider-guide.tsx';
import { Usage, useAccountUsage } from './usage.tsx';

/** The provider accounts. Owners add accounts with the guide; staff can also add accounts without a customer. */
export function AccountsPage(): JSX.Element {
  const list = 'service-settings';
  const collection = collections.value.get(list);
  const resources = useResourceCounts();
  return (
    <ListPage
      path={`/${list}/`}
      title={titleOf(list)}
      collection={collection}
      columns={() => columnsWith(resources)}
      actions={
        <>
          {isStaff.value && collection && <Creation collection={collection} button={t('New shared account')} />}
          {mayAddAccounts() && (
            <a class="btn primary" href={hrefOf(guide)}>
              <Icon name="create" />
              {t('Add provider account')}
            </a>
          )}
        </>
      }
    />
  );
}

/** Returns the columns. `resources` has the numbers of resources by account path. */
const columnsWith = (resources: ReadonlyMap<string, number> | undefined): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('name'),
    sort: 'name',
    class: 'name',
    cell: (account) => (
      <NameCell
        icon={iconOfProvider(textOf(account, 'type'))}
        href={hrefOfLink(textOf(account, 'url'))}
        name={textOf(account, 'name')}
        sub={
          <>
            {textOf(account, 'type')} {account.is_simulated === true && <SimulatedBadge />}
          </>
        }
      />
    ),
  },
  statusColumn('state'),
  {
    key: 'customer',
    title: titleOf('customer'),
    class: 'cut',
    cell: (account) =>
      account.shared === true ? t('Shared') : <Value name="customer" value={account.customer} item={account} />,
  },
  {
    key: 'resources',
    title: titleOf('resources'),
    class: 'num',
    cell: (account) => resources && numberText(resources.get(pathOf(textOf(account, 'url'))) ?? 0),
  },
  {
    key: 'last_sync',
    title: titleOf('last_sync'),
    class: 'muted gone when-wide',
    cell: (account) => <SyncTime state={textOf(account, 'state')} uuid={textOf(account, 'uuid')} />,
  },
];

/** Counts the visible resources by account path. Undefined until loaded, or if there are too many. */
function useResourceCounts(): ReadonlyMap<string, number> | undefined {
  const { value: services } = usePage('/api/services/?field=settings&field=resources_count&page_size=300');
  if (!services || services.count > services.items.length) return undefined;
  const counts = new Map<string, number>();
  for (const service of services.items) {
    const path = pathOf(textOf(service, 'settings'));
    counts.set(path, (counts.get(path) ?? 0) + Number(service.resources_count ?? 0));
  }
  return counts;
}

/** A failed account: reason, effect, and a button to retry. */
export const FailedAccount = ({ settings }: { readonly settings: Item }): JSX.Element => (
  <Callout
    tone="bad"
    title={t('{account} is unreachable', { account: textOf(settings, 'name') })}
    action={
      (isStaff.value || (settings.shared !== true && mayAddAccounts())) && (
        <PostButton
          title={t('Refresh')}
          path={`${pathOf(textOf(settings, 'url'))}pull/`}
          about={textOf(settings, 'name')}
        />
      )
    }
  >
    <p>{serverText(textOf(settings, 'error_message'))}</p>
    <p>{t('Nothing can be created until it responds. Existing resources keep running.')}</p>
  </Callout>
);

/** The Overview of an account: resources, importable resources, usage, customers and projects. */
export function AccountOverview({ settings }: { readonly settings: Item }): JSX.Element {
  const uuid = textOf(settings, 'uuid');
  const query = { settings_uuid: uuid, page_size: 10 };
  const { value: services } = useList(() => api.GET('/api/services/', { params: { query } }), [uuid]);
  const { value: resources } = usePage(`/api/resources/?service_settings_uuid=${uuid}&page_size=5`);
  const usage = useAccountUsage(isOperator.value ? uuid : '');
  // Wait for everything: content that appears later would shift the page.
  if (!services || !resources || !usage) return <Loading />;
  // Only staff may import from shared accounts, one customer at a time.
  const [service] = settings.shared === true ? [] : services.items;
  return (
    <div class="split">
      <div class="stack">
        <ListCard
          title={t('Resources')}
          path="/resources/"
          query={`service_settings_uuid=${uuid}`}
          empty={t('No resources yet.')}
          all={t('All resources')}
          firstPage={resources}
          actions={
            canManageResources() && (
              <a class="btn sm" href={hrefOf(newResourcePath)}>
                <Icon name="create" />
                {t('Create')}
              </a>
            )
          }
        />
        {isOperator.value && <Usage uuid={uuid} page={usage} />}
        {service && <Import service={service} />}
      </div>
      <Services uuid={uuid} page={services} />
    </div>
  );
}

/** Reads the last sync time, and again when the state changes. Undefined until loaded, empty before the first sync. */
function useLastSync(state: string, uuid: string): string | undefined {
  const { reload, value: response } = useGet(
    () => api.GET('/api/service-settings/{key}/sync/', { params: { path: { key: uuid } } }),
    [uuid],
  );
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current !== state) void reload();
    seen.current = state;
  }, [state, reload]);
  return response && (response.isOk ? textOf(response.body, 'last_sync') : '');
}

interface Synchronised {
  readonly state: string;
  readonly uuid: string;
}

function SyncTime({ state, uuid }: Synchronised): JSX.Element | null {
  const last = useLastSync(state, uuid);
  if (last === undefined) return null;
  return last === '' ? <span class="none">–</span> : <Time value={last} />;
}

/** The last sync time as a fact below the name. Renders nothing before the first sync. */
export function LastSync({ state, uuid }: Synchronised): JSX.Element | null {
  const last = useLastSync(state, uuid);
  if (!last) return null;
  return (
    <span>
      {titleOf('last_sync')} <Time value={last} />
    </span>
  );
}

/** The customers of an account, each with its projects. */
function Services({ uuid, page }: { readonly uuid: string; readonly page: Page | undefined }): JSX.Element {
  return (
    <Card
      title={t('Customers and projects')}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Not used yet.') : undefined}
      more={page && page.count > 10 ? hrefOf('/services/', { settings_uuid: uuid }) : undefined}
      isFlush
    >
      <ul class="lines">
        {page?.items.map((service) => (
          <ServiceLine key={textOf(service, 'url')} service={service} />
        ))}
      </ul>
    </Card>
  );
}

/** A customer, its connected projects, and a button to connect another. */
function ServiceLine({ service }: { readonly service: Item }): JSX.Element {
  const url = textOf(service, 'url');
  const collection = collections.value.get(`${listIn(url)}-service-project-link`);
  const projects = itemsIn(service.projects);
  return (
    <li>
      <span class="words">
        <ObjectLink item={{ ...service, name: textOf(service, 'customer_name') }} />
        <span class="sub">
          <span class="row">
            {projects.length === 0
              ? t('No projects yet.')
              : projects.map((project) => <ObjectLink key={textOf(project, 'url')} item={project} />)}
          </span>
        </span>
        {collection && (
          <Creation
            collection={collection}
            initialValues={{ service: url }}
            button={t('Connect project')}
            isQuiet
            onCreated={async () => undefined}
          />
        )}
      </span>
    </li>
  );
}
