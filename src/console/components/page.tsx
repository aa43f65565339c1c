/** The header of a page, and its tabs. */

import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { numberText, t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';
import { Menu, type MenuItem } from './menu.tsx';

/** A link with its text. */
export type Crumb = readonly [href: string, title: string];

/** The parents of the page: the customer, the project, the list. */
const Crumbs = ({ crumbs }: { readonly crumbs: readonly Crumb[] }): JSX.Element | null =>
  crumbs.length === 0 ? null : (
    <nav aria-label={t('Breadcrumbs')}>
      <ol class="crumbs">
        {crumbs.map(([href, title]) => (
          <li key={href}>
            <a href={href}>{title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );

/**
 * The header of a page: breadcrumbs, the title with one badge, one line of facts, at most two buttons, and a menu "…" for all
 * other actions. Destructive actions belong in the menu.
 */
export function PageHeader({
  crumbs = [],
  icon,
  title,
  badge,
  count,
  facts,
  lead,
  actions,
  menu = [],
}: {
  readonly crumbs?: readonly Crumb[];
  readonly icon?: string | undefined;
  readonly title: ComponentChildren;
  readonly badge?: ComponentChildren;
  readonly count?: number | undefined;
  /** The line below the title. Each child is one fact. */
  readonly facts?: ComponentChildren;
  /** A sentence below the title. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly menu?: readonly MenuItem[];
}): JSX.Element {
  useEffect(() => {
    pageMenu.value = menu;
  });
  useEffect(
    () => () => {
      pageMenu.value = [];
    },
    [],
  );
  return (
    <>
      <Crumbs crumbs={crumbs} />
      <div class="head">
        {icon && (
          <span class="kind lg">
            <Icon name={icon} size="lg" />
          </span>
        )}
        <div class="words">
          <div class="title">
            <h1 tabIndex={-1}>{title}</h1>
            {badge}
            {count !== undefined && <span class="count">{numberText(count)}</span>}
          </div>
          {facts && <div class="about">{facts}</div>}
          {lead && <p class="lead">{lead}</p>}
        </div>
        {(actions || menu.length > 0) && (
          <div class="acts">
            {actions}
            <Menu label={t('More actions')} items={menu} />
          </div>
        )}
      </div>
    </>
  );
}

/** One part of an object or a list. */
export interface Tab {
  readonly href: string;
  readonly title: string;
  readonly count?: number | undefined;
  readonly isCurrent: boolean;
}

/** Tabs for the parts of an object or the types within a list. Each tab has an address. */
export function Tabs({
  tabs,
  label = t('Sections'),
}: {
  readonly tabs: readonly Tab[];
  readonly label?: string;
}): JSX.Element {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On narrow screens, the tabs scroll.
    const row = nav.current;
    const current = row?.querySelector<HTMLElement>('[aria-current]');
    if (!row || !current) return;
    const [around, own] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
    if (own.left < around.left || own.right > around.right) row.scrollLeft += own.left - around.left;
  }, [tabs.findIndex(({ isCurrent }) => isCurrent)]);
  return (
    <nav ref={nav} class="tabs" aria-label={label}>
      {tabs.map(({ count, href, isCurrent, title }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {title}
          {count !== undefined && count > 0 && <span class="count">{numberText(count)}</span>}
        </a>
      ))}
    </nav>
  );
}

/** A switch between a few views of the same data, such as periods. */
export const Choices = ({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }): JSX.Element => (
  <nav class="group" aria-label={label}>
    {tabs.map(({ href, isCurrent, title }) => (
      <a key={href} class="btn" href={href} aria-current={isCurrent ? 'true' : undefined}>
        {title}
      </a>
    ))}
  </nav>
);

/** The menu "…" of the current page. The command palette also has its actions. */
export const pageMenu = signal<readonly MenuItem[]>([]);
