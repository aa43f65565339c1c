/** The page of a customer or project: problems, quotas, projects or resources, usage and activity; team and facts beside them. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, useList, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { type Scope, scopedQuery, scopeObject } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { Card, Empty, FieldFacts, Loading, Meters, nearLimit, shareOf, Tile } from '../components/card.tsx';
import { fieldColumn, genericColumns } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import type { Tab } from '../components/page.tsx';
import { Badge, StatusText } from '../components/status.tsx';
import { Table } from '../components/table.tsx';
import { Face, nameOf, ObjectLink, roleIn, Time, Value } from '../components/values.tsx';
import { percentText, quotaTitle } from '../format/text.ts';
import { numberText, phrase, plural, t, titleOf } from '../i18n/words.ts';
import { Attention, useExpiringRoles, useProblems, works } from './attention.tsx';
import { EventTimeline } from './events.tsx';
import type { ObjectRecipe } from './object.tsx';
import { Projects, usageOf } from './projects.tsx';
import { guide, mayAddAccounts } from './provider-guide.tsx';
import { maker } from './resources.tsx';
import { serviceAccountsTab } from './service-accounts.tsx';
import { UsageTimeline } from './statistics.tsx';
import { isTeamOpen, TeamButtons, teamTab } from './team.tsx';

type Kind = 'customer' | 'project';

/** What is shown of a customer and of a project. */
export const organisation = (kind: Kind): ObjectRecipe => ({
  overview: (item) => <Overview item={item} kind={kind} />,
  facts: (item) => (kind === 'customer' ? <CustomerFacts customer={item} /> : <ProjectFacts project={item} />),
  badge: (item) => <Health item={item} kind={kind} />,
  buttons: (item) => (isTeamOpen() ? <TeamButtons item={item} kind={kind} /> : <Buttons item={item} kind={kind} />),
  links: (item) => linksOf(item, kind),
  tabs: [teamTab(kind), serviceAccountsTab(kind)],
  get detailsTitle() {
    return t('Settings');
  },
});

const withinOf = (item: Item, kind: Kind): Scope =>
  kind === 'customer'
    ? { customer: scopeObject(item) }
    : {
        customer: {
          uuid: textOf(item, 'customer_uuid'),
          url: textOf(item, 'customer'),
          name: textOf(item, 'customer_name'),
        },
        project: scopeObject(item),
      };

/** The lists of what is in the customer or project, with their counts. */
function linksOf(item: Item, kind: Kind): readonly Tab[] {
  const uuid = textOf(item, 'uuid');
  const link = (title: string, href: string, quota = ''): Tab => ({
    href,
    title,
    count: usageOf(item, quota),
    isCurrent: false,
  });
  return [
    ...(kind === 'customer'
      ? [link(titleOf('projects'), hrefOf('/projects/', { customer: uuid }), 'nc_project_count')]
      : []),
    link(titleOf('resources'), hrefOf('/resources/', { [`${kind}_uuid`]: uuid }), 'nc_resource_count'),
    link(
      titleOf('service-settings'),
      hrefOf('/services/', { [`${kind}_uuid`]: uuid }),
      kind === 'customer' ? 'nc_service_count' : 'nc_service_project_link_count',
    ),
    link(t('Activity'), hrefOf('/events/', { scope: textOf(item, 'url') })),
  ];
}

/** The worst problem, beside the name. */
function Health({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element | null {
  const query = { state: 'Erred', page_size: '1', field: 'url', [`${kind}_uuid`]: textOf(item, 'uuid') };
  const { value: failed } = usePage(`/api/resources/?${new URLSearchParams(query)}`);
  const count = failed?.count ?? 0;
  if (count > 0)
    return <Badge tone="bad">{plural(count, '{count} failed resource', '{count} failed resources')}</Badge>;
  const [fullest] = byShare(itemsIn(item.quotas));
  const share = fullest && shareOf(fullest);
  return share !== undefined && share >= nearLimit ? (
    <Badge tone={share >= 1 ? 'bad' : 'warn'}>
      {quotaTitle(textOf(fullest ?? {}, 'name'))} {percentText(share)}
    </Badge>
  ) : null;
}

/** The quotas that most users look for, of those without a limit. */
const wantedQuotas = [
  'nc_vm_count',
  'nc_storage_count',
  'nc_volume_size',
  'nc_private_cloud_count',
  'nc_project_count',
  'nc_app_count',
];

/** Quotas, the fullest first, those without a limit last. */
function byShare(quotas: readonly Item[]): readonly Item[] {
  const rank = (quota: Item): number => {
    const at = wantedQuotas.indexOf(textOf(quota, 'name'));
    return at < 0 ? wantedQuotas.length : at;
  };
  return [...quotas].sort((a, b) => (shareOf(b) ?? -1) - (shareOf(a) ?? -1) || rank(a) - rank(b));
}

const Since = ({ item }: { readonly item: Item }): JSX.Element => (
  <span>
    {titleOf('created')} <Time value={textOf(item, 'created')} />
  </span>
);

const CustomerFacts = ({ customer }: { readonly customer: Item }): JSX.Element => (
  <>
    {['native_name', 'abbreviation']
      .filter((name) => textOf(customer, name) !== '')
      .map((name) => (
        <span key={name}>{textOf(customer, name)}</span>
      ))}
    {textOf(customer, 'country') !== '' && (
      <span>
        <Value name="country" value={customer.country} item={customer} />
      </span>
    )}
    {textOf(customer, 'email') !== '' && (
      <span>
        <a href={`mailto:${textOf(customer, 'email')}`}>{textOf(customer, 'email')}</a>
      </span>
    )}
    <Since item={customer} />
  </>
);

const ProjectFacts = ({ project }: { readonly project: Item }): JSX.Element => (
  <>
    {textOf(project, 'description') !== '' && <span>{textOf(project, 'description')}</span>}
    <Since item={project} />
  </>
);

function Buttons({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const [invitations, projects] = ['user-invitations', 'projects'].map((list) => collections.value.get(list));
  const given = { [kind]: textOf(item, 'url') };
  return (
    <>
      {/* The page shows the invitation. */}
      {invitations && (
        <Creation collection={invitations} given={given} button={t('Invite')} onCreated={async () => undefined} />
      )}
      {kind === 'customer' && projects && (
        <Creation collection={projects} given={given} button={t('New project')} isPrimary />
      )}
      {kind === 'project' && works() && (
        <a class="btn primary" href={hrefOf(maker)}>
          <Icon name="create" />
          {t('Create')}
        </a>
      )}
    </>
  );
}

/** The number of quotas that are shown at once. */
const shownQuotas = 6;

function Overview({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const uuid = textOf(item, 'uuid');
  const within = withinOf(item, kind);
  const projects = usePage(
    kind === 'customer' ? `/api/projects/?customer=${uuid}&field=url&field=name&field=quotas&page_size=300` : '',
  );
  const owners = projects.value && [item, ...projects.value.items];
  const problems = useProblems(owners, useExpiringRoles(within), within);
  const quotas = byShare(itemsIn(item.quotas));
  // Problems come first: content below them would move when they arrive.
  if (!problems) return <Loading />;
  return (
    <div class="stack">
      {problems.problems.length > 0 && (
        <Attention {...problems} more={hrefOf('/alerts/', { opened: 'true', aggregate: kind, uuid })} />
      )}
      {kind === 'project' && <Counters uuid={uuid} />}
      <div class="split">
        <div class="stack">
          <Card title={t('Quotas')}>
            <Meters quotas={quotas.slice(0, shownQuotas)} />
            {quotas.length > shownQuotas && (
              <details class="fold">
                <summary>
                  <Icon name="next" />
                  {t('All quotas')}
                </summary>
                <Meters quotas={quotas.slice(shownQuotas)} />
              </details>
            )}
          </Card>
          {kind === 'customer' && <Projects within={within} />}
          <Listing
            title={t('Resources')}
            path="/resources/"
            query={`${kind}_uuid=${uuid}`}
            empty={t('No resources yet.')}
            lines={(resources) => <ResourceTable resources={resources} kind={kind} />}
          />
          <UsageTimeline aggregate={kind} uuid={uuid} />
          <Listing
            title={t('Activity')}
            path="/events/"
            query={new URLSearchParams({ scope: textOf(item, 'url') }).toString()}
            empty={t('Nothing has happened yet.')}
            lines={(events) => <EventTimeline events={events} />}
          />
        </div>
        <div class="stack">
          <Team kind={kind} uuid={uuid} />
          {kind === 'customer' ? (
            <Card title={t('Company')} more={[hrefOf(`/customers/${uuid}/`, { tab: 'details' }), t('Settings')]}>
              <FieldFacts item={item} names={companyFields} />
            </Card>
          ) : (
            <Accounts project={item} />
          )}
          <PendingInvitations query={scopedQuery('user-invitations', { state: 'pending' }, within)} />
        </div>
      </div>
    </div>
  );
}

/** Resources with type, status and size; those of a customer with their projects. */
const ResourceTable = ({
  resources,
  kind,
}: {
  readonly resources: readonly Item[];
  readonly kind: Kind;
}): JSX.Element => (
  <Table
    items={resources}
    columns={[
      ...genericColumns(resources, [], false).filter(({ key }) => ['name', 'state', 'size'].includes(key)),
      ...(kind === 'customer' ? [fieldColumn('project_name')] : []),
    ]}
  />
);

const companyFields = ['contact_details', 'phone_number', 'agreement_number', 'registration_code', 'vat_code'] as const;

/** The provider accounts that a project uses; without any, the guide that adds one. */
function Accounts({ project }: { readonly project: Item }): JSX.Element {
  const services = itemsIn(project.services);
  return (
    <Card
      title={t('Connected providers')}
      empty={
        services.length === 0 ? (
          <Empty
            icon="service-settings"
            small
            title={t('No provider account yet.')}
            actions={
              mayAddAccounts() && (
                <a class="btn sm" href={hrefOf(guide, { customer: textOf(project, 'customer') })}>
                  {t('Connect')}
                </a>
              )
            }
          />
        ) : undefined
      }
      isFlush
    >
      <ul class="lines">
        {services.map((service) => (
          <li key={textOf(service, 'url')}>
            <span class="words">
              <a href={hrefOfLink(textOf(service, 'settings') || textOf(service, 'url'))}>{nameOf(service)}</a>
              <span class="sub">
                {textOf(service, 'type')}
                {service.shared === true && ` · ${t('Shared')}`}
              </span>
            </span>
            <span class="end">
              <StatusText item={service} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Invitations that were not accepted yet; nothing without any. */
function PendingInvitations({ query }: { readonly query: string }): JSX.Element | null {
  const { value: page } = usePage(`/api/user-invitations/?${query}&page_size=1&field=url`);
  if (!page?.count) return null;
  return (
    <Listing
      title={t('Pending invitations')}
      path="/user-invitations/"
      query={query}
      empty={t('No pending invitations.')}
    />
  );
}

const tiles = ['vms', 'storages', 'private_clouds', 'apps'] as const;

/** The number of resources of each category. */
function Counters({ uuid }: { readonly uuid: string }): JSX.Element | null {
  const { value: response } = useGet(
    () => api.GET('/api/projects/{key}/counters/', { params: { path: { key: uuid } } }),
    [uuid],
  );
  if (response && !response.isOk) return null;
  const counts: Item = response?.body ?? {};
  return (
    <div class="tiles">
      {tiles.map((name) => (
        <Tile
          key={name}
          label={titleOf(name)}
          value={response ? numberText(Number(counts[name] ?? 0)) : '–'}
          href={hrefOf('/resources/', { category: name, project_uuid: uuid })}
        />
      ))}
    </div>
  );
}

/** The number of members that are shown; the tab Team has all. */
const shownMembers = 5;

function Team({ kind, uuid }: { readonly kind: Kind; readonly uuid: string }): JSX.Element {
  const params = { path: { key: uuid }, query: { page_size: shownMembers } };
  const { value: page } = useList(() => api.GET(`/api/${kind}s/{key}/users/` as const, { params }), [kind, uuid]);
  return (
    <Card
      title={t('Team')}
      count={page && page.count > shownMembers ? page.count : undefined}
      more={hrefOf(`/${kind}s/${uuid}/`, { tab: 'team' })}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('No roles yet.') : undefined}
      isFlush
    >
      <ul class="lines">
        {page?.items.map((member) => (
          <li key={textOf(member, 'url')}>
            <Face name={nameOf(member)} />
            <span class="words">
              <ObjectLink item={member} />
              <span class="sub">{rolesOf(member).join(', ')}</span>
            </span>
            {textOf(member, 'expiration_time') !== '' && (
              <span class="end">
                {phrase('until {time}', { time: <Time value={textOf(member, 'expiration_time')} /> })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The roles of a member here and in the projects below. */
const rolesOf = (member: Item): string[] => [
  ...(textOf(member, 'role') !== '' ? [titleOf(textOf(member, 'role'))] : []),
  ...itemsIn(member.projects).map((project) => roleIn(textOf(project, 'role'), textOf(project, 'name'))),
];
