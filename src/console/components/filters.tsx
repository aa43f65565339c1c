/** The filters of a list on one line: a search field, chips, and the rest under "More filters". */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, responseOf } from '../api/connection.ts';
import type { Filter } from '../api/document.ts';
import { useLinked, usePage, useReading } from '../api/reading.ts';
import { go, place, replace, withParameter } from '../api/route.ts';
import { chooseScope, scope } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { kindOfType } from '../format/kinds.ts';
import { statusOfWord } from '../format/status.ts';
import { choiceText, dayText, hasWords, shortId } from '../format/text.ts';
import { numberText, serverText, t, titleOf } from '../i18n/words.ts';
import { type Item, ownValue, textOf, uuidIn } from '../item.ts';
import { Chooser, useLatest, useSearch } from './chooser.tsx';
import { Icon } from './icons.tsx';
import { Menu, MenuItems } from './menu.tsx';
import { Popover } from './popover.tsx';
import { TextFilter } from './text-filter.tsx';
import { nameOf } from './values.tsx';

/** Filters for text search, by priority. */
const searchNames = ['search', 'name', 'full_name', 'username', 'message', 'email', 'summary', 'key'];

/** Filters with a chip, by priority. A list shows the first few of them. */
const facetNames = [
  'state',
  'status',
  'severity',
  'type',
  'resource_type',
  'role',
  'customer_uuid',
  'customer',
  'project_uuid',
  'project',
  'event_type',
  'level',
  'is_active',
  'opened',
  'acknowledged',
  'outbox',
  'shared',
  'tag',
  'user',
  'runtime_state',
];

const maxFacets = 4;

/** Lists of objects by the filter that accepts their uuids. */
const objectLists: Readonly<Record<string, string>> = {
  actor: 'users',
  customer: 'customers',
  customer_uuid: 'customers',
  project: 'projects',
  project_uuid: 'projects',
  user: 'users',
  user_username: 'users',
  user_uuid: 'users',
  service_settings_uuid: 'service-settings',
  settings_uuid: 'service-settings',
  tenant_uuid: 'openstack-tenants',
};

/** The filter of users by their username. */
const byUsername = 'user_username';

/** Filter values that the OpenAPI document lacks. */
const knownChoices: Readonly<Record<string, readonly string[]>> = {
  state: ['OK', 'Erred', 'Creating', 'Updating', 'Deleting'],
  category: ['vms', 'storages', 'private_clouds', 'apps'],
  feature: ['customers', 'projects', 'resources', 'ssh', 'users'],
  severity: ['Error', 'Warning', 'Info', 'Debug'],
};

/** Whether a filter is for programs. The console shows such filters only if the address sets them. */
const isTechnical = ({ isLink, name }: Filter): boolean =>
  (isLink && ownValue(objectLists, name) === undefined) ||
  (/(^|_)(url|exact|abbreviation)$|native_name|^exclude_|^rtag$|_uuid$|^resource_category$|^(from|to)$/.test(name) &&
    ownValue(objectLists, name) === undefined);

/** Returns the title of a filter. `operation` of audit records is not the page with that name. */
const filterTitle = ({ name }: Pick<Filter, 'name'>): string =>
  name === 'operation' ? t('Action') : titleOf(name === byUsername ? 'user' : name);

/** Whether a filter duplicates another one. */
const hasTwin = ({ name }: Filter, filters: readonly Filter[]): boolean =>
  filters.some(
    (other) => other.name === `${name}_uuid` || (name === 'settings_uuid' && other.name === 'service_settings_uuid'),
  ) ||
  (/^(customer|project)_name$/.test(name) && filters.length > 0);

/** The query of the first page of the list with another value of a filter; an empty value removes it. */
const withFilter = (name: string, value: string): URLSearchParams => withParameter(name, value, ['page', 'before']);

export function Filters({
  path,
  filters,
  hidden = [],
  facets = facetNames,
  count,
  total,
  scopeIsUsed = false,
  searchTitle,
  first,
}: {
  readonly path: string;
  readonly filters: readonly Filter[];
  /** Filters that the page offers in other ways, such as tabs. */
  readonly hidden?: readonly string[];
  /** Filters with chips, instead of the default ones. */
  readonly facets?: readonly string[];
  /** Number of objects that match, and total without filters. */
  readonly count?: number | undefined;
  readonly total?: number | undefined;
  /** Whether the list is limited to the current scope. */
  readonly scopeIsUsed?: boolean;
  /** The label of the search field, instead of the name of its filter. */
  readonly searchTitle?: string | undefined;
  /** An additional chip before the others. */
  readonly first?: ComponentChildren;
}): JSX.Element | null {
  const { query } = place.value;
  const [added, setAdded] = useState<string>();
  const search = searchNames
    .map((name) => filters.find((filter) => filter.name === name && !hidden.includes(name)))
    .find(Boolean);
  const others = filters.filter(
    (filter) =>
      filter !== search &&
      !hidden.includes(filter.name) &&
      (query.has(filter.name) || (!isTechnical(filter) && !hasTwin(filter, filters))),
  );
  const set = others.filter(({ name }) => query.has(name));
  const unset = others.filter(({ name }) => !query.has(name));
  const offered = facets.flatMap((name) => unset.filter((filter) => filter.name === name)).slice(0, maxFacets);
  const chips = [
    ...offered,
    ...unset.filter(({ name }) => name === added && !offered.some((one) => one.name === name)),
  ];
  const rest = unset.filter((filter) => !chips.includes(filter));
  if (filters.length === 0) return null;
  return (
    <search class="filters">
      {search && <SearchField key={path} path={path} filter={search} title={searchTitle} />}
      {scopeIsUsed && <ScopeChip />}
      {first}
      {set.map((filter) => (
        <SetChip key={filter.name} path={path} filter={filter} value={query.get(filter.name) ?? ''} />
      ))}
      {chips.map((filter) => (
        <FacetChip key={filter.name} path={path} filter={filter} isOpen={filter.name === added} />
      ))}
      {rest.length > 0 && (
        <Menu
          class="chip"
          label={t('More filters')}
          hasText
          align="start"
          items={rest.map(({ name }) => ({ title: filterTitle({ name }), onSelect: () => setAdded(name) }))}
        >
          <Icon name="filter" size="sm" />
          {t('More filters')}
        </Menu>
      )}
      {count !== undefined && total !== undefined && total !== count && (
        <span class="found" role="status">
          {t('{count} of {total}', { count: numberText(count), total: numberText(total) })}
        </span>
      )}
    </search>
  );
}

/** Searches as the user types, debounced. Enter searches at once. */
function SearchField({
  path,
  filter,
  title,
}: {
  readonly path: string;
  readonly filter: Filter;
  readonly title: string | undefined;
}): JSX.Element {
  const { name } = filter;
  const current = place.value.query.get(name) ?? '';
  const [text, setText] = useState(current);
  const sent = useRef(current);
  useEffect(() => {
    // The address was changed elsewhere, for example by the back button.
    if (current !== sent.current) setText(current);
    sent.current = current;
  }, [current]);
  const run = (wanted: string): void => {
    if (wanted === sent.current) return;
    const isFirst = sent.current === '';
    sent.current = wanted;
    const parameters = withFilter(name, wanted);
    // One search is one entry of the history, not one for each key.
    if (isFirst || wanted === '') go(path, parameters);
    else replace(path, parameters);
  };
  useEffect(() => {
    const timer = setTimeout(() => run(text.trim()), 300);
    return () => clearTimeout(timer);
  }, [text]);
  const label =
    title ??
    (name === 'search' ? t('Search the texts') : t('Search by {field}', { field: titleOf(name).toLowerCase() }));
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        type="search"
        name={name}
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') run(text.trim());
        }}
      />
    </div>
  );
}

/** The current scope as a removable chip. */
function ScopeChip(): JSX.Element | null {
  const { customer, project } = scope.value;
  const chosen = project ?? customer;
  if (!chosen) return null;
  return (
    <RemovableChip
      label={project ? titleOf('project') : titleOf('customer')}
      value={chosen.name}
      onRemove={() => chooseScope(project && customer ? { customer } : {})}
    />
  );
}

/** An active filter. */
export const RemovableChip = ({
  label,
  value,
  onRemove,
}: {
  readonly label: string;
  readonly value: string;
  readonly onRemove: () => void;
}): JSX.Element => (
  <button
    type="button"
    class="chip set"
    aria-label={t('{label}: {value}, remove', { label, value })}
    onClick={onRemove}
  >
    {label}: <b>{value}</b>
    <Icon name="dismiss" size="sm" />
  </button>
);

function SetChip({
  path,
  filter,
  value,
}: {
  readonly path: string;
  readonly filter: Filter;
  readonly value: string;
}): JSX.Element {
  const list = ownValue(objectLists, filter.name);
  const isLink = /^https?:/.test(value);
  const isKey = list && value !== '' && filter.name !== byUsername;
  const object = useLinked(isLink ? value : isKey ? `/api/${list}/${value}/` : '');
  const text = object ? nameOf(object) : isLink ? shortId(uuidIn(value)) : valueText(filter, value);
  return (
    <RemovableChip label={filterTitle(filter)} value={text} onRemove={() => go(path, withFilter(filter.name, ''))} />
  );
}

/** Returns the display text of a filter value. */
function valueText({ name, type }: Filter, value: string): string {
  if (type === 'boolean' || value === 'true' || value === '') return value === 'false' ? t('No') : t('Yes');
  if (name === 'state' || name === 'severity' || name === 'status' || name === 'level')
    return t(value === 'OK' ? 'OK' : statusOfWord(value).word);
  if (/^(from|to)$/.test(name) && /^\d+$/.test(value)) return dayText(Number(value) * 1000);
  if (name === 'resource_type') return t(kindOfType(value).word);
  if (/^(category|feature|outcome)$/.test(name)) return titleOf(value);
  return /^[0-9a-f]{32}$/.test(value) ? shortId(value) : choiceText(value);
}

/** An inactive filter. Clicking it opens its values. */
function FacetChip({
  path,
  filter,
  isOpen: isOpenAtFirst,
}: {
  readonly path: string;
  readonly filter: Filter;
  readonly isOpen: boolean;
}): JSX.Element {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const button = useRef<HTMLButtonElement>(null);
  const choices = useChoices(filter, isOpen);
  const list = ownValue(objectLists, filter.name);
  const close = (): void => setOpen(false);
  const choose = (value: string): void => {
    close();
    go(path, withFilter(filter.name, value));
  };
  const title = filterTitle(filter);
  const isMenu = choices.length > 0;
  return (
    <>
      <button
        ref={button}
        type="button"
        class="chip"
        aria-haspopup={isMenu ? 'menu' : list ? 'listbox' : 'true'}
        aria-expanded={isOpen}
        title={serverText(filter.help)}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="create" size="sm" />
        {title}
      </button>
      {isOpen && (
        <Popover anchor={() => button.current} class={list ? 'wide' : ''} onClose={close}>
          {isMenu ? (
            <MenuItems
              label={title}
              items={choices.map((value) => ({
                title: valueText(filter, value),
                isChecked: false,
                onSelect: () => choose(value),
              }))}
              onClose={close}
            />
          ) : list ? (
            <ObjectChooser
              list={list}
              label={t('Search: {title}', { title })}
              onChoose={(uuid, item) => choose(filter.name === byUsername ? textOf(item, 'username') : uuid)}
            />
          ) : (
            <TextFilter label={title} filter={filter} onChoose={choose} />
          )}
        </Popover>
      )}
    </>
  );
}

/** Returns the choices of a filter; empty if it accepts an object or text. */
function useChoices({ choices, name, type }: Filter, isWanted: boolean): readonly string[] {
  const isProvider = name === 'resource_type' && choices.length === 0;
  const { value: metadata } = useReading(isProvider && isWanted ? 'resource types' : 'none', async () =>
    isProvider && isWanted ? responseOf(api.GET('/api/service-metadata/')) : undefined,
  );
  if (type === 'boolean') return ['true', 'false'];
  if (choices.length > 0) return choices;
  if (isProvider)
    return metadata?.isOk
      ? Object.entries(metadata.body).flatMap(([provider, { resources }]) =>
          Object.keys(resources as Item).map((resource) => `${provider}.${resource}`),
        )
      : ['OpenStack.Instance', 'OpenStack.Volume', 'DigitalOcean.Droplet', 'Amazon.Instance'];
  return ownValue(knownChoices, name) ?? [];
}

/** Chooses an object by name. The value is its uuid. */
function ObjectChooser({
  list,
  label,
  onChoose,
}: {
  readonly list: string;
  readonly label: string;
  readonly onChoose: (uuid: string, item: Item) => void;
}): JSX.Element {
  const [text, settled, setText] = useSearch();
  const filters = collections.value.get(list)?.filters ?? [];
  const name = ['name', 'full_name'].find((one) => filters.some((filter) => filter.name === one)) ?? 'name';
  const query = new URLSearchParams({ page_size: '20', ...(settled !== '' && { [name]: settled }) });
  const page = useLatest(usePage(`/api/${list}/?${query}`).value);
  // Filter the current choices until the server has searched.
  const items = (page?.items ?? []).filter((item) => hasWords(nameOf(item), text));
  return (
    <Chooser
      label={label}
      text={text}
      onText={setText}
      isLoading={page === undefined}
      choices={items.map((item) => ({
        key: textOf(item, 'uuid'),
        content: (
          <span>
            {nameOf(item)}
            {textOf(item, 'customer_name') !== '' && <span class="sub">{textOf(item, 'customer_name')}</span>}
          </span>
        ),
      }))}
      onChoose={(uuid) => {
        const item = page?.items.find((one) => textOf(one, 'uuid') === uuid);
        if (item) onChoose(uuid, item);
      }}
    />
  );
}
