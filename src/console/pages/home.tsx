/** The home page: problems, quotas, recent events and the state of the projects. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { scope, scopedQuery } from '../api/scope.ts';
import { me } from '../api/session.ts';
import { Card, Loading, Meter, shareOf } from '../components/card.tsx';
import { Forecast } from '../components/forecast.tsx';
import { Icon } from '../components/icons.tsx';
import { ListCard } from '../components/list-card.tsx';
import { PageHeader } from '../components/page.tsx';
import { nameOf } from '../components/values.tsx';
import { instantText, plural, t } from '../i18n/words.ts';
import { Attention, canManageResources, useExpiringRoles, useProblems } from './attention.tsx';
import { EventTimeline } from './events.tsx';
import { FirstDay, isWithoutAccess, useSetup, WithoutAccess } from './first-day.tsx';
import { newResourcePath } from './new-resource.tsx';
import { Projects, usageOf } from './projects.tsx';
import { byShare, useAmounts, useClouds } from './quotas.tsx';

export function Home(): JSX.Element {
  const name = nameOf(me.value ?? {});
  const [firstName = name] = name.split(' ');
  const { customer, project } = scope.value;
  const owners = useOwners();
  const clouds = useClouds(scopedQuery('openstack-tenants'));
  const amounts = useAmounts(project ? 'project' : 'customer', project?.uuid ?? customer?.uuid);
  const expiring = useExpiringRoles();
  // Read them here: on phones, a list that appears later would move the content below it.
  const { value: activity } = usePage(`/api/events/?${scopedQuery('events')}&page_size=6`);
  const problems = useProblems(owners && [...owners.customers, ...owners.projects, ...(clouds ?? [])], expiring);
  const setup = useSetup();
  const state = activity && problems && amounts && setup !== undefined;
  if (setup)
    return (
      <>
        <PageHeader
          title={greeting(firstName)}
          lead={t('Five steps to the first virtual machine. You can leave and continue later.')}
        />
        <FirstDay setup={setup} />
      </>
    );
  return (
    <>
      <PageHeader
        title={greeting(firstName)}
        facts={<HomeFacts owners={owners} />}
        actions={
          canManageResources() && (
            <a class="btn primary" href={hrefOf(newResourcePath)}>
              <Icon name="create" />
              {t('Create')}
            </a>
          )
        }
      />
      <div class="stack">
        {isWithoutAccess() && <WithoutAccess />}
        {state ? <Attention {...problems} /> : <Loading />}
        {state && (
          <>
            {owners && <QuotaCard owners={owners} amounts={amounts} />}
            <div class="split">
              <ListCard
                title={t('Recent activity')}
                path="/events/"
                query={scopedQuery('events')}
                empty={t('Nothing has happened yet.')}
                all={t('All events')}
                lines={(events) => <EventTimeline events={events} />}
                size={6}
                hasCount={false}
                firstPage={activity}
              />
              <div class="stack">
                <Projects within={scope.value} isBrief />
                <ComingUp roleCount={expiring?.length ?? 0} />
              </div>
            </div>
          </>
        )}
      </div>
    </>
  );
}

/** The scope of the page, its numbers of objects, and the date. */
function HomeFacts({ owners }: { readonly owners: Owners | undefined }): JSX.Element {
  const { customer, project } = scope.value;
  const [only] = owners?.customers.length === 1 ? owners.customers : [];
  const projects = owners?.projects ?? [];
  const resources = projects.reduce((sum, item) => sum + (usageOf(item, 'nc_resource_count') ?? 0), 0);
  return (
    <>
      <span>{project?.name ?? customer?.name ?? (only ? nameOf(only) : t('All customers'))}</span>
      {!project && owners && <span>{plural(projects.length, '{count} project', '{count} projects')}</span>}
      {owners && <span>{plural(resources, '{count} resource', '{count} resources')}</span>}
      <span>{instantText(Date.now(), { weekday: 'long', day: 'numeric', month: 'long' })}</span>
    </>
  );
}

/** Returns a greeting for the time of day. */
function greeting(name: string): string {
  const hour = new Date().getHours();
  if (hour >= 5 && hour < 12) return t('Good morning, {name}', { name });
  return hour >= 12 && hour < 18 ? t('Good afternoon, {name}', { name }) : t('Good evening, {name}', { name });
}

interface Owners {
  readonly customers: readonly Item[];
  readonly projects: readonly Item[];
}

/** Reads customers and projects with their quotas; undefined until loaded. */
function useOwners(): Owners | undefined {
  const fields = '&field=url&field=name&field=quotas&page_size=300';
  const { customer, project } = scope.value;
  const customers = usePage(`/api/customers/?${fields.slice(1)}`);
  const projects = usePage(`/api/projects/?${scopedQuery('projects')}${fields}`);
  if (!customers.value || !projects.value) return undefined;
  const isHere = (link: string, wanted: string | undefined): boolean => wanted === undefined || link.includes(wanted);
  return {
    customers: customers.value.items.filter((item) => !project && isHere(textOf(item, 'url'), customer?.uuid)),
    projects: projects.value.items.filter((item) => isHere(textOf(item, 'url'), project?.uuid)),
  };
}

/** Used fraction of a limit from which the page shows a forecast. */
const forecastShare = 0.5;

/** Maximum number of quotas. */
const shownQuotas = 6;

/**
 * vCPUs, memory and storage, and the quotas of the current scope. With several customers, the quotas nearest their limits.
 */
function QuotaCard({
  owners: { customers, projects },
  amounts,
}: {
  readonly owners: Owners;
  readonly amounts: readonly Item[];
}): JSX.Element | null {
  const owners = [...customers, ...projects];
  const single = scope.value.project ? projects[0] : customers.length === 1 ? customers[0] : undefined;
  const rest = shownQuotas - amounts.length;
  const others = single
    ? byShare(itemsIn(single.quotas)).slice(0, rest)
    : byShare(
        owners.flatMap((owner) =>
          itemsIn(owner.quotas)
            .filter((quota) => shareOf(quota) !== undefined)
            .map((quota): Item => ({ ...quota, owner_name: nameOf(owner) })),
        ),
      ).slice(0, rest);
  const visible = byShare([...amounts, ...others]);
  if (visible.length === 0) return null;
  return (
    <Card title={t('Quotas')} more={[hrefOf('/quotas/'), t('All quotas')]}>
      <div class="meters">
        {visible.map((quota) => (
          <Meter
            key={textOf(quota, 'url') || textOf(quota, 'name')}
            quota={quota}
            sub={textOf(quota, 'owner_name') || undefined}
            end={
              (shareOf(quota) ?? 0) >= forecastShare && textOf(quota, 'url') !== '' ? (
                <Forecast quota={quota} />
              ) : undefined
            }
          />
        ))}
      </div>
    </Card>
  );
}

/** Pending invitations and roles that expire soon. */
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
