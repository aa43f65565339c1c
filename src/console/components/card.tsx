/** Cards and their contents: facts, meters, tiles, callouts, skeletons and empty states. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hrefOfLink } from '../api/route.ts';
import { exactSizeText, quotaText, quotaTitle } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { numberText, t, titleOf } from '../i18n/words.ts';
import { type Item, textOf } from '../item.ts';
import { Icon } from './icons.tsx';
import { isShownByLink, Value } from './values.tsx';

/** A part of a page. Text is padded; tables and lists (`isFlush`) reach the borders. */
export function Card({
  title,
  count,
  note,
  more,
  actions,
  problem,
  isLoading = false,
  empty,
  isFlush = false,
  footer,
  class: style = '',
  children,
}: {
  readonly title: string;
  readonly count?: number | undefined;
  /** A short text beside the title, such as a period. */
  readonly note?: ComponentChildren;
  /** The address of the complete list, optionally with a link text (default: "Show all"). */
  readonly more?: string | readonly [href: string, words: string] | undefined;
  readonly actions?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly isLoading?: boolean;
  readonly empty?: ComponentChildren;
  readonly isFlush?: boolean;
  readonly footer?: ComponentChildren;
  readonly class?: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const [href, words] = more === undefined || typeof more === 'string' ? [more, t('Show all')] : more;
  const isEmpty = empty !== undefined && empty !== '' && empty !== false;
  return (
    <section class={`card ${style}`} aria-label={title} aria-busy={isLoading || undefined}>
      <header>
        <h2>{title}</h2>
        {count !== undefined && count > 0 && <span class="count">{numberText(count)}</span>}
        {note !== undefined && <span class="note">{note}</span>}
        {(href !== undefined || actions) && (
          <span class="more row">
            {href !== undefined && <a href={href}>{words}</a>}
            {actions}
          </span>
        )}
      </header>
      {problem ? (
        <p class="in bad-ink">{problem}</p>
      ) : isEmpty ? (
        typeof empty === 'string' ? (
          <p class="in note">{empty}</p>
        ) : (
          empty
        )
      ) : isLoading && !hasContent(children) ? (
        <Skeleton />
      ) : isFlush ? (
        children
      ) : (
        <div class="in">{children}</div>
      )}
      {footer && <footer>{footer}</footer>}
    </section>
  );
}

const hasContent = (children: ComponentChildren): boolean =>
  Array.isArray(children)
    ? children.some(hasContent)
    : children !== null && children !== undefined && children !== false;

/** Grey lines that stand in for text. They appear after 300 ms, because faster responses need no placeholder. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }): JSX.Element {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="in stack" aria-busy="true">
      <span class="unseen">{t('Loading…')}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span
          key={index}
          aria-hidden="true"
          class={`bone${isShown ? '' : ' hollow'}${['', ' half', ' short'][index % 3]}`}
        />
      ))}
    </div>
  );
}

/** A placeholder for a page, or for a card without a title. */
export const Loading = (): JSX.Element => (
  <div class="card">
    <Skeleton lines={4} />
  </div>
);

/** The content of an empty list or page: its purpose and the first action. */
export function Empty({
  icon,
  title,
  small = false,
  children,
  actions,
}: {
  readonly icon?: string;
  readonly title: ComponentChildren;
  readonly small?: boolean;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={small ? 'empty small' : 'empty'}>
      {icon && (
        <span class="kind">
          <Icon name={icon} />
        </span>
      )}
      {typeof title === 'string' ? <b>{title}</b> : title}
      {children && <p>{children}</p>}
      {actions}
    </div>
  );
}

/** The card of an empty list. `cleared` is the address without filters, if filters hide the items. */
export const NoItems = ({
  cleared,
  children,
}: {
  readonly cleared: string | undefined;
  readonly children: ComponentChildren;
}): JSX.Element => (
  <div class="card">
    {cleared === undefined ? (
      children
    ) : (
      <Empty
        icon="search"
        title={t('Nothing matches.')}
        actions={
          <a class="btn" href={cleared}>
            {t('Clear filters')}
          </a>
        }
      />
    )}
  </div>
);

/** A problem or notice, with a button that resolves it. `isNew` announces it to screen readers. */
export function Callout({
  tone = 'busy',
  title,
  isNew = false,
  action,
  children,
}: {
  readonly tone?: 'good' | 'warn' | 'bad' | 'busy';
  readonly title?: ComponentChildren;
  readonly isNew?: boolean;
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`callout ${tone}`} role={isNew ? 'alert' : undefined}>
      <Icon name={tone === 'busy' ? 'info' : tone} />
      <div class="words">
        {title !== undefined && <b>{title}</b>}
        {children}
      </div>
      {action}
    </div>
  );
}

/** An error, announced to screen readers. Renders nothing without text. */
export const ErrorCallout = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text ? (
    <Callout tone="bad" isNew>
      {text}
    </Callout>
  ) : null;

/** Labels with values. Omits facts without a value. */
export function Facts({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="facts">{children}</dl>;
}

export function Fact({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element | null {
  if (children === null || children === undefined || children === '' || children === false) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Fields of an object as facts, without empty ones. */
export function FieldFacts({ item, names }: { readonly item: Item; readonly names: readonly string[] }): JSX.Element {
  return (
    <Facts>
      {names
        .filter((name) => !isEmptyValue(item[name]) && !isShownByLink(name, item))
        .map((name) => (
          <Fact key={name} label={titleOf(name)}>
            <Value name={name} value={item[name]} item={item} />
          </Fact>
        ))}
    </Facts>
  );
}

export const isEmptyValue = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.keys(value as object).length === 0);

/** A count that links to its list. */
export function Tile({
  label,
  icon,
  value,
  unit,
  href,
  children,
}: {
  readonly label: string;
  readonly icon?: string;
  readonly value: ComponentChildren;
  readonly unit?: ComponentChildren;
  readonly href?: string | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const content = (
    <>
      <span class="label">
        {icon && <Icon name={icon} size="sm" />}
        {label}
      </span>
      <span class="value">
        {value} {unit !== undefined && <small>{unit}</small>}
      </span>
      {children}
    </>
  );
  return href === undefined ? (
    <div class="tile">{content}</div>
  ) : (
    <a class="tile" href={href}>
      {content}
    </a>
  );
}

/** Returns the used fraction of a limit; undefined without a limit. */
export function shareOf(quota: Item): number | undefined {
  const { limit, usage } = quota;
  if (typeof limit !== 'number' || typeof usage !== 'number' || limit < 0) return undefined;
  return limit === 0 ? (usage > 0 ? 1 : 0) : usage / limit;
}

/** Fractions of a limit at which a meter warns and at which it is full. */
export const nearLimit = 0.8;
const full = 1;

/** A bar with the used share, followed by the share that a form would add. Decorative, because the numbers are beside it. */
export function Bar({ share, added = 0 }: { readonly share: number; readonly added?: number }): JSX.Element {
  const used = Math.min(1, Math.max(0, share)) * 100;
  const more = Math.min(1, Math.max(0, share + added)) * 100 - used;
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class={added > 0 ? 'was' : undefined} x="0" y="0" width={used} height="6" />
      {more > 0 && <rect x={used} y="0" width={more} height="6" />}
    </svg>
  );
}

/** The usage of a quota against its limit. `added` is the amount that a form would add. */
export function Meter({
  quota,
  title = quotaTitle(textOf(quota, 'name')),
  added = 0,
  href = textOf(quota, 'url') === '' ? undefined : hrefOfLink(textOf(quota, 'url')),
  sub,
  end,
}: {
  readonly quota: Item;
  readonly title?: string;
  readonly added?: number;
  readonly href?: string | undefined;
  readonly sub?: ComponentChildren;
  /** Content at the end of the second line. */
  readonly end?: ComponentChildren;
}): JSX.Element {
  const name = textOf(quota, 'name');
  const limit = Number(quota.limit ?? -1);
  const usage = Number(quota.usage ?? 0);
  const after = usage + added;
  const share = shareOf({ limit, usage: after });
  const tone = share === undefined || share < nearLimit ? '' : after > limit || share >= full ? 'bad' : 'warn';
  const { remainder, limit: limitText, more, used } = quotaText(name, usage, limit, added);
  const exact = isQuotaInMebibytes(name) ? exactSizeText(after) : undefined;
  const content = (
    <>
      <span class="line">
        <span>{title}</span>
        <span class="value" title={exact}>
          {more === '' ? <b>{used}</b> : used} {more !== '' && <b>+ {more}</b>}{' '}
          {limit < 0 ? `· ${limitText}` : limitText}
        </span>
      </span>
      {share === undefined ? (
        <span class="open" aria-hidden="true" />
      ) : (
        <Bar share={limit === 0 ? share : usage / limit} added={limit > 0 ? added / limit : 0} />
      )}
      {(sub !== undefined || end !== undefined || tone !== '') && (
        <span class="sub">
          {sub ?? remainder}
          {end}
        </span>
      )}
    </>
  );
  return href === undefined ? (
    <div class={`meter ${tone}`}>{content}</div>
  ) : (
    <a class={`meter ${tone}`} href={href}>
      {content}
    </a>
  );
}

/** Several quotas as a grid of meters. */
export const Meters = ({ quotas }: { readonly quotas: readonly Item[] }): JSX.Element => (
  <div class="meters">
    {quotas.map((quota) => (
      <Meter key={textOf(quota, 'url') || textOf(quota, 'name')} quota={quota} />
    ))}
  </div>
);

/** A card with quotas. The first ones are visible, the others expandable. */
export const QuotaMeters = ({
  quotas,
  shown,
  ...card
}: {
  readonly title: string;
  readonly quotas: readonly Item[];
  /** Number of initially visible quotas. */
  readonly shown: number;
  readonly more?: readonly [href: string, words: string] | undefined;
}): JSX.Element => (
  <Card {...card} isFlush>
    <div class="in">
      <Meters quotas={quotas.slice(0, shown)} />
    </div>
    {quotas.length > shown && (
      <details class="fold">
        <summary>
          <Icon name="next" />
          {t('All {count} quotas', { count: quotas.length })}
        </summary>
        <div class="in">
          <Meters quotas={quotas.slice(shown)} />
        </div>
      </details>
    )}
  </Card>
);
