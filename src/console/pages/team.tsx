/** The team of a customer or project: current roles in one table, invitations, and past roles. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { firstText, type Item, pathOf, placeName, textOf, userName } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { collections, mayGrantInCustomers, me } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Card, Empty, ErrorCallout, Loading } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { RemovableChip } from '../components/filters.tsx';
import { Icon } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { Dot } from '../components/status.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Avatar, nameOf, ObjectLink, roleIn, Time } from '../components/values.tsx';
import { hasWords } from '../format/text.ts';
import { compareTexts, numberText, phrase, plural, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { expiresSoon } from './attention.tsx';
import { InvitationActions, Invite } from './invite.tsx';
import type { ObjectTab } from './object.tsx';
import { usageOf } from './projects.tsx';
import { serviceAccountsPart } from './service-accounts.tsx';

type Kind = 'customer' | 'project';

/** Maximum page size of the API. The table filters and sorts within this page. */
const maxRoles = 300;

/** Number of initially visible rows. */
const shownRoles = 20;

/** The tab with the people of a customer or project, their roles and invitations, and its service accounts. */
export const teamTab = (kind: Kind, linksAfter: NonNullable<ObjectTab['linksAfter']>): ObjectTab => ({
  name: 'team',
  get title() {
    return t('Team');
  },
  count: (item) => usageOf(item, 'nc_user_count'),
  content: (item) => <Team item={item} kind={kind} />,
  get partTitle() {
    return t('People');
  },
  parts: [serviceAccountsPart(kind)],
  linksAfter,
});

/** Whether the team tab is open. */
export const isTeamOpen = (): boolean => place.value.query.get('tab') === 'team';

/** The header buttons of the team tab. */
export function TeamButtons({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const permissions = collections.value.get(`${kind}-permissions`);
  // Stay on this page, which shows the new object.
  const onCreated = async (): Promise<void> => undefined;
  return (
    <>
      {permissions && (kind === 'project' || mayGrantInCustomers()) && (
        <Creation
          collection={permissions}
          fixed={{ [kind]: textOf(item, 'url') }}
          button={t('Assign role')}
          onCreated={onCreated}
        />
      )}
      <Invite item={item} kind={kind} isPrimary onCreated={onCreated} />
    </>
  );
}

function Team({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const query = `${kind}=${textOf(item, 'uuid')}`;
  const inCustomer = usePage(
    kind === 'customer' ? `/api/customer-permissions/?${query}&page_size=${maxRoles}` : '',
  ).value;
  const inProjects = usePage(`/api/project-permissions/?${query}&page_size=${maxRoles}`).value;
  if (!inCustomer || !inProjects) return <Loading />;
  const problem = inCustomer.problem ?? inProjects.problem;
  return (
    <div class="stack">
      {problem ? (
        <ErrorCallout text={problem} />
      ) : (
        <Roles
          roles={[...inCustomer.items, ...inProjects.items]}
          count={inCustomer.count + inProjects.count}
          path={`/${kind}s/${textOf(item, 'uuid')}/`}
        />
      )}
      <Invitations kind={kind} query={query} />
    </div>
  );
}

/** Returns the project name of a role; empty for a role in the customer. */
const projectOf = (role: Item): string => textOf(role, 'project_name');

/** The filters of the rows. Empty values match all. */
interface Filtering {
  readonly text: string;
  readonly role: string;
  readonly project: string;
  readonly isExpiring: boolean;
}

const isWanted = (role: Item, { isExpiring, project, role: name, text }: Filtering): boolean =>
  hasWords([userName(role), textOf(role, 'user_username'), textOf(role, 'user_email')].join(' '), text) &&
  (name === '' || textOf(role, 'role') === name) &&
  (project === '' || projectOf(role) === project) &&
  (!isExpiring || expiresSoon(role));

/** Sort values of the columns. Roles without an expiry come last. */
const sortValues: Readonly<Record<string, (role: Item) => string>> = {
  user: userName,
  role: (role) => titleOf(textOf(role, 'role')),
  project: projectOf,
  expiration_time: (role) => textOf(role, 'expiration_time') || '9',
  created: (role) => textOf(role, 'created'),
};

function sorted(roles: readonly Item[]): readonly Item[] {
  const order = place.value.query.get('o') ?? 'user';
  const sortValueOf = ownValue(sortValues, order.replace(/^-/, '')) ?? userName;
  const sign = order.startsWith('-') ? -1 : 1;
  return [...roles].sort(
    (a, b) => sign * compareTexts(sortValueOf(a), sortValueOf(b)) || compareTexts(userName(a), userName(b)),
  );
}

function Roles({
  roles,
  count,
  path,
}: {
  readonly roles: readonly Item[];
  /** The total number of roles, which may exceed the page. */
  readonly count: number;
  readonly path: string;
}): JSX.Element {
  const [narrowing, setNarrowing] = useState<Filtering>({ text: '', role: '', project: '', isExpiring: false });
  const [isWhole, setWhole] = useState(false);
  const wanted = sorted(roles.filter((role) => isWanted(role, narrowing)));
  const visible = isWhole ? wanted : wanted.slice(0, shownRoles);
  const names = new Map(roles.map((role) => [textOf(role, 'user'), userName(role)]));
  return (
    <section aria-label={t('Roles')}>
      {roles.length > 1 && (
        <TeamFilters roles={roles} matching={wanted} narrowing={narrowing} onNarrow={setNarrowing} />
      )}
      {wanted.length === 0 ? (
        <div class="card">
          <Empty icon="users" title={roles.length === 0 ? t('No roles yet.') : t('Nothing matches.')} />
        </div>
      ) : (
        <div class="card table-card">
          <Table
            items={visible}
            columns={columns(names)}
            path={path}
            hrefOfItem={(role) => hrefOfLink(textOf(role, 'user'))}
            actions={(role) => <RoleActions role={role} />}
          />
          {(visible.length < wanted.length || roles.length < count) && (
            <div class="pager">
              <span>
                {t('{count} of {total}', { count: numberText(visible.length), total: numberText(wanted.length) })}
              </span>
              {visible.length < wanted.length && (
                <button type="button" class="btn sm" onClick={() => setWhole(true)}>
                  {t('Show all')}
                </button>
              )}
              {roles.length < count && <a href={hrefOf('/project-permissions/')}>{titleOf('project-permissions')}</a>}
            </div>
          )}
        </div>
      )}
    </section>
  );
}

/** Search, chips, and the numbers of matching people and roles. */
function TeamFilters({
  roles,
  matching,
  narrowing,
  onNarrow,
}: {
  readonly roles: readonly Item[];
  readonly matching: readonly Item[];
  readonly narrowing: Filtering;
  readonly onNarrow: (narrowing: Filtering) => void;
}): JSX.Element {
  const choices = (read: (role: Item) => string): readonly string[] =>
    [...new Set(roles.map(read))].filter((text) => text !== '').sort(compareTexts);
  const chip = (name: 'role' | 'project', values: readonly string[], textOfValue = (value: string) => value) =>
    narrowing[name] === '' ? (
      values.length > 1 && (
        <Menu
          class="chip"
          label={titleOf(name)}
          hasText
          align="start"
          items={values.map((value) => ({
            title: textOfValue(value),
            onSelect: () => onNarrow({ ...narrowing, [name]: value }),
          }))}
        >
          <Icon name="create" size="sm" />
          {titleOf(name)}
        </Menu>
      )
    ) : (
      <RemovableChip
        label={titleOf(name)}
        value={textOfValue(narrowing[name])}
        onRemove={() => onNarrow({ ...narrowing, [name]: '' })}
      />
    );
  const people = new Set(matching.map((role) => textOf(role, 'user'))).size;
  const { isExpiring } = narrowing;
  return (
    <search class="filters">
      <div class="search">
        <Icon name="search" />
        <input
          class="input"
          type="search"
          aria-label={t('Search people')}
          placeholder={t('Search people')}
          value={narrowing.text}
          onInput={(event) => onNarrow({ ...narrowing, text: event.currentTarget.value })}
        />
      </div>
      {chip(
        'role',
        choices((role) => textOf(role, 'role')),
        titleOf,
      )}
      {chip('project', choices(projectOf))}
      {(isExpiring || roles.some(expiresSoon)) && (
        <button
          type="button"
          class={isExpiring ? 'chip set' : 'chip'}
          aria-pressed={isExpiring}
          onClick={() => onNarrow({ ...narrowing, isExpiring: !isExpiring })}
        >
          <Icon name={isExpiring ? 'dismiss' : 'create'} size="sm" />
          {t('Expiring soon')}
        </button>
      )}
      <span class="found" role="status">
        {plural(people, '{count} person', '{count} people')}, {plural(matching.length, '{count} role', '{count} roles')}
      </span>
    </search>
  );
}

/** Returns the columns. `names` has the names of team members by user link. */
const columns = (names: ReadonlyMap<string, string>): readonly Column[] => [
  {
    key: 'user',
    title: titleOf('user'),
    sort: 'user',
    class: 'name',
    cell: (role) => (
      <div class="with-icon">
        <Avatar name={userName(role)} size="mid" />
        <span>
          <a href={hrefOfLink(textOf(role, 'user'))}>{userName(role)}</a>
          {textOf(role, 'user_email') !== '' && <small>{textOf(role, 'user_email')}</small>}
        </span>
      </div>
    ),
  },
  { key: 'role', title: titleOf('role'), sort: 'role', cell: (role) => titleOf(textOf(role, 'role')) },
  {
    key: 'project',
    title: t('Scope'),
    sort: 'project',
    cell: (role) =>
      projectOf(role) === '' ? (
        <b>{t('Entire customer')}</b>
      ) : (
        <a href={hrefOfLink(textOf(role, 'project'))}>{projectOf(role)}</a>
      ),
  },
  {
    key: 'expiration_time',
    title: titleOf('expiration_time'),
    sort: 'expiration_time',
    class: 'state',
    cell: (role) => <End role={role} />,
  },
  {
    key: 'created',
    title: t('Granted'),
    sort: 'created',
    class: 'muted gone when-wide',
    cell: (role) => grantOf(role, names),
  },
];

function End({ role }: { readonly role: Item }): JSX.Element {
  const end = textOf(role, 'expiration_time');
  if (end === '') return <span class="muted">{t('Never')}</span>;
  return expiresSoon(role) ? (
    <Dot tone="warn">
      <Time value={end} />
    </Dot>
  ) : (
    <Time value={end} />
  );
}

/** When a role was granted, and by whom if that user is in the team or is the viewer. */
function grantOf(role: Item, names: ReadonlyMap<string, string>): ComponentChildren {
  const time = <Time value={textOf(role, 'created')} />;
  const by = textOf(role, 'created_by');
  if (by !== '' && by === textOf(me.value ?? {}, 'url')) return phrase('{time} by you', { time });
  const name = names.get(by);
  return name === undefined ? time : phrase('{time} by {name}', { time, name });
}

function RoleActions({ role }: { readonly role: Item }): JSX.Element | null {
  const collection = collections.value.get(`${projectOf(role) === '' ? 'customer' : 'project'}-permissions`);
  if (!collection) return null;
  return (
    <RowActions
      path={pathOf(textOf(role, 'url')).slice('/api'.length)}
      item={{ ...role, name: `${nameOf(role)}, ${t(textOf(role, 'role'))}` }}
      etag={null}
      collection={collection}
      titles={{ PATCH: t('Change expiry'), DELETE: t('Revoke role') }}
      reload={async () => undefined}
    />
  );
}

function Invitations({ kind, query }: { readonly kind: Kind; readonly query: string }): JSX.Element {
  const list = 'user-invitations';
  const { value: page } = usePage(`/api/${list}/?state=pending&${query}&page_size=${shownRoles}`);
  return (
    <Card
      title={t('Pending invitations')}
      count={page?.count}
      more={page && page.count > shownRoles ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      isFlush
    >
      {page?.count === 0 && <p class="in note">{t('No pending invitations.')}</p>}
      {page && page.count > 0 && (
        <ul class="lines">
          {page.items.map((invitation) => (
            <li key={textOf(invitation, 'url')}>
              <span class="kind">
                <Icon name={list} />
              </span>
              <span class="words">
                <ObjectLink item={{ ...invitation, name: textOf(invitation, 'email') }} />
                <span class="sub">
                  {roleIn(firstText(invitation, 'project_role', 'customer_role'), placeName(invitation))}
                  {' · '}
                  {phrase('until {time}', { time: <Time value={textOf(invitation, 'expires')} /> })}
                </span>
                {textOf(invitation, 'error_message') !== '' && (
                  <span class="bad-ink">{textOf(invitation, 'error_message')}</span>
                )}
              </span>
              <span class="end">
                <InvitationActions invitation={invitation} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <PastRoles kind={kind} query={query} />
    </Card>
  );
}

/** Past roles, collapsed. Renders nothing for users who cannot see them. */
function PastRoles({ kind, query }: { readonly kind: Kind; readonly query: string }): JSX.Element | null {
  const pageOf = (list: string): string => `/api/${list}/?${query}&page_size=${shownRoles}`;
  const { value: ofCustomer } = usePage(kind === 'customer' ? pageOf('customer-permissions-log') : '');
  const { value: ofProjects } = usePage(pageOf('project-permissions-log'));
  if (!ofCustomer || !ofProjects) return null;
  const count = ofCustomer.count + ofProjects.count;
  if (count === 0) return null;
  const roles = [...ofCustomer.items, ...ofProjects.items].sort((a, b) =>
    textOf(b, 'expiration_time').localeCompare(textOf(a, 'expiration_time')),
  );
  return (
    <details class="fold">
      <summary>
        <Icon name="next" />
        {t('Past roles')} ({numberText(count)})
      </summary>
      <ul class="lines">
        {roles.map((role) => (
          <li key={textOf(role, 'url')}>
            <Avatar name={userName(role)} />
            <span class="words">
              <a href={hrefOfLink(textOf(role, 'user'))}>{userName(role)}</a>
              <span class="sub">{roleIn(textOf(role, 'role'), placeName(role))}</span>
            </span>
            <span class="end">
              {phrase('from {start} to {end}', {
                start: <Time value={textOf(role, 'created')} />,
                end: <Time value={textOf(role, 'expiration_time')} />,
              })}
            </span>
          </li>
        ))}
      </ul>
      {[ofCustomer, ofProjects].map(
        (page, index) =>
          page.count > shownRoles && (
            <p key={index} class="in">
              <a href={hrefOf(`/${['customer', 'project'][index]}-permissions-log/`, new URLSearchParams(query))}>
                {titleOf(`${['customer', 'project'][index]}-permissions-log`)}
              </a>
            </p>
          ),
      )}
    </details>
  );
}
