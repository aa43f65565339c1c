/** The overview of an object by its list. To add a page, add a recipe here. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import type { Collection } from '../api/document.ts';
import { useGet, useList } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Card, Meters, Tile } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { Listing } from '../components/listing.tsx';
import { Face, nameOf, ObjectLink, roleIn, Time } from '../components/values.tsx';
import { numberText, phrase, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { EventTimeline } from './events.tsx';
import { Deliveries } from './hooks.tsx';
import { isMachine, MachineOverview } from './machine.tsx';
import type { ObjectRecipe } from './object.tsx';
import { BackupContent } from './operation.tsx';
import { PersonOverview } from './person.tsx';
import { AccountOverview, LastSync } from './providers.tsx';
import { ResourceFacts, ResourceOverview } from './resources.tsx';
import { Measurements, QuotaHistory, UsageTimeline } from './statistics.tsx';

/** Returns the recipe of the objects of a list. */
export function recipeOf(collection: Collection): ObjectRecipe {
  const own = ownValue(recipes, collection.name);
  if (own) return own;
  return collection.filters.some(({ name }) => name === 'runtime_state') ? resource : {};
}

const resource: ObjectRecipe = {
  overview: (item) => (isMachine(item) ? <MachineOverview machine={item} /> : <ResourceOverview resource={item} />),
  facts: (item) => <ResourceFacts resource={item} />,
  tabs: [
    {
      name: 'monitoring',
      // Read with each page: the language may change.
      get title() {
        return t('Monitoring');
      },
      isShown: isMachine,
      content: (item) => (
        <div class="stack">
          <Measurements resource={item} />
        </div>
      ),
    },
  ],
};

const recipes: Readonly<Record<string, ObjectRecipe>> = {
  customers: {
    overview: (item) => <Overview item={item} kind="customer" />,
    buttons: (item) => <OverviewButtons item={item} kind="customer" />,
  },
  projects: {
    overview: (item) => <Overview item={item} kind="project" />,
    buttons: (item) => <OverviewButtons item={item} kind="project" />,
  },
  users: { overview: (item) => <PersonOverview user={item} /> },
  quotas: { overview: (item) => <QuotaHistory quota={item} /> },
  'service-settings': {
    overview: (item) => <AccountOverview settings={item} />,
    facts: (item) => (
      <>
        <span>{textOf(item, 'type')}</span>
        {item.shared === true && <span>{titleOf('shared')}</span>}
        <LastSync uuid={textOf(item, 'uuid')} state={textOf(item, 'state')} />
      </>
    ),
  },
  backups: { overview: (item) => <BackupContent backup={item} /> },
  'hooks-web': { overview: (item) => <Deliveries hook={item} /> },
};

function OverviewButtons({ item, kind }: { readonly item: Item; readonly kind: 'customer' | 'project' }): JSX.Element {
  const create = (list: string, button: string, isPrimary = false): JSX.Element | null => {
    const collection = collections.value.get(list);
    return collection ? (
      <Creation collection={collection} given={{ [kind]: textOf(item, 'url') }} button={button} isPrimary={isPrimary} />
    ) : null;
  };
  return (
    <>
      {create('user-invitations', t('Invite'))}
      {kind === 'customer' && create('projects', t('New project'), true)}
    </>
  );
}

function Overview({ item, kind }: { readonly item: Item; readonly kind: 'customer' | 'project' }): JSX.Element {
  const uuid = textOf(item, 'uuid');
  const about = new URLSearchParams({ scope: textOf(item, 'url') });
  return (
    <div class="stack">
      <Counters kind={kind} uuid={uuid} />
      <Card title={t('Quotas')}>
        <Meters quotas={itemsIn(item.quotas)} />
      </Card>
      <div class="halves">
        <Team kind={kind} uuid={uuid} />
        {kind === 'customer' && (
          <Listing title={t('Projects')} path="/projects/" query={`customer=${uuid}`} empty={t('No projects yet.')} />
        )}
        <Listing
          title={t('Resources')}
          path="/resources/"
          query={`${kind}_uuid=${uuid}`}
          empty={t('No resources yet.')}
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
          empty={t('No pending invitations.')}
        />
      </div>
      <UsageTimeline aggregate={kind} uuid={uuid} />
      <Listing
        title={t('Activity')}
        path="/events/"
        query={about.toString()}
        empty={t('Nothing has happened yet.')}
        lines={(events) => <EventTimeline events={events} />}
      />
    </div>
  );
}

/** A customer or a project. */
interface Place {
  readonly kind: 'customer' | 'project';
  readonly uuid: string;
}

const hollowTile = (
  <div class="tile hollow" aria-hidden="true">
    <span class="label">–</span>
    <span class="value">–</span>
  </div>
);

/** The number of objects of each kind. */
function Counters({ kind, uuid }: Place): JSX.Element | null {
  const { value: response } = useGet(
    () => api.GET(`/api/${kind}s/{key}/counters/` as const, { params: { path: { key: uuid } } }),
    [kind, uuid],
  );
  // As high as the tiles, so that nothing moves when they come.
  if (!response) return <div class="tiles">{hollowTile}</div>;
  if (!response.isOk) return null;
  const counts = Object.entries(response.body).filter(([, count]) => typeof count === 'number');
  return (
    <div class="tiles">
      {counts.map(([name, count]) => (
        <Tile key={name} label={titleOf(name)} value={numberText(Number(count))} href={hrefOfCount(name, kind, uuid)} />
      ))}
    </div>
  );
}

/** The list of the counted objects in the customer or project. */
function hrefOfCount(name: string, kind: 'customer' | 'project', uuid: string): string | undefined {
  const own = { [`${kind}_uuid`]: uuid };
  if (['vms', 'apps', 'private_clouds', 'storages'].includes(name))
    return hrefOf('/resources/', { category: name, ...own });
  if (name === 'users') return hrefOf(`/${kind}s/${uuid}/team/`);
  if (name === 'projects') return hrefOf('/projects/', { customer: uuid });
  if (name === 'alerts') return hrefOf('/alerts/', { opened: 'true', aggregate: kind, uuid });
  return collections.value.has(name) ? hrefOf(`/${name}/`, own) : undefined;
}

/** The members and their roles. */
function Team({ kind, uuid }: Place): JSX.Element {
  const params = { path: { key: uuid }, query: { page_size: 10 } };
  const { value: page } = useList(() => api.GET(`/api/${kind}s/{key}/users/` as const, { params }), [kind, uuid]);
  return (
    <Card
      title={t('Team')}
      more={hrefOf(`/${kind}s/${uuid}/team/`)}
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
  ...(textOf(member, 'role') !== '' ? [t(textOf(member, 'role'))] : []),
  ...itemsIn(member.projects).map((project) => roleIn(textOf(project, 'role'), textOf(project, 'name'))),
];
