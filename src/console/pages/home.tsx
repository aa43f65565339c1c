/** The home page: problems, quotas, recent events, and the state of the projects. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { scope, scopedQuery } from '../api/scope.ts';
import { me } from '../api/session.ts';
import { Card, Loading, Meter, shareOf } from '../components/card.tsx';
import { Forecast } from '../components/forecast.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import { PageHeader } from '../components/page.tsx';
import { nameOf } from '../components/values.tsx';
import { instantText, plural, t } from '../i18n/words.ts';
import { Attention, useExpiringRoles, useProblems, works } from './attention.tsx';
import { EventTimeline } from './events.tsx';
import { isWithoutAccess, Setup, WithoutAccess } from './first-day.tsx';
import { Projects } from './projects.tsx';
import { maker } from './resources.tsx';

export function Home(): JSX.Element {
  const name = nameOf(me.value ?? {});
  const [firstName = name] = name.split(' ');
  const { customer, project } = scope.value;
  const owners = useOwners();
  const expiring = useExpiringRoles();
  // Read here: on phones, a list that comes later would move what stands below it.
  const { value: activity } = usePage(`/api/events/?${scopedQuery('events')}&page_size=6`);
  const problems = useProblems(owners, expiring);
  const state = activity && problems;
  return (
    <>
      <PageHeader
        title={greeting(firstName)}
        facts={
          <>
            <span>{project?.name ?? customer?.name ?? t('All customers')}</span>
            <span>{instantText(Date.now(), { weekday: 'long', day: 'numeric', month: 'long' })}</span>
          </>
        }
        actions={
          works() && (
            <a class="btn primary" href={hrefOf(maker)}>
              <Icon name="create" />
              {t('Create')}
            </a>
          )
        }
      />
      <div class="stack">
        {isWithoutAccess() ? <WithoutAccess /> : <Setup />}
        {state ? <Attention {...state} /> : <Loading />}
        {state && (
          <>
            <QuotaCard owners={owners} />
            <div class="split">
              <Listing
                title={t('Recent activity')}
                path="/events/"
                query={scopedQuery('events')}
                empty={t('Nothing has happened yet.')}
                lines={(events) => <EventTimeline events={events} />}
                size={6}
                hasCount={false}
                given={activity}
              />
              <div class="stack">
                <Projects within={scope.value} hasCreation />
                <ComingUp roleCount={expiring?.length ?? 0} />
              </div>
            </div>
          </>
        )}
      </div>
    </>
  );
}

/** A greeting by the time of day. */
function greeting(name: string): string {
  const hour = new Date().getHours();
  if (hour >= 5 && hour < 12) return t('Good morning, {name}', { name });
  return hour >= 12 && hour < 18 ? t('Good afternoon, {name}', { name }) : t('Good evening, {name}', { name });
}

/** Customers and projects with their quotas; undefined until they are read. */
function useOwners(): readonly Item[] | undefined {
  const fields = '&field=url&field=name&field=quotas&page_size=300';
  const { customer, project } = scope.value;
  const customers = usePage(`/api/customers/?${fields.slice(1)}`);
  const projects = usePage(`/api/projects/?${scopedQuery('projects')}${fields}`);
  if (!customers.value || !projects.value) return undefined;
  const isHere = (link: string, wanted: string | undefined): boolean => wanted === undefined || link.includes(wanted);
  return [
    ...customers.value.items.filter((item) => !project && isHere(textOf(item, 'url'), customer?.uuid)),
    ...projects.value.items.filter((item) => isHere(textOf(item, 'url'), project?.uuid)),
  ];
}

/** The used share of a limit from which the page says when it will be full. */
const forecastShare = 0.5;

/** The quotas of the customer or project that the user works in; of several customers, the ones nearest their limit. */
function QuotaCard({ owners }: { readonly owners: readonly Item[] | undefined }): JSX.Element | null {
  const { customer, project } = scope.value;
  const own = owners?.find((item) => textOf(item, 'url').includes(project?.uuid ?? customer?.uuid ?? '-'));
  const single = own ?? (owners?.length === 1 ? owners[0] : undefined);
  const rows = (single ? [single] : (owners ?? [])).flatMap((owner) =>
    itemsIn(owner.quotas).map((quota) => ({ owner, quota, share: shareOf(quota) })),
  );
  const visible = rows
    .filter(({ share }) => single !== undefined || share !== undefined)
    .sort((a, b) => (b.share ?? -1) - (a.share ?? -1))
    .slice(0, 6);
  if (owners && visible.length === 0) return null;
  return (
    <Card title={t('Quotas')} more={[hrefOf('/quotas/'), t('All quotas')]} isLoading={!owners}>
      {owners && (
        <div class="meters">
          {visible.map(({ owner, quota, share }) => (
            <Meter
              key={textOf(quota, 'url')}
              quota={quota}
              sub={single ? undefined : nameOf(owner)}
              end={(share ?? 0) >= forecastShare ? <Forecast quota={quota} /> : undefined}
            />
          ))}
        </div>
      )}
    </Card>
  );
}

/** Invitations and roles that end soon. */
function ComingUp({ roleCount }: { readonly roleCount: number }): JSX.Element {
  const { value: invitations } = usePage(
    `/api/user-invitations/?${scopedQuery('user-invitations', { state: 'pending', page_size: '1' })}`,
  );
  const count = invitations?.count ?? 0;
  return (
    <Card title={t('Coming up')} isFlush>
      <ul class="lines">
        <li>
          <Icon name="user-invitations" />
          <span class="words">
            {count === 0
              ? t('No pending invitations.')
              : plural(count, '{count} pending invitation', '{count} pending invitations')}
          </span>
          {count > 0 && (
            <a class="end" href={hrefOf('/user-invitations/', { state: 'pending' })}>
              {t('Review')}
            </a>
          )}
        </li>
        <li>
          <Icon name="busy" />
          <span class="words">
            {roleCount === 0
              ? t('No role expires soon.')
              : plural(roleCount, '{count} role expires within 14 days', '{count} roles expire within 14 days')}
          </span>
          {roleCount > 0 && (
            <a class="end" href={hrefOf('/project-permissions/', { o: '-expiration_time' })}>
              {t('Review')}
            </a>
          )}
        </li>
      </ul>
    </Card>
  );
}
