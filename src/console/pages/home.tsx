/** The home page: problems, quotas, recent events, and the state of the projects. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { scope, scopeParameters } from '../api/scope.ts';
import { collections, isStaff, me, roles } from '../api/session.ts';
import { Card, Meter, nearLimit, shareOf } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import { PageHeader } from '../components/page.tsx';
import { Dot } from '../components/status.tsx';
import { isObjectLink, nameOf, Time } from '../components/values.tsx';
import { kindOfType } from '../format/kinds.ts';
import { statusOf, type Tone } from '../format/status.ts';
import { dayText, percentText, quotaTitle, sizeText } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { instantText, numberText, phrase, plural, serverText, t } from '../i18n/words.ts';
import { EventTimeline } from './events.tsx';
import { isWithoutAccess, Setup, WithoutAccess } from './first-day.tsx';
import { maker } from './resources.tsx';

const dayMs = 24 * 3600 * 1000;

/** Roles that expire within this time need attention. */
const expiringDays = 14;

/** The number of listed problems; the pages behind them show the rest. */
const maxProblems = 8;

export function Home(): JSX.Element {
  const name = nameOf(me.value ?? {});
  const [firstName = name] = name.split(' ');
  const { customer, project } = scope.value;
  const owners = useOwners();
  const expiring = useExpiringRoles();
  const works = isStaff.value || ['owner', 'manager', 'admin'].some((role) => roles.value.has(role));
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
          works && (
            <a class="btn primary" href={hrefOf(maker)}>
              <Icon name="create" />
              {t('Create')}
            </a>
          )
        }
      />
      <div class="stack">
        {isWithoutAccess() ? <WithoutAccess /> : <Setup />}
        <Attention owners={owners} expiring={expiring} />
        <QuotaCard owners={owners} />
        <div class="split">
          <Listing
            title={t('Recent activity')}
            path="/events/"
            query={scoped('events')}
            empty={t('Nothing has happened yet.')}
            lines={(events) => <EventTimeline events={events} />}
            size={6}
          />
          <div class="stack">
            <Projects />
            <ComingUp roleCount={expiring.length} />
          </div>
        </div>
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

/** The query of a list, narrowed to the customer or project that the user works in. */
function scoped(list: string, query: Readonly<Record<string, string>> = {}): string {
  const filters = collections.value.get(list)?.filters ?? [];
  return new URLSearchParams({ ...query, ...scopeParameters(list, filters) }).toString();
}

/** One problem. */
interface Problem {
  readonly key: string;
  readonly tone: Tone;
  readonly icon: string;
  readonly title: ComponentChildren;
  readonly sub: ComponentChildren;
  readonly time?: string;
  readonly href: string;
  readonly button: string;
}

const order: readonly Tone[] = ['bad', 'warn', 'idle'];

/** Failed resources and accounts, open alerts, quotas near their limit and expiring roles, as one list. */
function Attention({
  owners,
  expiring,
}: {
  readonly owners: readonly Item[] | undefined;
  readonly expiring: readonly Item[];
}): JSX.Element {
  const failed = usePage(`/api/resources/?${scoped('resources', { state: 'Erred', page_size: '10' })}`);
  const accounts = usePage(`/api/service-settings/?${scoped('service-settings', { state: 'Erred', page_size: '10' })}`);
  const alerts = usePage(`/api/alerts/?${scoped('alerts', { opened: 'true', o: '-severity', page_size: '10' })}`);
  const isLoading = [failed, accounts, alerts].some(({ value }) => value === undefined) || owners === undefined;
  const resources = failed.value?.items ?? [];
  const failedUrls = new Set(resources.map((item) => textOf(item, 'url')));
  const problems: Problem[] = [
    ...resources.map(resourceProblem),
    ...(accounts.value?.items ?? []).map(accountProblem),
    // A missing resource has an alert, too; one row is enough.
    ...(alerts.value?.items ?? []).filter((alert) => !failedUrls.has(textOf(alert, 'scope'))).map(alertProblem),
    ...(owners ?? []).flatMap(quotaProblems),
    ...expiring.map(roleProblem),
  ].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone) || (b.time ?? '').localeCompare(a.time ?? ''));
  return (
    <Card
      title={t('Needs attention')}
      count={problems.length}
      more={[hrefOf('/alerts/', { opened: 'true' }), t('All alerts')]}
      problem={failed.value?.problem ?? alerts.value?.problem}
      isLoading={isLoading}
      empty={!isLoading && problems.length === 0 ? <AllWell /> : undefined}
      isFlush
    >
      {!isLoading && (
        <ul class="lines even">
          {problems.slice(0, maxProblems).map(({ button, href, icon, key, sub, time, title, tone }) => (
            <li key={key}>
              <span class={`kind ${tone}`}>
                <Icon name={icon} />
              </span>
              <span class="words">
                <a href={href}>{title}</a>
                <span class="sub">{sub}</span>
              </span>
              <span class="end">
                {time !== undefined && <Time value={time} />}
                <a class="btn sm" href={href}>
                  {button}
                </a>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const AllWell = (): JSX.Element => (
  <ul class="lines">
    <li>
      <span class="kind good">
        <Icon name="good" />
      </span>
      <span class="words">
        <b>{t('Everything is fine.')}</b>
        <span class="sub">{t('No failed resources or accounts, no open alerts, no quota near its limit.')}</span>
      </span>
    </li>
  </ul>
);

const resourceProblem = (item: Item): Problem => {
  const { tone, word } = statusOf(item);
  return {
    key: textOf(item, 'url'),
    tone,
    icon: tone,
    title: `${nameOf(item)}: ${t(word)}`,
    sub: [
      t(kindOfType(textOf(item, 'resource_type')).word),
      textOf(item, 'project_name'),
      serverText(textOf(item, 'error_message')),
    ]
      .filter((text) => text !== '')
      .join(' · '),
    href: hrefOfLink(textOf(item, 'url')),
    button: t('Open'),
  };
};

const accountProblem = (item: Item): Problem => ({
  key: textOf(item, 'url'),
  tone: 'bad',
  icon: 'service-settings',
  title: t('{account} is unreachable', { account: nameOf(item) }),
  sub: serverText(textOf(item, 'error_message')),
  href: hrefOfLink(textOf(item, 'url')),
  button: t('Open'),
});

const alertProblem = (item: Item): Problem => {
  const scopeLink = textOf(item, 'scope');
  return {
    key: textOf(item, 'url'),
    tone: textOf(item, 'severity') === 'Error' ? 'bad' : 'warn',
    icon: 'warn',
    title: serverText(textOf(item, 'message')),
    sub: t('{severity} · open since {day}', {
      severity: t(textOf(item, 'severity')),
      day: dayText(textOf(item, 'created')),
    }),
    time: textOf(item, 'created'),
    href: hrefOfLink(isObjectLink(scopeLink) ? scopeLink : textOf(item, 'url')),
    button: t('Open'),
  };
};

function quotaProblems(owner: Item): Problem[] {
  return itemsIn(owner.quotas).flatMap((quota) => {
    const share = shareOf(quota) ?? 0;
    if (share < nearLimit) return [];
    const name = textOf(quota, 'name');
    const text = (value: unknown): string =>
      isQuotaInMebibytes(name) ? sizeText(Number(value)) : numberText(Number(value));
    return [
      {
        key: textOf(quota, 'url'),
        tone: share >= 1 ? ('bad' as const) : ('warn' as const),
        icon: 'statistics',
        title: t('{owner} uses {used} of {limit}: {quota}', {
          owner: nameOf(owner),
          used: text(quota.usage),
          limit: text(quota.limit),
          quota: quotaTitle(name),
        }),
        sub: share >= 1 ? t('Limit reached') : percentText(share),
        href: hrefOfLink(textOf(quota, 'url')),
        button: t('View quota'),
      },
    ];
  });
}

const roleProblem = (role: Item): Problem => ({
  key: textOf(role, 'url'),
  tone: 'idle',
  icon: 'busy',
  title: t('{person} loses access to {place}', {
    person: nameOf(role),
    place: textOf(role, 'project_name') || textOf(role, 'customer_name'),
  }),
  sub: phrase('{role} expires {time}', {
    role: t(textOf(role, 'role')),
    time: <Time value={textOf(role, 'expiration_time')} />,
  }),
  href: hrefOfLink(textOf(role, 'url')),
  button: t('Extend'),
});

/** Customers and projects with their quotas; undefined until they are read. */
function useOwners(): readonly Item[] | undefined {
  const fields = '&field=url&field=name&field=quotas&page_size=300';
  const { customer, project } = scope.value;
  const customers = usePage(`/api/customers/?${fields.slice(1)}`);
  const projects = usePage(`/api/projects/?${scoped('projects')}${fields}`);
  if (!customers.value || !projects.value) return undefined;
  const isHere = (link: string, wanted: string | undefined): boolean => wanted === undefined || link.includes(wanted);
  return [
    ...customers.value.items.filter((item) => !project && isHere(textOf(item, 'url'), customer?.uuid)),
    ...projects.value.items.filter((item) => isHere(textOf(item, 'url'), project?.uuid)),
  ];
}

/** Roles that expire soon, of the user and of everyone whose roles the user sees. */
function useExpiringRoles(): readonly Item[] {
  // Roles without an end come last in this order.
  const query = { o: '-expiration_time', page_size: '300' };
  const inCustomers = usePage(`/api/customer-permissions/?${scoped('customer-permissions', query)}`);
  const inProjects = usePage(`/api/project-permissions/?${scoped('project-permissions', query)}`);
  const until = new Date(Date.now() + expiringDays * dayMs).toISOString();
  return [...(inCustomers.value?.items ?? []), ...(inProjects.value?.items ?? [])]
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
  const { value: page } = usePage(`/api/projects/?${scoped('projects', { page_size: '5' })}`);
  const { value: failed } = usePage(
    `/api/resources/?${scoped('resources', { state: 'Erred', page_size: '300', field: 'project_uuid' })}`,
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
    `/api/user-invitations/?${scoped('user-invitations', { state: 'pending', page_size: '1' })}`,
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
