/** Any list of the API: what is looked for, the order and the page stand in the address. */
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Item, type Page, textOf } from '../api/api.ts';
import { columnsOf } from '../api/columns.ts';
import type { Collection, Filter } from '../api/document.ts';
import { choiceText } from '../api/fields.ts';
import { usePage } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { t, titleOf, told } from '../i18n/words.ts';
import { Creation } from './creation.tsx';
import { isInstant, isObjectLink, isSentence, nameOf, Time, Value } from './shown.tsx';

const pageSize = 20;

/** A list as a page of its own. `path` is that of the list below /api, such as `/customers/`. */
export function ListPage({
  path,
  title,
  collection,
  children,
}: {
  readonly path: string;
  readonly title: string;
  readonly collection: Collection | undefined;
  /** What can be done, in the place of the form that creates an object. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <>
      <header class="page">
        <h1 tabIndex={-1}>{title}</h1>
        {children ?? (collection && <Creation collection={collection} />)}
      </header>
      {collection && <Filters key={path} path={path} filters={collection.filters} />}
      <Listed path={path} orderings={collection?.orderings ?? []} />
    </>
  );
}

/** What was shown of a list last, until what is asked for now has come: a page that vanishes meanwhile lets all else jump. */
function useKept(path: string, value: Page | undefined): Page | undefined {
  const last = useRef<{ readonly path: string; readonly value: Page } | undefined>(undefined);
  if (value) last.current = { path, value };
  return last.current?.path === path ? last.current.value : undefined;
}

/** The page of the list that the address names. */
export function Listed({
  path,
  orderings,
  margin,
}: {
  readonly path: string;
  readonly orderings: readonly string[];
  readonly margin?: Margin;
}): JSX.Element {
  const { query } = place.value;
  const asked = new URLSearchParams(query);
  asked.set('page_size', String(pageSize));
  const { value } = usePage(`/api${path}?${asked}`);
  const page = useKept(path, value);
  const table = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Another page is read from its beginning on; where that is in sight nothing moves.
    if (value && table.current && table.current.getBoundingClientRect().top < 0) table.current.scrollIntoView();
  }, [value !== undefined]);
  const number = Number(query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil((page?.count ?? 0) / pageSize));
  const at = (to: number): string => {
    const parameters = new URLSearchParams(query);
    if (to === 1) parameters.delete('page');
    else parameters.set('page', String(to));
    return hrefOf(path, parameters);
  };
  if (!page) return <p aria-busy="true">{t('Loading…')}</p>;
  if (page.problem)
    return (
      <p role="alert" class="problem">
        {page.problem} <a href={hrefOf(path)}>{t('Show the whole list')}</a>
      </p>
    );
  if (page.items.length === 0)
    return (
      <p class="none">
        {[...query.keys()].length > 0 ? (
          <>
            {t('Nothing matches.')} <a href={hrefOf(path)}>{t('Show the whole list')}</a>
          </>
        ) : (
          t('There is nothing here yet.')
        )}
      </p>
    );
  return (
    <>
      <div ref={table} class="kept" aria-busy={value === undefined}>
        <Table items={page.items} path={path} orderings={orderings} {...(margin && { margin })} />
      </div>
      <nav aria-label={t('Pages')} class="pages">
        {number > 1 ? <a href={at(number - 1)}>{t('Previous')}</a> : <span class="none">{t('Previous')}</span>}
        <span>{t('Page {number} of {last}, {count} in all', { number, last, count: page.count })}</span>
        {number < last ? <a href={at(number + 1)}>{t('Next')}</a> : <span class="none">{t('Next')}</span>}
      </nav>
    </>
  );
}

/** A further column of a table, before or behind the others. */
interface Margin {
  readonly title: string;
  readonly isFirst: boolean;
  readonly cell: (item: Item) => ComponentChildren;
}

/** Objects as a table whose first column leads to their pages; by `orderings` the columns can be sorted. */
export function Table({
  items,
  path,
  orderings = [],
  margin,
}: {
  readonly items: readonly Item[];
  readonly path?: string;
  readonly orderings?: readonly string[];
  readonly margin?: Margin;
}): JSX.Element {
  const columns = columnsOf(
    items,
    path !== '/resources/' || ['category', 'resource_type'].some((name) => place.value.query.has(name)),
  );
  const heading = margin && <th scope="col">{margin.title}</th>;
  return (
    // A table that is wider than the screen is moved by itself, also by the keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="scrolled" tabIndex={0} aria-label={t('Table')}>
      <table>
        <thead>
          <tr>
            {margin?.isFirst && heading}
            {columns.map((name) => (
              <Heading key={name} name={name} path={path} isSortable={orderings.includes(name)} />
            ))}
            {margin?.isFirst === false && heading}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={textOf(item, 'url') || textOf(item, 'uuid')}>
              {margin?.isFirst && <td>{margin.cell(item)}</td>}
              {columns.map((name, index) => (
                <td key={name}>
                  {index === 0 && isObjectLink(textOf(item, 'url')) ? (
                    <a href={hrefOfLink(textOf(item, 'url'))} class={isSentence(name) ? 'wide' : undefined}>
                      {isInstant(textOf(item, name)) ? (
                        <Time value={textOf(item, name)} />
                      ) : (
                        (name === 'message' ? '' : textOf(item, name)) || nameOf(item)
                      )}
                    </a>
                  ) : (
                    <Value name={name} value={item[name]} item={item} />
                  )}
                </td>
              ))}
              {margin?.isFirst === false && <td>{margin.cell(item)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Heading({
  name,
  path,
  isSortable,
}: {
  readonly name: string;
  readonly path: string | undefined;
  readonly isSortable: boolean;
}): JSX.Element {
  const title = titleOf(name);
  if (!isSortable || path === undefined) return <th scope="col">{title}</th>;
  const order = place.value.query.get('o');
  const parameters = new URLSearchParams(place.value.query);
  parameters.set('o', order === name ? `-${name}` : name);
  parameters.delete('page');
  const direction = order === name ? 'ascending' : order === `-${name}` ? 'descending' : 'none';
  return (
    <th scope="col" aria-sort={direction}>
      <a href={hrefOf(path, parameters)}>
        {title}
        <span aria-hidden="true">{{ ascending: ' ↑', descending: ' ↓', none: '' }[direction]}</span>
      </a>
    </th>
  );
}

/** Filters that people look for by, of which the first that a list has stands above it. */
const searches = ['search', 'name', 'full_name', 'username', 'message', 'email', 'summary', 'key'];

const isTechnical = ({ isLink, name }: Filter): boolean =>
  isLink || /(^|_)(uuid|url|exact|abbreviation)$|native_name|^exclude_|^rtag$/.test(name);

/** What a list can be searched and filtered by; what is filled in goes into the address. */
export function Filters({
  path,
  filters,
  elsewhere = [],
}: {
  readonly path: string;
  readonly filters: readonly Filter[];
  /** Names of those that are chosen by other means on the page. */
  readonly elsewhere?: readonly string[];
}): JSX.Element | null {
  const { query } = place.value;
  const main = searches.map((name) => filters.find((filter) => filter.name === name)).find(Boolean);
  // What only programs filter by is shown where it is in use.
  const others = filters.filter((filter) => filter !== main && (!isTechnical(filter) || query.has(filter.name)));
  const given = others.filter(({ name }) => query.has(name) && !elsewhere.includes(name));
  const [isOpen, setOpen] = useState(given.length > 0);
  if (filters.length === 0) return null;
  const searchedBy =
    main?.name === 'search'
      ? t('Search the texts')
      : t('Search by {field}', { field: titleOf(main?.name ?? '').toLowerCase() });
  return (
    <search>
      <form
        key={query.toString()}
        onSubmit={(event) => {
          event.preventDefault();
          const filled = [...new FormData(event.currentTarget)].flatMap(([name, value]): [string, string][] =>
            typeof value === 'string' && value !== '' ? [[name, value]] : [],
          );
          const order = query.get('o');
          go(path, new URLSearchParams(order === null ? filled : [...filled, ['o', order]]));
        }}
      >
        <div class="find">
          {main && (
            <input
              type="search"
              name={main.name}
              aria-label={searchedBy}
              placeholder={searchedBy}
              defaultValue={query.get(main.name) ?? ''}
            />
          )}
          <button type="submit" class="outline">
            {t('Search')}
          </button>
          {others.length > 0 && (
            <button type="button" class="outline secondary" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {given.length > 0 ? t('Filters ({count})', { count: given.length }) : t('Filters')}
            </button>
          )}
          {[...query.keys()].length > 0 && <a href={hrefOf(path)}>{t('Clear')}</a>}
        </div>
        <div class="filters" hidden={!isOpen}>
          {others.map((filter) => (
            <FilterField key={filter.name} filter={filter} given={query.get(filter.name) ?? ''} />
          ))}
        </div>
      </form>
    </search>
  );
}

function FilterField({ filter, given }: { readonly filter: Filter; readonly given: string }): JSX.Element {
  const { choices, help, name, type } = filter;
  const id = useId();
  const offered = type === 'boolean' ? ['true', 'false'] : choices;
  return (
    <div title={told(help)}>
      <label for={id}>{titleOf(name)}</label>
      {offered.length > 0 ? (
        <select id={id} name={name} defaultValue={given}>
          <option value="">{t('Any')}</option>
          {offered.map((choice) => (
            <option key={choice} value={choice} selected={choice === given}>
              {type === 'boolean' ? { true: t('Yes'), false: t('No') }[choice] : choiceText(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input id={id} name={name} defaultValue={given} inputMode={type === 'number' ? 'numeric' : undefined} />
      )}
    </div>
  );
}
