/** The page of any object: an overview, then every field and the JSON under Details. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Item, listIn, type Page, placeName, problemOf, textOf, uuidIn } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { useFailedActions } from '../api/failures.ts';
import { refresh, useObject, usePage, usePolling } from '../api/reading.ts';
import { noteRecent } from '../api/recents.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { followObject } from '../api/scope.ts';
import { type CanPerform, useActions } from '../components/actions.tsx';
import { Callout, Card, ErrorCallout, FieldFacts, isEmptyValue, Loading } from '../components/card.tsx';
import { CopyButton, Source } from '../components/copy.tsx';
import { Icon } from '../components/icons.tsx';
import { Choices, type Crumb, PageHeader, type Tab, Tabs } from '../components/page.tsx';
import { isSecret } from '../components/secret.tsx';
import { SimulatedBadge, StatusBadge } from '../components/status.tsx';
import { Details, isObjectLink, nameOf, Time } from '../components/values.tsx';
import { iconOfList, iconOfProvider, kindOfType } from '../format/kinds.ts';
import { isTransient } from '../format/status.ts';
import { fieldLabel, groups } from '../i18n/labels.ts';
import { serverText, t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';
import { History, mayReadTrail } from './audit.tsx';
import { Activity } from './events.tsx';

/** Content of an object's page at a value of `tab` in the address. */
interface Part {
  readonly name: string;
  readonly title: string;
  /** Default: always. */
  readonly isShown?: (item: Item) => boolean;
  readonly content: (item: Item, reload: () => Promise<void>) => ComponentChildren;
}

/** A tab between Overview and Details. */
export interface ObjectTab extends Part {
  readonly count?: (item: Item) => number | undefined;
  /** Further parts with their own addresses. A switch above the content leads to them. */
  readonly parts?: readonly Part[];
  /** The title of the tab's own content in the switch. */
  readonly partTitle?: string;
  /** Links after the tab. */
  readonly linksAfter?: (item: Item) => readonly Tab[];
}

/** Customises the page of a kind of object. */
export interface ObjectRecipe {
  /** Content of the Overview tab. Default: the fields with the placement `shown`. */
  readonly overview?:
    | ((item: Item, reload: () => Promise<void>, listed: Page | undefined) => ComponentChildren)
    | undefined;
  /** The API path of a list that the overview shows, whose count its tab has. */
  readonly overviewList?: (item: Item) => string;
  /** Facts below the title. Default: type, account and age. */
  readonly facts?: ((item: Item) => ComponentChildren) | undefined;
  /** Buttons before the action buttons. */
  readonly buttons?: ((item: Item) => ComponentChildren) | undefined;
  readonly tabs?: readonly ObjectTab[];
  /** A problem with its fix, above the content. */
  readonly problem?: ((item: Item, can: CanPerform) => ComponentChildren) | undefined;
  readonly badge?: ((item: Item) => ComponentChildren) | undefined;
  /** Links before and after the tabs. Default: links to the nested lists. */
  readonly firstLinks?: ((item: Item) => readonly Tab[]) | undefined;
  readonly links?: ((item: Item) => readonly Tab[]) | undefined;
  /** Overrides of action titles. */
  readonly actionTitles?: (() => Readonly<Record<string, string>>) | undefined;
  /** The list in the breadcrumbs, if it differs from the object's list. */
  readonly list?: string;
  /** Title of the first tab. Default: Overview. */
  readonly overviewTitle?: () => string;
  /** Title of the tab with every field. Default: Details. */
  readonly detailsTitle?: () => string;
}

/** The page of an object. `path` is below /api. */
export function ObjectPage({
  path,
  collection,
  recipe = {},
}: {
  readonly path: string;
  readonly collection: Collection;
  readonly recipe?: ObjectRecipe;
}): JSX.Element {
  const { value: response, reload } = useObject(`/api${path}`);
  const item = response?.isOk ? response.body : undefined;
  const state = item ? textOf(item, 'state') : '';
  usePolling(reload, isTransient(state));
  const before = useRef('');
  useEffect(() => {
    // Reload lists on this page that may show the changed state.
    if (before.current !== '' && state !== '') refresh();
    before.current = state;
  }, [state]);
  if (!response) return <Loading />;
  if (!item)
    return (
      <>
        <PageHeader crumbs={[[hrefOf(`/${collection.name}/`), collection.title]]} title={t('Not found')} />
        <ErrorCallout text={problemOf(response.body)} />
      </>
    );
  return (
    <ObjectView
      path={path}
      collection={collection}
      recipe={recipe}
      item={item}
      etag={response.headers.get('ETag')}
      reload={reload}
    />
  );
}

function ObjectView({
  path,
  collection,
  recipe,
  item,
  etag,
  reload,
}: {
  readonly path: string;
  readonly collection: Collection;
  readonly recipe: ObjectRecipe;
  readonly item: Item;
  readonly etag: string | null;
  readonly reload: () => Promise<void>;
}): JSX.Element {
  const ownButtons = recipe.buttons?.(item);
  const { buttons, can, dialog, isLoaded, menu } = useActions(
    { path, item, etag, collection, reload, titles: recipe.actionTitles?.() },
    ownButtons ? 0 : 2,
  );
  const icon = iconOf(collection, item);
  const name = nameOf(item);
  const [failed] = useFailedActions([item]);
  const { value: listed } = usePage(recipe.overviewList?.(item) ?? '');
  useEffect(() => {
    followObject(collection.name, item);
    const owner = placeName(item);
    noteRecent({ path, title: name, kind: owner || collection.title, icon });
  }, [path, name]);
  const current = place.value.query.get('tab') ?? '';
  const { parts, tab, tabs } = tabsOf(path, collection, recipe, item, current, listed?.count);
  return (
    <>
      <PageHeader
        crumbs={crumbsOf(item, collection, recipe.list)}
        icon={icon}
        title={name}
        badge={
          <>
            {recipe.badge?.(item) ?? (textOf(item, 'state') !== '' && <StatusBadge item={failed ?? item} />)}
            {item.is_simulated === true && <SimulatedBadge />}
          </>
        }
        facts={recipe.facts?.(item) ?? <GenericFacts item={item} />}
        actions={
          <>
            {ownButtons}
            {isLoaded ? buttons : canManageResources() && <span class="btn icon-only hollow" aria-hidden="true" />}
          </>
        }
        menu={menu}
      />
      <Tabs tabs={tabs} />
      {recipe.problem?.(failed ?? item, can) ??
        (textOf(item, 'error_message') !== '' && (
          <Callout tone="bad" title={titleOf('error_message')}>
            {serverText(textOf(item, 'error_message'))}
          </Callout>
        ))}
      {current === 'details' ? (
        <div class="stack">
          <AllDetails item={item} />
          <Raw item={item} path={path} />
        </div>
      ) : tab ? (
        <TabContent path={path} tab={tab} parts={parts} item={item} reload={reload} />
      ) : (
        (recipe.overview?.(item, reload, listed) ?? <GenericOverview item={item} />)
      )}
      {dialog}
    </>
  );
}

function iconOf(collection: Collection, item: Item): string {
  if (collection.name === 'service-settings') return iconOfProvider(textOf(item, 'type'));
  const type = textOf(item, 'resource_type');
  return type === '' ? iconOfList(collection.name) : kindOfType(type).icon;
}

/** Returns the tabs of an object, and the tab named `current` with its parts, unless that is the overview or the details. */
function tabsOf(
  path: string,
  collection: Collection,
  recipe: ObjectRecipe,
  item: Item,
  current: string,
  overviewCount: number | undefined,
): { readonly tabs: readonly Tab[]; readonly tab: ObjectTab | undefined; readonly parts: readonly Part[] } {
  const isAvailable = ({ isShown }: Part): boolean => isShown?.(item) ?? true;
  const own = (recipe.tabs ?? []).filter(isAvailable);
  const partsOf = (one: ObjectTab): readonly Part[] => (one.parts ?? []).filter(isAvailable);
  const hasHistory = !own.some(({ parts }) => parts?.includes(historyPart)) && isAvailable(historyPart);
  const history = hasHistory ? [historyPart] : [];
  const tab = [...own, ...history].find((one) => [one, ...partsOf(one)].some(({ name }) => name === current));
  const linksOf = (one: ObjectTab): readonly Tab[] => [
    { href: hrefOf(path, { tab: one.name }), title: one.title, count: one.count?.(item), isCurrent: one === tab },
    ...(one.linksAfter?.(item) ?? []),
  ];
  const lists = collection.lists.map((list) => ({
    href: hrefOf(`${path}${list}/`),
    title: listTitles()[list] ?? titleOf(list),
    isCurrent: false,
  }));
  const overview = {
    href: hrefOf(path),
    title: recipe.overviewTitle?.() ?? t('Overview'),
    count: overviewCount,
    isCurrent: !tab && current !== 'details',
  };
  const details = {
    href: hrefOf(path, { tab: 'details' }),
    title: recipe.detailsTitle?.() ?? t('Details'),
    isCurrent: current === 'details',
  };
  const tabs = [
    overview,
    ...(recipe.firstLinks?.(item) ?? []),
    ...own.flatMap(linksOf),
    ...(recipe.links?.(item) ?? lists),
    ...history.flatMap(linksOf),
    details,
  ];
  return { tabs, tab, parts: tab ? partsOf(tab) : [] };
}

/** The content of a tab, with a switch between its parts if it has several. */
function TabContent({
  path,
  tab,
  parts,
  item,
  reload,
}: {
  readonly path: string;
  readonly tab: ObjectTab;
  readonly parts: readonly Part[];
  readonly item: Item;
  readonly reload: () => Promise<void>;
}): JSX.Element {
  const tabName = place.value.query.get('tab');
  const part = parts.find(({ name }) => name === tabName) ?? tab;
  const choiceOf = (one: Part, title: string): Tab => ({
    href: hrefOf(path, { tab: one.name }),
    title,
    isCurrent: one === part,
  });
  return (
    <div class="stack">
      {parts.length > 0 && (
        <Choices
          label={tab.title}
          tabs={[choiceOf(tab, tab.partTitle ?? tab.title), ...parts.map((one) => choiceOf(one, one.title))]}
        />
      )}
      {part.content(item, reload)}
    </div>
  );
}

/** The audit records of an object, for staff and owners of its customer. */
const historyPart: Part = {
  name: 'history',
  // A getter, because the language may change.
  get title() {
    return t('History');
  },
  isShown: (item) =>
    textOf(item, 'uuid') !== '' &&
    mayReadTrail(
      listIn(textOf(item, 'url')) === 'customers'
        ? textOf(item, 'uuid')
        : textOf(item, 'customer_uuid') || uuidIn(textOf(item, 'customer')),
    ),
  content: (item) => <History uuid={textOf(item, 'uuid')} />,
};

/** The events of a customer, project or resource, and its audit records. */
export const activityTab: ObjectTab = {
  name: 'activity',
  get title() {
    return t('Activity');
  },
  get partTitle() {
    return t('Events');
  },
  content: (item) => {
    // Entries do not repeat the customer or project of the page.
    const within = { ...item, [`${listIn(textOf(item, 'url')).replace(/s$/, '')}_name`]: nameOf(item) };
    return <Activity item={item} within={within} title={t('Events')} size={20} />;
  },
  parts: [historyPart],
};

/** Titles of nested lists that share their name with a field. */
const listTitles = (): Readonly<Record<string, string>> => ({ usage: t('Usage by customer'), users: t('Team') });

/** Returns the customer, project and list of an object as breadcrumbs. */
function crumbsOf(item: Item, collection: Collection, list: string | undefined): readonly Crumb[] {
  const [customer, project] = ['customer', 'project'].map((name): Crumb | undefined => {
    const link = textOf(item, name);
    const title = textOf(item, `${name}_name`);
    return isObjectLink(link) && title !== '' ? [hrefOfLink(link), title] : undefined;
  });
  return [
    ...(customer && collection.name !== 'customers' ? [customer] : []),
    ...(project && collection.name !== 'projects' ? [project] : []),
    list === undefined ? [hrefOf(`/${collection.name}/`), collection.title] : [hrefOf(`/${list}/`), titleOf(list)],
  ];
}

/** Type, provider account and creation time. */
function GenericFacts({ item }: { readonly item: Item }): JSX.Element {
  const type = textOf(item, 'resource_type');
  return (
    <>
      {type !== '' && <span>{t(kindOfType(type).word)}</span>}
      <AccountFact item={item} />
      {textOf(item, 'created') !== '' && (
        <span>
          {titleOf('created')} <Time value={textOf(item, 'created')} />
        </span>
      )}
    </>
  );
}

/** The provider account of an object, if it has one, as a fact below the title. */
export function AccountFact({ item }: { readonly item: Item }): JSX.Element | null {
  const settings = textOf(item, 'service_settings');
  const name = textOf(item, 'service_name');
  if (name === '') return null;
  return (
    <span>
      <Icon name="service-settings" size="sm" />
      {isObjectLink(settings) ? <a href={hrefOfLink(settings)}>{name}</a> : name}
    </span>
  );
}

/** Members that the header already shows. */
const inHeader = new Set(['name', 'state', 'runtime_state', 'error_message', 'is_simulated', 'resource_type']);

/** The Overview of an object without a recipe. */
function GenericOverview({ item }: { readonly item: Item }): JSX.Element {
  const names = Object.keys(item).filter((name) => {
    const label = fieldLabel(name);
    return (
      !inHeader.has(name) &&
      !isEmptyValue(item[name]) &&
      (label ? label.placement === 'shown' : !Array.isArray(item[name]))
    );
  });
  return (
    <Card title={t('Overview')} empty={names.length === 0 ? t('Nothing more to show.') : undefined}>
      <FieldFacts item={item} names={names} />
    </Card>
  );
}

/** Every field, in sections, except those that repeat others and are only in the JSON. Unknown fields come last. */
function AllDetails({ item }: { readonly item: Item }): JSX.Element {
  const groupOf = (name: string): string => fieldLabel(name)?.group ?? t('Other');
  const isRepeated = (name: string): boolean =>
    fieldLabel(name)?.placement === 'raw' || name === 'quotas' || (name === 'runtime_state' && 'state' in item);
  const sections = [...groups, t('Other')]
    .map((group) => ({
      group,
      names: Object.keys(item).filter((name) => groupOf(name) === group && !isRepeated(name)),
    }))
    .filter(({ names }) => names.length > 0);
  return (
    <div class="halves">
      {sections.map(({ group, names }) => (
        <Card key={group} title={t(group)}>
          <Details item={item} names={names} />
        </Card>
      ))}
    </div>
  );
}

/** The API response, with masked secrets. */
function Raw({ item, path }: { readonly item: Item; readonly path: string }): JSX.Element {
  const masked = (name: string, value: unknown): unknown => (isSecret(name, value) ? '********' : value);
  const text = JSON.stringify(item, masked, 2);
  return (
    <Card
      title={t('Raw')}
      note={t('API response with {count} fields', { count: Object.keys(item).length })}
      actions={
        <>
          <CopyButton text={text} what={t('JSON')} />
          <a class="btn sm" href={hrefOf('/all/', { path: `/api${path}` })}>
            <Icon name="all" />
            {t('Open in explorer')}
          </a>
        </>
      }
    >
      <Source isTall text={text} />
    </Card>
  );
}
