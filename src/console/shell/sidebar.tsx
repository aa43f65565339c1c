/** The sidebar: product, current scope, and pages by group. */
import type { JSX } from 'preact';
import { isLive } from '../api/live.ts';
import { productName } from '../api/product.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scope, scopeParameters } from '../api/scope.ts';
import { collections, isStaff } from '../api/session.ts';
import { Icon, Logo } from '../components/icons.tsx';
import { Dot } from '../components/status.tsx';
import { Version } from '../components/version.tsx';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import { textOf } from '../item.ts';
import { type Destination, navigation } from './navigation.ts';
import { Switcher } from './switcher.tsx';

export function Sidebar({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element {
  const [, here = ''] = place.value.path.split('/');
  const only = useOnlyCustomer();
  return (
    <nav
      id="places"
      class={isOpen ? 'side open' : 'side'}
      aria-label={t('Main')}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isOpen) onClose();
      }}
    >
      <a class="brand" href={hrefOf('/')} onClick={onClose}>
        <Logo />
        {productName}
      </a>
      <Switcher />
      {navigation().map(({ destinations, title }) => (
        <section key={title} class="nav">
          {title !== '' && <h2>{title}</h2>}
          <ul>
            {destinations.map((destination) => (
              <li key={destination.name}>
                <NavLink
                  destination={
                    destination.name === 'customers' && only
                      ? { ...destination, title: titleOf('customer') }
                      : destination
                  }
                  href={destination.name === 'customers' && only ? hrefOfLink(only) : undefined}
                  isCurrent={sectionOf(here) === destination.name}
                  onClick={onClose}
                />
              </li>
            ))}
            {destinations.some(({ name }) => name === 'all') && (
              <li>
                <a href="docs/">
                  <Icon name="documentation" />
                  {t('Documentation')}
                </a>
              </li>
            )}
          </ul>
        </section>
      ))}
      <div class="foot">
        {isLive.value ? <Dot tone="good">{t('Live')}</Dot> : <Dot tone="idle">{t('Not live')}</Dot>}
        <Version />
      </div>
    </nav>
  );
}

/** Maps an address to a page of the sidebar: a machine to Resources, a webhook to Notifications. */
function sectionOf(name: string): string {
  if (collections.value.get(name)?.filters.some((filter) => filter.name === 'runtime_state')) return 'resources';
  if (name === 'new-resource') return 'resources';
  if (/^hooks-/.test(name)) return 'hooks';
  if (name === 'add-provider' || /^services$/.test(name)) return 'service-settings';
  if (/^(jobs|outbox|backups|deployment-settings)$/.test(name)) return 'operation';
  return name;
}

function NavLink({
  destination: { name, title },
  href = hrefOf(name === '' ? '/' : `/${name}/`),
  isCurrent,
  onClick,
}: {
  readonly destination: Destination;
  readonly href?: string | undefined;
  readonly isCurrent: boolean;
  readonly onClick: () => void;
}): JSX.Element {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined} onClick={onClick}>
      <Icon name={name || 'home'} />
      {title}
      {name === 'alerts' && <OpenAlerts />}
    </a>
  );
}

/** The number of open alerts in the current scope. */
function OpenAlerts(): JSX.Element | null {
  const parameters = { opened: 'true', page_size: '1', ...scopeParameters('alerts', []) };
  const { value: page } = usePage(`/api/alerts/?${new URLSearchParams(parameters)}`);
  if (!page || page.count === 0) return null;
  const words = plural(page.count, '{count} open alert', '{count} open alerts');
  return (
    <span class="count warn" title={words}>
      <span aria-hidden="true">{numberText(page.count)}</span>
      <span class="unseen">{words}</span>
    </span>
  );
}

/** Returns the link of a user's only customer; undefined for staff and users with several customers. */
function useOnlyCustomer(): string | undefined {
  const { value: page } = usePage(isStaff.value || scope.value.customer ? '' : '/api/customers/?page_size=1&field=url');
  return page?.count === 1 ? textOf(page.items[0] ?? {}, 'url') || undefined : undefined;
}
