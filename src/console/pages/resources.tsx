/** Resources of every kind: one list with bulk actions, and forms to create each kind. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useFailedActions } from '../api/failures.ts';
import { refresh, useGet, usePage, useRequest } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scopedQuery } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Button } from '../components/button.tsx';
import { Callout, Card, FieldFacts, Loading } from '../components/card.tsx';
import { Code } from '../components/copy.tsx';
import { CreationForm, type Description, mayEver } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { ListPage } from '../components/list.tsx';
import { Listing } from '../components/listing.tsx';
import { PageHeader, Tabs } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { ChoiceBar } from '../components/table.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { iconOfList, kindOfList } from '../format/kinds.ts';
import { statusOf } from '../format/status.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { actionTitle, plural, serverText, t, titleOf } from '../i18n/words.ts';
import { works } from './attention.tsx';
import { EventTimeline } from './events.tsx';
import { addressOf } from './machine.tsx';
import { GenericFacts } from './object.tsx';
import { SimulatorCard } from './simulator.tsx';
import { Measurements } from './statistics.tsx';

/** The address of the forms that create resources. */
export const maker = '/new-resource/';

/** The most used views, as filters of the list. */
const views = (): readonly (readonly [title: string, query: Readonly<Record<string, string>>])[] => [
  [t('All'), {}],
  [t('Virtual machines'), { category: 'vms' }],
  [t('Private clouds'), { category: 'private_clouds' }],
  [t('Volumes and snapshots'), { category: 'storages' }],
  [t('Applications'), { category: 'apps' }],
  [t('Failed'), { state: 'Erred' }],
];

export function ResourcesPage(): JSX.Element {
  const path = '/resources/';
  const { query } = place.value;
  const collection = collections.value.get('resources');
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const canWork = works();
  const counts = useCounts();
  const isHere = (wanted: Readonly<Record<string, string>>): boolean =>
    ['category', 'state'].every((name) => (query.get(name) ?? '') === (wanted[name] ?? ''));
  const select = (items: readonly Item[], isSelected: boolean): void => {
    const next = new Map(selected);
    for (const item of items)
      if (isSelected) next.set(textOf(item, 'url'), item);
      else next.delete(textOf(item, 'url'));
    setSelected(next);
  };
  return (
    <ListPage
      path={path}
      title={titleOf('resources')}
      count={counts.get('')}
      collection={collection}
      actions={
        canWork && (
          <a class="btn primary" href={hrefOf(maker)}>
            <Icon name="create" />
            {t('Create')}
          </a>
        )
      }
      tabs={
        <Tabs
          label={t('Views')}
          tabs={views().map(([title, wanted]) => ({
            href: hrefOf(path, wanted),
            title,
            count: counts.get(Object.values(wanted).join()),
            isCurrent: isHere(wanted),
          }))}
        />
      }
      hiddenFilters={['category']}
      rowActions={canWork ? rowActions : undefined}
      {...(canWork && {
        selection: { selected, select },
        above: selected.size > 0 && <BulkActions selected={selected} onDone={() => setSelected(new Map())} />,
      })}
    />
  );
}

/** The number of resources in each view, by the value of its filter. */
function useCounts(): ReadonlyMap<string, number> {
  const reads = views().map(
    ([, wanted]) =>
      [
        Object.values(wanted).join(),
        // Their number and order are fixed.
        usePage(`/api/resources/?${scopedQuery('resources', { ...wanted, page_size: '1', field: 'uuid' })}`).value,
      ] as const,
  );
  return new Map(reads.flatMap(([key, page]) => (page && !page.problem ? [[key, page.count]] : [])));
}

/** The actions of a resource in the list, by the collection of its type. */
function rowActions(item: Item): JSX.Element | undefined {
  const path = pathOf(textOf(item, 'url')).replace('/api/', '/');
  const collection = collections.value.get(path.split('/')[1] ?? '');
  return collection && <RowActions path={path} item={item} etag={null} collection={collection} reload={reloadLists} />;
}

const reloadLists = async (): Promise<void> => refresh();

const bulkActions = ['start', 'stop', 'restart', 'pull'];

/** Starts, stops, restarts or refreshes every selected resource, and reports those that were rejected. */
function BulkActions({
  selected,
  onDone,
}: {
  readonly selected: ReadonlyMap<string, Item>;
  readonly onDone: () => void;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);

  async function act(name: string): Promise<void> {
    setBusy(true);
    const rejected: string[] = [];
    const title = actionTitle(name);
    let id = notify(title, { tone: 'busy' });
    let done = 0;
    // One after the other, so that each result belongs to its resource.
    for (const [url, item] of selected) {
      const { body, isOk, status } = await request<unknown>('POST', `${pathOf(url)}${name}/`);
      const message = isItem(body) ? problemOf(body) : '';
      if (!isOk) rejected.push(`${nameOf(item)}: ${status === 404 ? t('It does not support this action.') : message}`);
      done += 1;
      id = notify(title, {
        tone: 'busy',
        replaces: id,
        detail: t('{done} of {count} done', { done, count: selected.size }),
      });
    }
    setBusy(false);
    const begun = selected.size - rejected.length;
    notify(`${title}: ${plural(begun, '{count} started.', '{count} started.')}`, {
      tone: rejected.length > 0 ? 'bad' : 'good',
      replaces: id,
      detail: rejected.join(' '),
    });
    onDone();
    refresh();
  }

  return (
    <ChoiceBar count={selected.size} label={t('Selected resources')} onClear={onDone}>
      {bulkActions.map((name) => (
        <Button key={name} icon={name} small isBusy={isBusy} onClick={() => void act(name)}>
          {actionTitle(name)}
        </Button>
      ))}
    </ChoiceBar>
  );
}

/** The kinds of resources by type, then the form of one: `/new-resource/<list>/`. */
export function MakerPage({ list }: { readonly list: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/service-metadata/'));
  const collection = collections.value.get(list);
  const types = response?.isOk ? Object.entries(response.body) : [];
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf('/resources/'), titleOf('resources')],
          ...(collection ? [[hrefOf(maker, place.value.query), t('Create a resource')] as const] : []),
        ]}
        title={collection ? t('New {title}', { title: wordOfList(list) }) : t('Create a resource')}
      />
      {!response && <Loading />}
      {collection ? (
        <ResourceForm key={list} list={list} />
      ) : (
        <div class="stack">
          {types.map(([type, { resources }]) => (
            <Card key={type} title={type}>
              <ul class="options two">
                {Object.values(isItem(resources) ? resources : {})
                  .map((link) => pathOf(String(link)).split('/')[2] ?? '')
                  .filter((name) => mayBeMade(name))
                  .map((name) => (
                    <li key={name}>
                      <a class="option" href={hrefOf(`${maker}${name}/`, place.value.query)}>
                        <Icon name={iconOfList(name)} />
                        <b>{titleOf(name)}</b>
                      </a>
                    </li>
                  ))}
              </ul>
            </Card>
          ))}
        </div>
      )}
    </>
  );
}

function mayBeMade(name: string): boolean {
  const collection = collections.value.get(name);
  return collection?.isCreatedHere === true && mayEver(collection.creators);
}

function ResourceForm({ list }: { readonly list: string }): JSX.Element | null {
  const { value: response } = useRequest<Description>('OPTIONS', `/api/${list}/`);
  const collection = collections.value.get(list);
  if (!response || !collection) return <Loading />;
  const post = response.isOk ? response.body.actions?.POST : undefined;
  if (!post) return <Callout tone="warn">{t('You cannot create this type of resource.')}</Callout>;
  return (
    <CreationForm
      collection={collection}
      post={post}
      given={Object.fromEntries(place.value.query)}
      button={t('Create {title}', { title: wordOfList(list) })}
      sectionOf={({ name }) => (sections().find(([, names]) => names.has(name)) ?? sections()[0])[0]}
      onCancel={() => go(hrefOf(maker, place.value.query).slice(1))}
      onMade={async (made) => go(hrefOfLink(textOf(made, 'url')).slice(1))}
    />
  );
}

/** The cards of the form of a new resource, with their fields; others stand in the first. */
const sections = (): readonly [first: Section, ...others: Section[]] => [
  [t('General'), new Set(['name', 'service_project_link', 'tenant', 'region', 'zone'])],
  [t('Size'), new Set(['flavor', 'size', 'cores', 'ram', 'disk'])],
  [t('Image'), new Set(['image', 'template'])],
  [t('Storage'), new Set(['system_volume_size', 'data_volume_size', 'volume_size', 'disk_size'])],
  [
    t('Network and access'),
    new Set(['ssh_public_key', 'internal_ips_set', 'security_groups', 'floating_ips', 'subnet_cidr']),
  ],
];
type Section = readonly [title: string, names: ReadonlySet<string>];

/** What one resource of a list is called. */
const wordOfList = (list: string): string => {
  const word = kindOfList(list)?.word;
  return word === undefined ? titleOf(list) : t(word);
};

/** Below the title of a resource: type, account, address and age. */
export function ResourceFacts({ resource }: { readonly resource: Item }): JSX.Element {
  const address = addressOf(resource);
  return (
    <>
      <GenericFacts item={resource} />
      {address !== '' && <Code text={address} what={titleOf('ip_address')} />}
    </>
  );
}

/** Fields of a resource that fill in the form of another. */
const repeatedFields = ['name', 'description', 'service_project_link', 'tenant', 'user_data'];

/** Why a resource failed, with the next step: to create it again, or to read its present state. */
export function FailedResource({ resource }: { readonly resource: Item }): JSX.Element {
  const [failed = resource] = useFailedActions([resource]);
  const path = pathOf(textOf(resource, 'url'));
  const list = path.split('/')[2] ?? '';
  const exists = textOf(resource, 'backend_id') !== '';
  const query = new URLSearchParams(
    repeatedFields.flatMap((name) => (textOf(resource, name) === '' ? [] : [[name, textOf(resource, name)]])),
  );
  return (
    <Callout
      tone="bad"
      title={t(statusOf(failed).word)}
      action={
        exists
          ? works() && <PostButton title={t('Refresh')} path={`${path}pull/`} about={nameOf(resource)} />
          : mayBeMade(list) && (
              <a class="btn sm" href={hrefOf(`${maker}${list}/`, query)}>
                {t('Create again')}
              </a>
            )
      }
    >
      <p>{serverText(textOf(resource, 'error_message'))}</p>
      <p>
        {exists
          ? t('A refresh reads the present state from the provider.')
          : t('It does not exist at the provider, but counts against the quotas until it is destroyed.')}
      </p>
    </Callout>
  );
}

/** The Overview of a resource: configuration, measurements, activity. */
export function ResourceOverview({ resource }: { readonly resource: Item }): JSX.Element {
  const names = Object.keys(resource).filter((name) => fieldLabel(name)?.placement === 'shown' && !isInHeader(name));
  return (
    <div class="split">
      <div class="stack">
        <Card title={t('Configuration')}>
          <FieldFacts item={resource} names={names} />
        </Card>
        <Measurements resource={resource} />
        <Listing
          title={t('Activity')}
          path="/events/"
          query={new URLSearchParams({ scope: textOf(resource, 'url') }).toString()}
          empty={t('Nothing has happened yet.')}
          lines={(events) => <EventTimeline events={events} />}
        />
      </div>
      <div class="stack">
        <Card title={t('Identifiers')}>
          <FieldFacts item={resource} names={['uuid', 'backend_id']} />
        </Card>
        <SimulatorCard resource={resource} />
      </div>
    </div>
  );
}

/** Whether the header of the page already shows a field. */
const isInHeader = (name: string): boolean =>
  /^(name|state|runtime_state|error_message|is_simulated|resource_type|service.*|customer.*|project.*|min_ram|min_disk)$/.test(
    name,
  );
