/** The page of a customer or project: problems, quotas, projects or resources, usage, activity, team and facts. */
import type { JSX } from 'preact';
import { type Item, itemsIn, type Page, rankIn, request, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useList, usePage, useReading } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { type Scope, scopedQuery, scopeObject } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { rowActions } from '../components/actions.tsx';
import { Card, Empty, FieldFacts, Loading, Tile } from '../components/card.tsx';
import { addressColumn, genericColumns } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { ListCard } from '../components/list-card.tsx';
import type { Tab } from '../components/page.tsx';
import { Badge, StatusText } from '../components/status.tsx';
import { Table } from '../components/table.tsx';
import { Avatar, nameOf, ObjectLink, roleIn, Time, Value } from '../components/values.tsx';
import { runningStates } from '../format/status.ts';
import { sizeText } from '../format/text.ts';
import { numberText, phrase, t, titleOf } from '../i18n/words.ts';
import { Attention, canManageResources, expiresSoon, useExpiringRoles, useProblems } from './attention.tsx';
import { Activity, eventsPath } from './events.tsx';
import { Invite } from './invite.tsx';
import { newResourcePath } from './new-resource.tsx';
import { activityTab, type ObjectRecipe } from './object.tsx';
import { Projects, usageOf, useHealth } from './projects.tsx';
import { guide, mayAddAccounts } from './provider-guide.tsx';
import { CustomerQuotas, ProjectLimits, quotasTab, useAmounts, useClouds } from './quotas.tsx';
import { UsageTimeline } from './statistics.tsx';
import { isTeamOpen, TeamButtons, teamTab } from './team.tsx';

type Kind = 'customer' | 'project';

/** Returns the recipe of customers or projects. */
export const organisation = (kind: Kind): ObjectRecipe => ({
  overview: (item) => <Overview item={item} kind={kind} />,
  facts: (item) => (kind === 'customer' ? <CustomerFacts customer={item} /> : <ProjectFacts project={item} />),
  badge: (item) => <Health item={item} kind={kind} />,
  buttons: (item) => (isTeamOpen() ? <TeamButtons item={item} kind={kind} /> : <Buttons item={item} kind={kind} />),
  firstLinks: (item) => firstLinksOf(item, kind),
  links: () => [],
  tabs: [teamTab(kind, (item) => [accountsLink(item, kind)]), quotasTab(kind), activityTab],
  detailsTitle: () => t('Settings'),
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

const linkOf = (item: Item, title: string, href: string, quota: string): Tab => ({
  href,
  title,
  count: usageOf(item, quota),
  isCurrent: false,
});

/** Links to the lists of a customer's or project's objects, with their counts. */
function firstLinksOf(item: Item, kind: Kind): readonly Tab[] {
  const uuid = textOf(item, 'uuid');
  return [
    ...(kind === 'customer'
      ? [linkOf(item, titleOf('projects'), hrefOf('/projects/', { customer: uuid }), 'nc_project_count')]
      : []),
    linkOf(item, titleOf('resources'), hrefOf('/resources/', { [`${kind}_uuid`]: uuid }), 'nc_resource_count'),
  ];
}

const accountsLink = (item: Item, kind: Kind): Tab =>
  linkOf(
    item,
    titleOf('service-settings'),
    hrefOf('/services/', { [`${kind}_uuid`]: textOf(item, 'uuid') }),
    kind === 'customer' ? 'nc_service_count' : 'nc_service_project_link_count',
  );

/** The problems, beside the name. */
const Health = ({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element => (
  <>{useHealth(kind, withinOf(item, kind), Badge)(item)}</>
);

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
        <Icon name="place" size="sm" />
        <Value name="country" value={customer.country} item={customer} />
      </span>
    )}
    {textOf(customer, 'email') !== '' && (
      <span>
        <Icon name="user-invitations" size="sm" />
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
  const projects = collections.value.get('projects');
  return (
    <>
      {/* The page shows the invitation. */}
      <Invite item={item} kind={kind} onCreated={async () => undefined} />
      {kind === 'customer' && projects && (
        <Creation collection={projects} fixed={{ customer: textOf(item, 'url') }} button={t('New project')} isPrimary />
      )}
      {kind === 'project' && canManageResources() && (
        <a class="btn primary" href={hrefOf(newResourcePath)}>
          <Icon name="create" />
          {t('Create')}
        </a>
      )}
    </>
  );
}

function Overview({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const uuid = textOf(item, 'uuid');
  const within = withinOf(item, kind);
  const projects = usePage(
    kind === 'customer' ? `/api/projects/?customer=${uuid}&field=url&field=name&field=quotas&page_size=300` : '',
  );
  const clouds = useClouds(`${kind}_uuid=${uuid}`);
  const owners = projects.value && [item, ...projects.value.items, ...(clouds ?? [])];
  const problems = useProblems(owners, useExpiringRoles(within), within);
  const sums = useAmounts(kind, uuid);
  const team = useTeam(kind, uuid);
  const events = usePage(eventsPath(item));
  const resources = usePage(kind === 'project' ? `/api/resources/?project_uuid=${uuid}&page_size=5` : '');
  const counts = useCounts(kind === 'project' ? uuid : '');
  // Wait for everything: content that appears later would shift the page.
  if (!problems || !sums || !team || !events.value || !resources.value || !counts) return <Loading />;
  const own = { customer_name: within.customer?.name, project_name: within.project?.name };
  return (
    <div class="stack">
      {problems.problems.length > 0 && (
        <Attention {...problems} more={hrefOf('/alerts/', { opened: 'true', aggregate: kind, uuid })} />
      )}
      {kind === 'project' && <Counters project={item} counts={counts} />}
      <div class="split">
        <div class="stack">
          {kind === 'customer' ? (
            <>
              <CustomerQuotas customer={item} sums={sums} />
              <Projects within={within} />
            </>
          ) : (
            <ListCard
              title={t('Resources')}
              path="/resources/"
              query={`project_uuid=${uuid}`}
              empty={t('No resources yet.')}
              all={t('All resources')}
              firstPage={resources.value}
              lines={(resources) => <ResourceTable resources={resources} />}
            />
          )}
          <UsageTimeline aggregate={kind} uuid={uuid} sums={sums} />
          <Activity item={item} within={own} firstPage={events.value} />
        </div>
        <div class="stack">
          {kind === 'project' && <ProjectLimits project={item} sums={sums} clouds={clouds ?? []} />}
          <Team kind={kind} uuid={uuid} page={team} />
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

/** Resources of a project with type, status, size and address. */
const ResourceTable = ({ resources }: { readonly resources: readonly Item[] }): JSX.Element => (
  <Table
    items={resources}
    columns={[
      ...genericColumns(resources, [], false).filter(({ key }) => ['name', 'state', 'size'].includes(key)),
      { ...addressColumn(), class: 'muted gone cut' },
    ]}
    {...(canManageResources() && { actions: rowActions })}
  />
);

const companyFields = ['contact_details', 'phone_number', 'agreement_number', 'registration_code', 'vat_code'] as const;

/** The provider accounts of a project, or a link to the guide that adds one. */
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

/** Pending invitations. Renders nothing if there are none. */
function PendingInvitations({ query }: { readonly query: string }): JSX.Element | null {
  const { value: page } = usePage(`/api/user-invitations/?${query}&page_size=1&field=url`);
  if (!page?.count) return null;
  return (
    <ListCard
      title={t('Pending invitations')}
      path="/user-invitations/"
      query={query}
      empty={t('No pending invitations.')}
    />
  );
}

/** Reads a project's numbers of resources by category and of running machines; nothing for an empty uuid. */
function useCounts(uuid: string): Item | undefined {
  const { value: counts } = useReading(`counts ${uuid}`, async (): Promise<Item> => {
    if (uuid === '') return {};
    const { body, isOk } = await request<Item>('GET', `/api/projects/${uuid}/counters/`);
    return isOk ? body : {};
  });
  const query = new URLSearchParams({ project_uuid: uuid, category: 'vms', state: 'OK', page_size: '1', field: 'url' });
  for (const state of runningStates) query.append('runtime_state', state);
  const { value: machines } = usePage(uuid === '' ? '' : `/api/resources/?${query}`);
  return counts && machines && { ...counts, running: machines.count };
}

/** Tiles with the number of resources in each category and its most important detail. */
function Counters({ project, counts }: { readonly project: Item; readonly counts: Item }): JSX.Element {
  const uuid = textOf(project, 'uuid');
  const units: Readonly<Record<string, string | undefined>> = {
    vms: t('{count} running', { count: numberText(Number(counts.running)) }),
    storages: sizeText(usageOf(project, 'nc_volume_size') ?? 0),
  };
  return (
    <div class="tiles">
      {tiles.map(([name, icon]) => (
        <Tile
          key={name}
          label={titleOf(name)}
          icon={icon}
          value={numberText(Number(counts[name] ?? 0))}
          unit={Number(counts[name] ?? 0) > 0 ? units[name] : undefined}
          href={hrefOf('/resources/', { category: name, project_uuid: uuid })}
        />
      ))}
    </div>
  );
}

/** The categories of resources with their icons. */
const tiles = [
  ['vms', 'machine'],
  ['storages', 'volume'],
  ['private_clouds', 'cloud'],
  ['apps', 'application'],
] as const;

/** Number of members listed by name. The others appear as initials; the tab Team has everyone. */
const shownMembers = 4;
const shownFaces = 5;

/** Reads the members; undefined until loaded. */
function useTeam(kind: Kind, uuid: string): Page | undefined {
  const params = { path: { key: uuid }, query: { page_size: 100 } };
  return useList(() => api.GET(`/api/${kind}s/{key}/users/` as const, { params }), [kind, uuid]).value;
}

/** Roles by decreasing rights. Members with only project roles come last. */
const ranks = ['owner', 'manager', 'admin', 'support'];

const rankOf = (member: Item): number => rankIn(ranks, textOf(member, 'role'));

function Team({ kind, uuid, page }: { readonly kind: Kind; readonly uuid: string; readonly page: Page }): JSX.Element {
  const members = [...page.items].sort((a, b) => rankOf(a) - rankOf(b));
  const named = members.slice(0, shownMembers);
  const others = members.slice(shownMembers);
  const href = hrefOf(`/${kind}s/${uuid}/`, { tab: 'team' });
  return (
    <Card
      title={t('Team')}
      count={page.count}
      more={[href, t('Manage')]}
      problem={page.problem}
      empty={page.count === 0 ? t('No roles yet.') : undefined}
      isFlush
    >
      <ul class="lines">
        {named.map((member) => (
          <li key={textOf(member, 'url')}>
            <Avatar name={nameOf(member)} />
            <span class="words">
              <ObjectLink item={member} />
              <span class="sub">{rolesOf(member).join(', ')}</span>
            </span>
            {textOf(member, 'expiration_time') !== '' && (
              <span class="end">
                {expiresSoon(member) ? (
                  <Badge tone="warn" icon="busy">
                    <Time value={textOf(member, 'expiration_time')} />
                  </Badge>
                ) : (
                  phrase('until {time}', { time: <Time value={textOf(member, 'expiration_time')} /> })
                )}
              </span>
            )}
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <span class="row tight" aria-hidden="true">
              {others.slice(0, shownFaces).map((member) => (
                <Avatar key={textOf(member, 'url')} name={nameOf(member)} />
              ))}
            </span>
            <span class="end">
              <a href={href}>{t('{count} more', { count: numberText(page.count - named.length) })}</a>
            </span>
          </li>
        )}
      </ul>
    </Card>
  );
}

/** Returns the roles of a member here and in nested projects. */
const rolesOf = (member: Item): string[] => [
  ...(textOf(member, 'role') !== '' ? [titleOf(textOf(member, 'role'))] : []),
  ...itemsIn(member.projects).map((project) => roleIn(titleOf(textOf(project, 'role')), textOf(project, 'name'))),
];
