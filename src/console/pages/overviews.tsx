/** What people want to see first of a customer and of a project. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, useList } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Creation } from '../components/creation.tsx';
import { ObjectLink, Part, Quotas, roleIn, Time } from '../components/shown.tsx';
import { numberText, phrase, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { EventLines } from './events.tsx';
import { Listing } from './home.tsx';
import { Deliveries } from './hooks.tsx';
import { BackupContent } from './operation.tsx';
import { PersonOverview } from './person.tsx';
import { AccountOverview } from './providers.tsx';
import { ResourceOverview } from './resources.tsx';
import { QuotaHistory, Timeline } from './statistics.tsx';

/** What stands above the fields of an object, by the list it is in. */
export function overviewOf(list: string, item: Item, reload: () => Promise<void>): ComponentChildren {
  const own = ownValue(overviews, list);
  if (own) return own(item, reload);
  return textOf(item, 'service_project_link') !== '' ? <ResourceOverview resource={item} /> : undefined;
}

const overviews: Readonly<Record<string, (item: Item, reload: () => Promise<void>) => ComponentChildren>> = {
  customers: (item) => <Overview item={item} kind="customer" />,
  projects: (item) => <Overview item={item} kind="project" />,
  users: (item) => <PersonOverview user={item} />,
  quotas: (item) => <QuotaHistory quota={item} />,
  'service-settings': (item) => <AccountOverview settings={item} />,
  backups: (item) => <BackupContent backup={item} />,
  'hooks-web': (item) => <Deliveries hook={item} />,
};

function Overview({ item, kind }: { readonly item: Item; readonly kind: 'customer' | 'project' }): JSX.Element {
  const uuid = textOf(item, 'uuid');
  const url = textOf(item, 'url');
  const about = new URLSearchParams({ scope: url });
  const create = (list: string, button: string): JSX.Element | null => {
    const collection = collections.value.get(list);
    return collection ? <Creation collection={collection} given={{ [kind]: url }} button={button} /> : null;
  };
  return (
    <>
      <Counters kind={kind} uuid={uuid} />
      <div class="buttons start">
        {kind === 'customer' && create('projects', t('Create a project'))}
        {create('user-invitations', t('Invite somebody'))}
        {create(`${kind}-permissions`, t('Give a role'))}
      </div>
      <div class="parts">
        <Part title={t('Quotas')}>
          <Quotas quotas={itemsIn(item.quotas)} />
        </Part>
        <Team kind={kind} uuid={uuid} />
        {kind === 'customer' && (
          <Listing
            title={t('Projects')}
            path="/projects/"
            query={`customer=${uuid}`}
            empty={t('It has no projects yet.')}
          />
        )}
        <Listing
          title={t('Resources')}
          path="/resources/"
          query={`${kind}_uuid=${uuid}`}
          empty={t('It has no resources yet.')}
        />
        <Listing
          title={t('Open alerts')}
          path="/alerts/"
          query={`opened=true&aggregate=${kind}&uuid=${uuid}`}
          empty={t('No alert is open.')}
        />
        <Listing
          title={t('Pending invitations')}
          path="/user-invitations/"
          query={`state=pending&${kind}=${uuid}`}
          empty={t('No invitation waits for an answer.')}
        />
      </div>
      <Timeline aggregate={kind} uuid={uuid} />
      <Listing
        title={t('Events')}
        path="/events/"
        query={about.toString()}
        empty={t('Nothing has happened yet.')}
        lines={(events) => <EventLines events={events} />}
      />
    </>
  );
}

/** Where people work together. */
interface Place {
  readonly kind: 'customer' | 'project';
  readonly uuid: string;
}

/** How many of what there are. */
function Counters({ kind, uuid }: Place): JSX.Element | null {
  const { value: answer } = useGet(
    () => api.GET(`/api/${kind}s/{key}/counters/` as const, { params: { path: { key: uuid } } }),
    [kind, uuid],
  );
  if (!answer?.isOk) return null;
  const counts = Object.entries(answer.body).filter(([, count]) => typeof count === 'number');
  return (
    <dl class="counters">
      {counts.map(([name, count]) => (
        <div key={name}>
          <dt>{titleOf(name)}</dt>
          <dd>{numberText(Number(count))}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Who has which role. */
function Team({ kind, uuid }: Place): JSX.Element {
  const params = { path: { key: uuid }, query: { page_size: 10 } };
  const { value: page } = useList(() => api.GET(`/api/${kind}s/{key}/users/` as const, { params }), [kind, uuid]);
  return (
    <Part
      title={t('Team')}
      more={hrefOf(`/${kind}s/${uuid}/team/`)}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nobody has a role here yet.') : undefined}
    >
      <ul class="lines">
        {page?.items.map((member) => (
          <li key={textOf(member, 'url')}>
            <ObjectLink item={member} />
            <span>{rolesOf(member).join(', ')}</span>
            {textOf(member, 'expiration_time') !== '' && (
              <span>{phrase('until {time}', { time: <Time value={textOf(member, 'expiration_time')} /> })}</span>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The roles of a member here and in the projects below. */
const rolesOf = (member: Item): string[] => [
  ...(textOf(member, 'role') !== '' ? [t(textOf(member, 'role'))] : []),
  ...itemsIn(member.projects).map((project) => roleIn(textOf(project, 'role'), textOf(project, 'name'))),
];
