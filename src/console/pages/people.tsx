/** The lists of users and of invitations. */
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections, isStaff, me } from '../api/session.ts';
import { Empty } from '../components/card.tsx';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { ListPage, listQuery, pageSize } from '../components/list.tsx';
import { Dot, WordStatus } from '../components/status.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { Avatar, nameOf, Time, Value } from '../components/values.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { InvitationActions, Invite } from './invite.tsx';
import { OperatorBadge } from './person.tsx';

export function PeoplePage(): JSX.Element {
  const collection = collections.value.get('users');
  const stats = useStats(listQuery('users', collection?.filters ?? [], []).sent);
  return (
    <ListPage
      path="/users/"
      title={titleOf('users')}
      collection={collection}
      actions={collection && <Creation collection={collection} button={t('New user')} isPrimary />}
      isWaiting={stats === undefined}
      columns={() => userColumns(collection?.orderings ?? [], (user) => stats?.get(textOf(user, 'uuid')))}
    />
  );
}

/** Reads roles and last-seen times of the listed users. Keeps those of the previous page until then; undefined at first. */
function useStats(query: URLSearchParams): ReadonlyMap<string, Item> | undefined {
  query.set('page_size', String(pageSize));
  const { value: page } = usePage(`/api/users/stats/?${query}`);
  const latest = useRef<readonly Item[] | undefined>(undefined);
  if (page) latest.current = page.items;
  return latest.current && new Map(latest.current.map((item) => [textOf(item, 'uuid'), item]));
}

/** Global roles of a user, then their first other roles. */
function Roles({ user, stats }: { readonly user: Item; readonly stats: Item | undefined }): JSX.Element {
  const [first, ...others] = itemsIn(stats?.roles);
  const more = Number(stats?.role_count ?? 0) - 1;
  const place = first && <a href={hrefOfLink(textOf(first, 'scope'))}>{textOf(first, 'name')}</a>;
  return (
    <>
      <OperatorBadge user={user} />
      {first && (
        <>
          {(user.is_staff === true || user.is_support === true) && ' '}
          {titleOf(textOf(first, 'role'))}
          <small class="cut gone" title={[first, ...others].map(roleText).join('\n')}>
            {place}
            {more > 0 && ` ${t('and {count} more', { count: more })}`}
          </small>
        </>
      )}
    </>
  );
}

/** Formats a role, such as `Owner of Alice`. */
const roleText = (role: Item): string =>
  t('{role} of {place}', { role: titleOf(textOf(role, 'role')), place: textOf(role, 'name') });

/** Returns the ordering of a column if the list supports it. */
const sortIn =
  (orderings: readonly string[]) =>
  (name: string): string | undefined =>
    orderings.includes(name) ? name : undefined;

function userColumns(orderings: readonly string[], statsOf: (user: Item) => Item | undefined): readonly Column[] {
  const sortOf = sortIn(orderings);
  return [
    {
      key: 'name',
      title: titleOf('user'),
      sort: sortOf('full_name'),
      class: 'name',
      cell: (user) => (
        <div class="with-icon">
          <Avatar name={nameOf(user)} size="mid" />
          <span>
            <a href={hrefOfLink(textOf(user, 'url'))}>{nameOf(user)}</a>
            {nameOf(user) !== textOf(user, 'username') && <small>{textOf(user, 'username')}</small>}
          </span>
        </div>
      ),
    },
    {
      key: 'is_staff',
      title: titleOf('role'),
      class: 'roles',
      cell: (user) => <Roles user={user} stats={statsOf(user)} />,
    },
    {
      key: 'email',
      title: titleOf('email'),
      sort: sortOf('email'),
      cell: (user) => <Value name="email" value={user.email} item={user} />,
    },
    {
      key: 'is_active',
      title: titleOf('state'),
      class: 'state',
      cell: (user) => (
        <Dot tone={user.is_active === false ? 'idle' : 'good'}>
          {user.is_active === false ? t('Disabled') : t('Active')}
        </Dot>
      ),
    },
    // The server sends it only to staff and global support (core.md 4.8).
    ...(isStaff.value || me.value?.is_support === true ? [lastSeen(statsOf)] : []),
    { ...timeColumn('date_joined', sortOf('date_joined')), isExtra: true },
    ...['organization', 'job_title', 'phone_number', 'native_name'].map((name) => ({
      ...fieldColumn(name, sortOf(name)),
      isExtra: true,
    })),
  ];
}

const lastSeen = (statsOf: (user: Item) => Item | undefined): Column => ({
  key: 'last_seen',
  title: titleOf('last_seen'),
  class: 'seen when-roomy',
  cell: (user) => {
    const stats = statsOf(user);
    const lastSeenAt = textOf(stats ?? {}, 'last_seen');
    return lastSeenAt === '' ? stats && '–' : <Time value={lastSeenAt} />;
  },
});

export function InvitationsPage(): JSX.Element {
  const list = 'user-invitations';
  const collection = collections.value.get(list);
  return (
    <ListPage
      path={`/${list}/`}
      title={titleOf(list)}
      collection={collection}
      actions={<Invite isPrimary />}
      columns={() => invitationColumns(collection?.orderings ?? [])}
      rowActions={(invitation) => <InvitationActions invitation={invitation} />}
      empty={
        <Empty icon={list} title={t('No invitations yet.')}>
          {t('An invitation gives a person a role as soon as they sign up or sign in.')}
        </Empty>
      }
    />
  );
}

/** Returns the name of the role that an invitation grants. */
const roleOf = (invitation: Item): string =>
  titleOf(textOf(invitation, 'project_role') || textOf(invitation, 'customer_role'));

function invitationColumns(orderings: readonly string[]): readonly Column[] {
  const sortOf = sortIn(orderings);
  return [
    {
      key: 'name',
      title: titleOf('email'),
      sort: sortOf('email'),
      class: 'name',
      cell: (invitation) => (
        <NameCell
          icon="user-invitations"
          href={hrefOfLink(textOf(invitation, 'url'))}
          name={textOf(invitation, 'email')}
        />
      ),
    },
    { key: 'role', title: titleOf('role'), cell: roleOf },
    {
      key: 'project',
      title: t('Scope'),
      cell: (invitation) =>
        textOf(invitation, 'project_name') === '' ? (
          <b>{textOf(invitation, 'customer_name')}</b>
        ) : (
          <>
            {textOf(invitation, 'project_name')}
            <small class="cut gone">{textOf(invitation, 'customer_name')}</small>
          </>
        ),
    },
    {
      key: 'state',
      title: titleOf('state'),
      sort: sortOf('state'),
      class: 'state',
      cell: (invitation) => <WordStatus word={textOf(invitation, 'state')} />,
    },
    timeColumn('created', sortOf('created')),
    timeColumn('expires'),
  ];
}
