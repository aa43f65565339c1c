/** What needs attention, of what the user sees. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useList, usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { me } from '../api/session.ts';
import { nameOf, ObjectLink, Part, Quota, roleIn, State, shareOf, Time } from '../components/shown.tsx';
import { amountText, numberText, t } from '../i18n/words.ts';
import { EventCounts, EventLines } from './events.tsx';

const day = 24 * 3600;

/** Quotas that are used up to here are told of. */
const nearlyFull = 0.8;

/** Roles that end within so many days are told of. */
const soonDays = 14;

export function Home(): JSX.Element {
  const now = Math.floor(Date.now() / 3_600_000) * 3600;
  return (
    <>
      <h1 tabIndex={-1}>{t('Welcome, {name}', { name: nameOf(me.value ?? {}) })}</h1>
      <div class="parts">
        <Listing
          title={t('Open alerts')}
          path="/alerts/"
          query="opened=true&o=-severity"
          empty={t('No alert is open.')}
          lines={alerts}
        />
        <Listing
          title={t('Failed resources')}
          path="/resources/"
          query="state=Erred"
          empty={t('No resource has failed.')}
        />
        <Listing
          title={t('Failed provider accounts')}
          path="/service-settings/"
          query="state=Erred"
          empty={t('No provider account has failed.')}
        />
        <FullQuotas />
        <EndingRoles />
        <Listing
          title={t('Pending invitations')}
          path="/user-invitations/"
          query="state=pending"
          empty={t('No invitation waits for an answer.')}
        />
      </div>
      <Listing
        title={t('Recent events')}
        path="/events/"
        query=""
        empty={t('Nothing has happened yet.')}
        lines={eventLines}
      >
        <EventCounts from={now - 30 * day} to={now + 3600} />
      </Listing>
    </>
  );
}

const eventLines = (events: readonly Item[]): JSX.Element => <EventLines events={events} />;

const alerts = (items: readonly Item[]): JSX.Element => (
  <ul class="lines flat">
    {items.map((alert) => (
      <li key={textOf(alert, 'url')}>
        <State value={textOf(alert, 'severity')} /> <ObjectLink item={alert} />
      </li>
    ))}
  </ul>
);

/** Each object with its state, and what it belongs to. */
const objectLines = (items: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {items.map((item) => (
      <li key={textOf(item, 'url')}>
        <ObjectLink item={item} />
        {textOf(item, 'state') !== '' && <State value={textOf(item, 'state')} />}
        <span class="none">
          {['resource_type', 'type', 'project_name', 'customer_name']
            .map((name) => textOf(item, name))
            .filter((text) => text !== '')
            .join(', ')}
        </span>
      </li>
    ))}
  </ul>
);

/** The first objects of a list. */
export function Listing({
  title,
  path,
  query,
  empty,
  lines = objectLines,
  size = 5,
  children,
}: {
  readonly title: string;
  readonly path: string;
  readonly query: string;
  readonly empty: string;
  readonly lines?: (items: readonly Item[]) => JSX.Element;
  readonly size?: number;
  /** What stands below. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const { value: page } = usePage(`/api${path}?${query}&page_size=${size}`);
  const isEmpty = page?.count === 0;
  return (
    <Part
      title={page && page.count > size ? `${title} (${numberText(page.count)})` : title}
      more={isEmpty ? undefined : hrefOf(path, new URLSearchParams(query))}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={isEmpty ? empty : undefined}
    >
      {page && page.count > 0 && lines(page.items)}
      {children}
    </Part>
  );
}

/** Quotas of customers and projects that are nearly used up. */
function FullQuotas(): JSX.Element {
  const query = { page_size: 300, field: ['url' as const, 'name' as const, 'quotas' as const] };
  const customers = useList(() => api.GET('/api/customers/', { params: { query } }));
  const projects = useList(() => api.GET('/api/projects/', { params: { query } }));
  const owners = [...(customers.value?.items ?? []), ...(projects.value?.items ?? [])];
  const full = owners
    .flatMap((owner) => itemsIn(owner.quotas).map((quota) => ({ owner, quota, share: shareOf(quota) ?? 0 })))
    .filter(({ share }) => share >= nearlyFull)
    .sort((a, b) => b.share - a.share)
    .slice(0, 10);
  const isLoading = customers.value === undefined || projects.value === undefined;
  return (
    <Part
      title={t('Quotas above {share}', { share: '80 %' })}
      isLoading={isLoading}
      problem={customers.value?.problem ?? projects.value?.problem}
      empty={!isLoading && full.length === 0 ? t('No quota is nearly used up.') : undefined}
    >
      <ul class="quotas">
        {full.map(({ owner, quota }) => (
          <Quota key={textOf(quota, 'url')} quota={quota} of={owner} />
        ))}
      </ul>
    </Part>
  );
}

/** Roles that end soon, of the user and of those whose roles the user sees. */
function EndingRoles(): JSX.Element {
  // Those without an end come last in this order, however many they are.
  const params = { query: { o: ['-expiration_time' as const], page_size: 300 } };
  const inCustomers = useList(() => api.GET('/api/customer-permissions/', { params }));
  const inProjects = useList(() => api.GET('/api/project-permissions/', { params }));
  const until = new Date(Date.now() + soonDays * day * 1000).toISOString();
  const ending = [...(inCustomers.value?.items ?? []), ...(inProjects.value?.items ?? [])]
    .filter((role) => textOf(role, 'expiration_time') !== '' && textOf(role, 'expiration_time') < until)
    .sort((a, b) => textOf(a, 'expiration_time').localeCompare(textOf(b, 'expiration_time')))
    .slice(0, 10);
  const isLoading = inCustomers.value === undefined || inProjects.value === undefined;
  return (
    <Part
      title={t('Roles that end soon')}
      isLoading={isLoading}
      problem={inCustomers.value?.problem ?? inProjects.value?.problem}
      empty={
        !isLoading && ending.length === 0
          ? t('No role ends within {time}.', { time: amountText(soonDays, 'day') })
          : undefined
      }
    >
      <ul class="lines">
        {ending.map((role) => (
          <li key={textOf(role, 'url')}>
            <Time value={textOf(role, 'expiration_time')} />{' '}
            <span>
              <ObjectLink item={role} />:{' '}
              {roleIn(textOf(role, 'role'), textOf(role, 'project_name') || textOf(role, 'customer_name'))}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}
