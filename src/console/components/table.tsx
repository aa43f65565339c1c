/** Tables of objects: the name and type first, then the status and a few more columns. Narrow tables become cards. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { hrefOf, hrefOfLink, place, withParameter } from '../api/route.ts';
import { t } from '../i18n/words.ts';
import { type Item, textOf } from '../item.ts';
import { Icon } from './icons.tsx';
import { isObjectLink, nameOf } from './values.tsx';

export interface Column {
  readonly key: string;
  readonly title: string;
  /** The sort parameter of the column, if the list has one. */
  readonly sort?: string | undefined;
  /** The default order of the list, if it is by this column. */
  readonly order?: string;
  /** `name` and `state` come first on cards, `num` is right-aligned, and `when-roomy` is dropped first on narrow screens. */
  readonly class?: string | undefined;
  readonly cell: (item: Item) => ComponentChildren;
  /** Whether it is hidden by default. */
  readonly isExtra?: boolean;
}

/** The selected rows for bulk actions. */
export interface Selection {
  readonly selected: ReadonlyMap<string, Item>;
  readonly select: (items: readonly Item[], isSelected: boolean) => void;
}

const keyOf = (item: Item): string => textOf(item, 'url') || textOf(item, 'uuid');

export function Table({
  items,
  columns,
  path,
  selection,
  actions,
  openKey,
  hrefOfItem = (item) => (isObjectLink(textOf(item, 'url')) ? hrefOfLink(textOf(item, 'url')) : undefined),
}: {
  readonly items: readonly Item[];
  readonly columns: readonly Column[];
  /** The address of the list. Enables sorting by column headers. */
  readonly path?: string | undefined;
  readonly selection?: Selection | undefined;
  /** Content at the end of each row, such as `RowActions`. */
  readonly actions?: ((item: Item) => ComponentChildren) | undefined;
  /** The url of the row in the drawer. */
  readonly openKey?: string | undefined;
  /** The address of a row, opened by a click anywhere in it. */
  readonly hrefOfItem?: (item: Item) => string | undefined;
}): JSX.Element {
  return (
    <table class="table folds">
      <thead>
        <tr>
          {selection && (
            <th class="pick">
              <SelectAll items={items} selection={selection} />
            </th>
          )}
          {columns.map((column) => (
            <Heading key={column.key} column={column} path={path} />
          ))}
          {actions && (
            <th class="acts">
              <span class="unseen">{t('Actions')}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const href = hrefOfItem(item);
          const key = keyOf(item);
          return (
            <tr
              key={key}
              class={href === undefined ? undefined : 'leads'}
              aria-selected={selection?.selected.has(key) || (openKey !== undefined && openKey === key) || undefined}
              onClick={(event) => {
                const isControl =
                  event.target instanceof Element && event.target.closest('a, button, input, label, dialog, [popover]');
                if (!isControl && href !== undefined && getSelection()?.isCollapsed !== false) location.hash = href;
              }}
            >
              {selection && (
                <td class="pick">
                  <label class="hit">
                    <input
                      type="checkbox"
                      aria-label={t('Select {name}', { name: nameOf(item) })}
                      checked={selection.selected.has(key)}
                      onInput={(event) => selection.select([item], event.currentTarget.checked)}
                    />
                  </label>
                </td>
              )}
              {columns.map((column) => (
                <td
                  key={column.key}
                  class={column.class}
                  data-label={column.class?.includes('num') ? column.title : undefined}
                >
                  {column.cell(item)}
                </td>
              ))}
              {actions && <td class="acts">{actions(item)}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function SelectAll({
  items,
  selection,
}: {
  readonly items: readonly Item[];
  readonly selection: Selection;
}): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  const count = items.filter((item) => selection.selected.has(keyOf(item))).length;
  const isSome = count > 0 && count < items.length;
  useEffect(() => {
    if (box.current) box.current.indeterminate = isSome;
  }, [isSome]);
  return (
    <label class="hit">
      <input
        ref={box}
        type="checkbox"
        aria-label={t('Select all on this page')}
        checked={count > 0 && count === items.length}
        onInput={(event) => selection.select(items, event.currentTarget.checked)}
      />
    </label>
  );
}

function Heading({ column, path }: { readonly column: Column; readonly path: string | undefined }): JSX.Element {
  const { class: style, order: usual, sort, title } = column;
  if (sort === undefined || path === undefined)
    return (
      <th scope="col" class={style}>
        {title}
      </th>
    );
  const order = place.value.query.get('o') ?? usual;
  const parameters = withParameter('o', order === sort ? `-${sort}` : sort, ['page']);
  const direction = order === sort ? 'ascending' : order === `-${sort}` ? 'descending' : undefined;
  return (
    <th scope="col" class={style} aria-sort={direction}>
      <a class="sort" href={hrefOf(path, parameters)}>
        {title}
        {direction && <Icon name={direction} size="sm" />}
      </a>
    </th>
  );
}

/** An object in the first column: icon, linked name, and type or owner below. */
export const NameCell = ({
  icon,
  href,
  name,
  sub,
}: {
  readonly icon?: string | undefined;
  readonly href?: string | undefined;
  readonly name: ComponentChildren;
  readonly sub?: ComponentChildren;
}): JSX.Element => (
  <div class="with-icon">
    {icon && (
      <span class="kind not-narrow">
        <Icon name={icon} />
      </span>
    )}
    <span>
      {href === undefined ? <b>{name}</b> : <a href={href}>{name}</a>}
      {sub !== undefined && sub !== '' && <small>{sub}</small>}
    </span>
  </div>
);

/** Bulk actions above the table. */
export const ChoiceBar = ({
  count,
  label,
  onClear,
  children,
}: {
  readonly count: number;
  readonly label: string;
  readonly onClear: () => void;
  readonly children: ComponentChildren;
}): JSX.Element => (
  <section class="choice-bar" aria-label={label}>
    <b>{t('{count} selected', { count })}</b>
    {children}
    <span class="spring" />
    <button type="button" class="btn quiet sm" onClick={onClear}>
      {t('Clear')}
    </button>
  </section>
);

/** A scrollable table of raw values. */
export const PlainTable = ({
  label,
  heads,
  children,
}: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable element
  <section class="table-scroll" tabIndex={0} aria-label={label}>
    <table class="table">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
