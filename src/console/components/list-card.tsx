/** A card with the first objects of a list. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, type Page, textOf } from '../api/api.ts';
import { useFailedActions } from '../api/failures.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { kindOfType } from '../format/kinds.ts';
import { joinedText } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { Card } from './card.tsx';
import { StatusText } from './status.tsx';
import { ObjectLink } from './values.tsx';

/** Returns a member as text; empty for a link. */
const plainText = (item: Item, name: string): string => (/^https?:/.test(textOf(item, name)) ? '' : textOf(item, name));

/** Returns the names of an object's owners. */
const ownersOf = (item: Item): string =>
  joinedText([
    textOf(item, 'resource_type') === '' ? plainText(item, 'type') : t(kindOfType(textOf(item, 'resource_type')).word),
    textOf(item, 'project_name'),
    textOf(item, 'customer_name'),
  ]);

/** Lists objects with their status and owner. */
const objectLines = (items: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {items.map((item) => (
      <li key={textOf(item, 'url')}>
        <span class="words">
          <ObjectLink item={item} />
          <span class="sub">{ownersOf(item)}</span>
        </span>
        {(textOf(item, 'state') !== '' || textOf(item, 'severity') !== '') && (
          <span class="end">
            <StatusText item={item} />
          </span>
        )}
      </li>
    ))}
  </ul>
);

export function ListCard({
  title,
  path,
  query,
  empty,
  lines = objectLines,
  size = 5,
  actions,
  hasCount = true,
  all = t('Show all'),
  firstPage,
}: {
  readonly title: string;
  readonly path: string;
  readonly query: string;
  readonly empty: string;
  readonly lines?: (items: readonly Item[]) => JSX.Element;
  readonly size?: number;
  readonly actions?: ComponentChildren;
  readonly hasCount?: boolean;
  /** The text of the link to the list; empty for no link. */
  readonly all?: string;
  /** The first objects, if the page reads them itself. */
  readonly firstPage?: Page | undefined;
}): JSX.Element {
  const { value: read } = usePage(firstPage ? '' : `/api${path}?${query}&page_size=${size}`);
  const page = firstPage ?? read;
  const items = useFailedActions(page?.items ?? []);
  const isEmpty = page?.count === 0;
  return (
    <Card
      title={title}
      count={hasCount && page && page.count > size ? page.count : undefined}
      more={isEmpty || all === '' ? undefined : [hrefOf(path, new URLSearchParams(query)), all]}
      actions={actions}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={isEmpty ? empty : undefined}
      isFlush
    >
      {page && page.count > 0 && lines(items)}
    </Card>
  );
}
