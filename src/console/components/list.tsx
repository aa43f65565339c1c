/** Generic lists. The address has the filters, the order and the page number. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../api/api.ts';
import type { Collection, Filter } from '../api/document.ts';
import { useFailedActions } from '../api/failures.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, place, withParameter } from '../api/route.ts';
import { scope, scopeNames, scopeParameters } from '../api/scope.ts';
import { iconOfList } from '../format/kinds.ts';
import { numberText, t } from '../i18n/words.ts';
import type { Item } from '../item.ts';
import { Callout, Empty, Loading, NoItems } from './card.tsx';
import { ColumnMenu, useVisibleColumns } from './column-menu.tsx';
import { genericColumns } from './columns.tsx';
import { Creation } from './creation.tsx';
import { Filters } from './filters.tsx';
import { hasIcon } from './icons.tsx';
import { type Crumb, PageHeader } from './page.tsx';
import { type Column, type Selection, Table } from './table.tsx';

/** The number of objects on a page. */
export const pageSize = 20;

/** A page with a list: header, tabs, filters, table. `path` is the path of the list below /api, such as `/customers/`. */
export function ListPage({
  path,
  title,
  count,
  crumbs,
  collection,
  actions,
  tabs,
  ...list
}: {
  readonly title: string;
  /** The total number of objects, beside the title. */
  readonly count?: number | undefined;
  readonly crumbs?: readonly Crumb[];
  /** Header buttons, instead of the one that creates an object. */
  readonly actions?: ComponentChildren;
  readonly tabs?: ComponentChildren;
} & ListProperties): JSX.Element {
  return (
    <>
      <PageHeader
        {...(crumbs && { crumbs })}
        title={title}
        count={count}
        actions={
          <>
            <ColumnMenu path={path} />
            {actions ?? (collection && <Creation collection={collection} isPrimary />)}
          </>
        }
      />
      {tabs}
      <List path={path} collection={collection} {...list} />
    </>
  );
}

interface ListProperties {
  readonly path: string;
  readonly collection: Collection | undefined;
  /** The columns, instead of the generic ones. */
  readonly columns?: ((items: readonly Item[]) => readonly Column[]) | undefined;
  /** Content at the end of each row, such as `RowActions`. */
  readonly rowActions?: ((item: Item) => ComponentChildren) | undefined;
  readonly selection?: Selection | undefined;
  /** Content above the table in its card, such as a `ChoiceBar`. */
  readonly above?: ComponentChildren;
  /** Filters that the page offers in other ways, such as tabs. */
  readonly hiddenFilters?: readonly string[];
  readonly facets?: readonly string[];
  /** Content of an empty list. */
  readonly empty?: ComponentChildren;
  /** Query parameters in addition to those in the address. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Renders the drawer with the details of a row. Receives the visible objects. */
  readonly drawer?: ((items: readonly Item[]) => ComponentChildren) | undefined;
  readonly openKey?: string | undefined;
  /** Whether to wait with the first rows, for data that would change their height. */
  readonly isWaiting?: boolean;
  readonly hrefOfItem?: ((item: Item) => string | undefined) | undefined;
}

/** Returns the previous page of a list until the current one is loaded, so that the layout stays stable. */
function usePreviousPage(path: string, value: Page | undefined): Page | undefined {
  const last = useRef<{ readonly path: string; readonly value: Page } | undefined>(undefined);
  if (value) last.current = { path, value };
  return last.current?.path === path ? last.current.value : undefined;
}

/** Returns the query of a list: the filters in the address, and the current scope. */
export function listQuery(
  list: string | undefined,
  filters: readonly Filter[],
  hiddenFilters: readonly string[],
  fixed: Readonly<Record<string, string>> = {},
) {
  const { query } = place.value;
  const isScoped = scope.value.customer !== undefined && !scopeNames.some((name) => query.has(name));
  const scoped = isScoped && list !== undefined ? scopeParameters(list, filters) : {};
  const sent = new URLSearchParams({ ...fixed, ...scoped });
  const isSent = (name: string): boolean =>
    !hiddenFilters.includes(name) || filters.some((filter) => filter.name === name);
  for (const [name, value] of query) if (isSent(name)) sent.set(name, value);
  return {
    sent,
    scoped,
    isSent,
    /** Whether the list is limited to the current scope. */
    isScoped: Object.keys(scoped).length > 0,
    /** Whether the address has filters with chips. */
    isFiltered: [...query.keys()].some((name) => name !== 'page' && name !== 'o' && !hiddenFilters.includes(name)),
  };
}

/** The filters and the table of a list. */
export function List({
  path,
  collection,
  hiddenFilters = [],
  facets,
  empty,
  fixed = {},
  drawer,
  isWaiting = false,
  ...table
}: ListProperties): JSX.Element {
  const { query } = place.value;
  const filters = collection?.filters ?? [];
  const { isFiltered, isScoped, isSent, scoped, sent } = listQuery(collection?.name, filters, hiddenFilters, fixed);
  sent.set('page_size', String(pageSize));
  const { value } = usePage(`/api${path}?${sent}`);
  const page = usePreviousPage(path, value);
  const all = new URLSearchParams({ ...fixed, ...scoped, page_size: '1' });
  for (const name of hiddenFilters.filter(isSent)) if (query.has(name)) all.set(name, query.get(name) ?? '');
  const { value: total } = usePage(isFiltered && page && !page.problem ? `/api${path}?${all}` : '');
  const icon = iconOfList(collection?.name ?? '');
  const cleared = new URLSearchParams([...query].filter(([name]) => hiddenFilters.includes(name)));
  return (
    <>
      <Filters
        path={path}
        filters={filters}
        hidden={hiddenFilters}
        {...(facets && { facets })}
        count={page?.count}
        total={isFiltered ? total?.count : undefined}
        scopeIsUsed={isScoped}
      />
      {!page || isWaiting ? (
        <Loading />
      ) : page.problem ? (
        <Callout
          tone="bad"
          isNew
          action={
            <a class="btn" href={hrefOf(path)}>
              {t('Clear filters')}
            </a>
          }
        >
          {page.problem}
        </Callout>
      ) : page.items.length === 0 ? (
        <NoItems cleared={isFiltered ? hrefOf(path, cleared) : undefined}>
          {empty ?? <Empty icon={hasIcon(icon) ? icon : 'all'} title={t('Nothing here yet.')} />}
        </NoItems>
      ) : (
        <WithDrawer drawer={drawer?.(page.items)}>
          <TableCard
            {...table}
            path={path}
            page={page}
            orderings={collection?.orderings ?? []}
            isBusy={value === undefined}
          />
        </WithDrawer>
      )}
    </>
  );
}

const WithDrawer = ({
  drawer,
  children,
}: {
  readonly drawer: ComponentChildren;
  readonly children: JSX.Element;
}): JSX.Element =>
  drawer ? (
    <div class="with-drawer">
      {children}
      {drawer}
    </div>
  ) : (
    children
  );

function TableCard({
  path,
  page,
  orderings,
  columns,
  rowActions,
  selection,
  above,
  openKey,
  hrefOfItem,
  isBusy,
}: { readonly page: Page; readonly orderings: readonly string[]; readonly isBusy: boolean } & Pick<
  ListProperties,
  'path' | 'columns' | 'rowActions' | 'selection' | 'above' | 'openKey' | 'hrefOfItem'
>): JSX.Element {
  const { query } = place.value;
  const card = useRef<HTMLDivElement>(null);
  const number = Number(query.get('page') ?? 1) || 1;
  const visible = useRef(number);
  useLayoutEffect(() => {
    // Scroll to the first row of a new page.
    if (!isBusy && visible.current !== number) {
      visible.current = number;
      if (card.current && card.current.getBoundingClientRect().top < 0) card.current.scrollIntoView();
    }
  }, [isBusy, number]);
  const items = useFailedActions(page.items);
  const isOfKind = path !== '/resources/' || query.has('resource_type');
  const visibleColumns = useVisibleColumns(path, columns?.(items) ?? genericColumns(items, orderings, isOfKind));
  return (
    <div ref={card} class="card table-card" aria-busy={isBusy || undefined}>
      {above}
      <Table
        items={items}
        columns={visibleColumns}
        path={path}
        selection={selection}
        actions={rowActions}
        openKey={openKey}
        {...(hrefOfItem && { hrefOfItem })}
      />
      <Pager path={path} number={number} page={page} />
    </div>
  );
}

/** The range of visible rows, and links to the previous and next page. */
export function Pager({
  path,
  number,
  page,
}: {
  readonly path: string;
  readonly number: number;
  readonly page: Page;
}): JSX.Element {
  const last = Math.max(1, Math.ceil(page.count / pageSize));
  const hrefOfPage = (to: number): string => hrefOf(path, withParameter('page', to === 1 ? '' : String(to)));
  const from = (number - 1) * pageSize + 1;
  return (
    <nav aria-label={t('Pages')} class="pager">
      <span>
        {t('{from}–{to} of {count}', {
          from: numberText(from),
          to: numberText(from + page.items.length - 1),
          count: numberText(page.count),
        })}
      </span>
      {last > 1 && (
        <span class="row tight">
          <Step title={t('Previous')} href={number > 1 ? hrefOfPage(number - 1) : undefined} />
          <Step title={t('Next')} href={number < last ? hrefOfPage(number + 1) : undefined} />
        </span>
      )}
    </nav>
  );
}

const Step = ({ title, href }: { readonly title: string; readonly href: string | undefined }): JSX.Element =>
  href === undefined ? (
    <span class="btn sm" aria-disabled="true">
      {title}
    </span>
  ) : (
    <a class="btn sm" href={href}>
      {title}
    </a>
  );
