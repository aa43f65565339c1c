/** The page of a resource: configuration, contents, usage and events. */
import type { JSX } from 'preact';
import { type Item, itemsIn, listIn, pathOf, rankIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { isStaff } from '../api/session.ts';
import {
  Card,
  Empty,
  Fact,
  Facts,
  FieldFacts,
  isEmptyValue,
  Loading,
  QuotaMeters,
  shareOf,
} from '../components/card.tsx';
import { Code, CopyButton, Id } from '../components/copy.tsx';
import { Icon } from '../components/icons.tsx';
import { ListCard } from '../components/list-card.tsx';
import type { Tab } from '../components/page.tsx';
import { PostForm } from '../components/post.tsx';
import { StatusText } from '../components/status.tsx';
import { ObjectLink, Time } from '../components/values.tsx';
import { kindOfType } from '../format/kinds.ts';
import { joinedText, plainTitle, sizeText } from '../format/text.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { phrase, t, titleOf } from '../i18n/words.ts';
import { addressOf, ownValue } from '../item.ts';
import { Activity, eventsPath } from './events.tsx';
import { OtherFailures, useOtherFailures } from './failed.tsx';
import { creationTitle, isMachine, MachineParts, sizeWords } from './machine.tsx';
import { Availability, Usage } from './measured.tsx';
import { AccountFact } from './object.tsx';

/** The facts below the title of a resource: type, account, location and age. */
export function ResourceFacts({ resource }: { readonly resource: Item }): JSX.Element {
  const address = addressOf(resource);
  const [start, created] = ['start_time', 'created'].map((name) => textOf(resource, name));
  const size = Number(resource.size ?? 0);
  return (
    <>
      <span>{t(kindOfType(textOf(resource, 'resource_type')).word)}</span>
      <AccountFact item={resource} />
      {size > 0 && <span>{sizeText(size)}</span>}
      {textOf(resource, 'instance_name') !== '' && (
        <span>
          {phrase('Attached to {machine}', {
            machine: <a href={hrefOfLink(textOf(resource, 'instance'))}>{textOf(resource, 'instance_name')}</a>,
          })}
        </span>
      )}
      {address !== '' && <Code text={address} what={titleOf('ip_address')} />}
      <span>
        {start ? titleOf('start_time') : creationTitle(resource)} <Time value={start || created || ''} />
      </span>
    </>
  );
}

/** Returns the URL of a resource at its provider; empty if it has none. */
export const providerPage = (resource: Item): string => {
  const address = textOf(resource, 'web_url') || textOf(resource, 'access_url');
  return /^https?:\/\//.test(address) ? address : '';
};

/** The Overview of a resource. */
export function ResourceOverview({ resource }: { readonly resource: Item }): JSX.Element {
  const list = listIn(textOf(resource, 'url'));
  const inside = ownValue(contents(), list);
  const query = inside ? `${inside.filter}=${textOf(resource, 'uuid')}` : '';
  const { value: objects } = usePage(inside ? `/api/${inside.list}/?${query}&page_size=5` : '');
  const { value: events } = usePage(eventsPath(resource));
  const failed = useOtherFailures(resource);
  // Wait for everything: content that appears later would shift the page.
  if (!objects || !events || !failed) return <Loading />;
  const names = namesOf(resource);
  return (
    <div class="split">
      <div class="stack">
        {isMachine(resource) ? (
          <MachineParts machine={resource} />
        ) : (
          <>
            {list === 'openstack-tenants' && <Capacity cloud={resource} />}
            <Card title={t('Configuration')} empty={names.length === 0 ? t('Nothing more to show.') : undefined}>
              <FieldFacts item={resource} names={names} />
            </Card>
          </>
        )}
        {inside && (
          <ListCard
            title={inside.title}
            path={`/${inside.list}/`}
            query={query}
            empty={inside.empty}
            lines={inside.list === 'jira-issues' ? issueLines : sizedLines}
            firstPage={objects}
          />
        )}
        {list === 'gitlab-groups' && <GroupProjects group={resource} />}
        <Activity item={resource} firstPage={events} />
      </div>
      <div class="stack">
        <OtherFailures resources={failed} />
        <Usage resource={resource} />
        <Availability resource={resource} />
        <Identifiers resource={resource} />
        <SimulatorCard resource={resource} />
      </div>
    </div>
  );
}

/** Fields that come first, in this order. */
const leadingFields = ['description', 'size', 'instance', 'device', 'web_url', 'http_url_to_repo', 'ssh_url_to_repo'];

/** Returns the important fields of a resource that the page does not show elsewhere. */
function namesOf(resource: Item): readonly string[] {
  return Object.keys(resource)
    .filter(
      (name) =>
        (fieldLabel(name)?.placement === 'shown' || name.endsWith('_url_to_repo')) &&
        !isShownElsewhere(name) &&
        !isEmptyValue(resource[name]),
    )
    .sort((a, b) => rankIn(leadingFields, a) - rankIn(leadingFields, b));
}

/** Whether the header or another card shows a field. */
const isShownElsewhere = (name: string): boolean =>
  /^(name|state|runtime_state|error_message|is_simulated|resource_type|created|start_time|service.*|customer.*|project.*|min_ram|min_disk|quotas|sla|monitoring_items|related_resources)$/.test(
    name,
  );

/** Resources in a card, with size and address or age. */
const sizedLines = (items: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {items.map((item) => (
      <li key={textOf(item, 'url')}>
        <span class="words">
          <ObjectLink item={item} />
          <span class="sub">
            {isMachine(item) ? sizeWords(item) : sizeText(Number(item.size ?? 0))} ·{' '}
            {addressOf(item) || <Time value={textOf(item, 'created')} />}
          </span>
        </span>
        <span class="end">
          <StatusText item={item} />
        </span>
      </li>
    ))}
  </ul>
);

/** Issues in a card, with type, priority and assignee. */
const issueLines = (issues: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {issues.map((issue) => (
      <li key={textOf(issue, 'url')}>
        <span class="words">
          <a href={hrefOfLink(textOf(issue, 'url'))}>{textOf(issue, 'summary')}</a>
          <span class="sub">
            {joinedText(['key', 'type_name', 'priority_name', 'assignee_name'].map((name) => textOf(issue, name)))}
          </span>
        </span>
        <span class="end">{textOf(issue, 'status')}</span>
      </li>
    ))}
  </ul>
);

/** A list of objects that belong to a resource, and the filter that accepts its uuid. */
interface Contents {
  readonly title: string;
  readonly list: string;
  readonly filter: string;
  readonly empty: string;
}

/** Contents of resources by list. */
const contents = (): Readonly<Record<string, Contents>> => ({
  'openstack-tenants': {
    title: titleOf('vms'),
    list: 'openstack-instances',
    filter: 'tenant_uuid',
    empty: t('No virtual machines yet.'),
  },
  'openstack-volumes': {
    title: titleOf('snapshots'),
    list: 'openstack-snapshots',
    filter: 'source_volume_uuid',
    empty: t('No snapshots yet.'),
  },
  'openstack-snapshots': {
    title: titleOf('restorations'),
    list: 'openstack-volumes',
    filter: 'snapshot_uuid',
    empty: t('No volume was restored from it.'),
  },
  'jira-projects': {
    title: titleOf('jira-issues'),
    list: 'jira-issues',
    filter: 'jira_project_uuid',
    empty: t('No issues yet.'),
  },
});

/** Links from a private cloud to the lists of its contents, beside the tabs. */
export const cloudLinks = (cloud: Item): readonly Tab[] => [
  ...['openstack-instances', 'openstack-volumes', 'openstack-networks', 'openstack-security-groups'].map((list) =>
    linkTo(list, cloud),
  ),
  linkTo('openstack-floating-ips', cloud),
];

/** The quotas that count the objects of a private cloud, by list. */
const quotaOfList: Readonly<Record<string, string>> = {
  'openstack-instances': 'instances',
  'openstack-volumes': 'volumes',
  'openstack-networks': 'network_count',
  'openstack-security-groups': 'security_group_count',
  'openstack-floating-ips': 'floating_ip_count',
};

const linkTo = (list: string, cloud: Item): Tab => ({
  href: hrefOf(`/${list}/`, { tenant_uuid: textOf(cloud, 'uuid') }),
  title: plainTitle(list),
  count: Number(itemsIn(cloud.quotas).find(({ name }) => name === ownValue(quotaOfList, list))?.usage ?? 0),
  isCurrent: false,
});

/** Quotas of a private cloud that come first. */
const leadingQuotas = ['vcpu', 'ram', 'storage', 'instances', 'volumes', 'floating_ip_count'];

/** The quotas of a private cloud. */
function Capacity({ cloud }: { readonly cloud: Item }): JSX.Element | null {
  const rank = (quota: Item): number => rankIn(leadingQuotas, textOf(quota, 'name'));
  const quotas = [...itemsIn(cloud.quotas)].sort(
    (a, b) => rank(a) - rank(b) || (shareOf(b) ?? -1) - (shareOf(a) ?? -1),
  );
  if (quotas.length === 0) return null;
  return <QuotaMeters title={t('Quotas')} quotas={quotas} shown={leadingQuotas.length} />;
}

/** The repositories of a GitLab group. */
function GroupProjects({ group }: { readonly group: Item }): JSX.Element {
  const projects = itemsIn(group.projects);
  return (
    <Card
      title={titleOf('gitlab-projects')}
      count={projects.length}
      empty={projects.length === 0 ? <Empty icon="repository" small title={t('No projects yet.')} /> : undefined}
      isFlush
    >
      <ul class="lines">
        {projects.map((project) => (
          <li key={textOf(project, 'url')}>
            <Icon name="repository" />
            <span class="words">
              <ObjectLink item={project} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The ids of a resource here and at its provider, and its API URL. */
const Identifiers = ({ resource }: { readonly resource: Item }): JSX.Element => {
  const url = textOf(resource, 'url');
  return (
    <Card title={t('Identifiers')}>
      <Facts>
        {['uuid', 'backend_id'].map((name) => (
          <Fact key={name} label={titleOf(name)}>
            {textOf(resource, name) === '' ? (
              <span class="none">{t('None')}</span>
            ) : (
              <Id id={textOf(resource, name)} what={titleOf(name)} />
            )}
          </Fact>
        ))}
        <Fact label={t('API URL')}>
          <a href={hrefOf('/all/', { path: pathOf(url) })}>{t('Open in explorer')}</a>
          <CopyButton text={url} what={t('API URL')} />
        </Fact>
      </Facts>
    </Card>
  );
};

/** Changes a simulated resource at its provider, as another client of the provider would. */
function SimulatorCard({ resource }: { readonly resource: Item }): JSX.Element | null {
  if (resource.is_simulated !== true || !isStaff.value) return null;
  return (
    <Card title={t('Simulator')}>
      <PostForm
        title={t('Change at the provider')}
        path="/api/simulator/drift/"
        initialValues={{ resource: textOf(resource, 'url') }}
        done={async () => undefined}
      />
    </Card>
  );
}
