/** The home page: problems, quotas, recent events, and the state of the projects. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { scope, scopedQuery } from '../api/scope.ts';
import { collections, me } from '../api/session.ts';
import { Card, Loading, Meter, nearLimit, shareOf } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import { PageHeader } from '../components/page.tsx';
import { Dot } from '../components/status.tsx';
import { nameOf } from '../components/values.tsx';
import { instantText, plural, t } from '../i18n/words.ts';
import { Attention, useProblems, works } from './attention.tsx';
import { EventTimeline } from './events.tsx';
import { isWithoutAccess, Setup, WithoutAccess } from './first-day.tsx';
import { maker } from './resources.tsx';

const dayMs = 24 * 3600 * 1000;

/** Roles that expire within this time need attention. */
const expiringDays = 14;

export function Home(): JSX.Element {
  const name = nameOf(me.value ?? {});
  const [firstName = name] = name.split(' ');
  const { customer, project } = scope.value;
  const owners = useOwners();
  const expiring = useExpiringRoles();
  const state = useProblems(owners, expiring);
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
              />
              <div class="stack">
                <Projects />
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

/** Roles that expire soon, of the user and of everyone whose roles the user sees. */
function useExpiringRoles(): readonly Item[] | undefined {
  // Roles without an end come last in this order.
  const query = { o: '-expiration_time', page_size: '300' };
  const inCustomers = usePage(`/api/customer-permissions/?${scopedQuery('customer-permissions', query)}`);
  const inProjects = usePage(`/api/project-permissions/?${scopedQuery('project-permissions', query)}`);
  const until = new Date(Date.now() + expiringDays * dayMs).toISOString();
  if (!inCustomers.value || !inProjects.value) return undefined;
  return [...inCustomers.value.items, ...inProjects.value.items]
    .filter((role) => textOf(role, 'expiration_time') !== '' && textOf(role, 'expiration_time') < until)
    .sort((a, b) => textOf(a, 'expiration_time').localeCompare(textOf(b, 'expiration_time')));
}

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
          {visible.map(({ owner, quota }) => (
            <Meter key={textOf(quota, 'url')} quota={quota} sub={single ? undefined : nameOf(owner)} />
          ))}
        </div>
      )}
    </Card>
  );
}

/** The first projects with their state. */
function Projects(): JSX.Element {
  const { value: page } = usePage(`/api/projects/?${scopedQuery('projects', { page_size: '5' })}`);
  const { value: failed } = usePage(
    `/api/resources/?${scopedQuery('resources', { state: 'Erred', page_size: '300', field: 'project_uuid' })}`,
  );
  const collection = collections.value.get('projects');
  const { customer } = scope.value;
  return (
    <Card
      title={t('Projects')}
      count={page?.count}
      more={page && page.count > 5 ? hrefOf('/projects/') : undefined}
      actions={
        collection && (
          <Creation
            collection={collection}
            given={customer ? { customer: customer.url } : {}}
            button={t('New project')}
            isQuiet
          />
        )
      }
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('No projects yet.') : undefined}
      isFlush
    >
      {page && page.count > 0 && (
        <ul class="lines">
          {page.items.map((project) => {
            const count = (failed?.items ?? []).filter(
              (item) => textOf(item, 'project_uuid') === textOf(project, 'uuid'),
            ).length;
            const share = Math.max(0, ...itemsIn(project.quotas).map((quota) => shareOf(quota) ?? 0));
            return (
              <li key={textOf(project, 'url')}>
                <span class="words">
                  <a href={hrefOfLink(textOf(project, 'url'))}>{nameOf(project)}</a>
                  <span class="sub">{textOf(project, 'customer_name')}</span>
                </span>
                <span class="end">
                  {count > 0 ? (
                    <Dot tone="bad">{plural(count, '{count} failed', '{count} failed')}</Dot>
                  ) : share >= nearLimit ? (
                    <Dot tone="warn">{share >= 1 ? t('Limit reached') : t('Near limit')}</Dot>
                  ) : (
                    <Dot tone="good">{t('Healthy')}</Dot>
                  )}
                </span>
              </li>
            );
          })}
        </ul>
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
