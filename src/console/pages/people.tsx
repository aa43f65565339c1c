/** The lists of users and of invitations. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { ListPage } from '../components/list.tsx';
import { Badge, Dot, WordStatus } from '../components/status.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { Face, nameOf, Value } from '../components/values.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { InvitationActions } from './team.tsx';

export function PeoplePage(): JSX.Element {
  const collection = collections.value.get('users');
  return (
    <ListPage
      path="/users/"
      title={titleOf('users')}
      collection={collection}
      columns={() => userColumns(collection?.orderings ?? [])}
    />
  );
}

/** Returns the ordering of a column, if the list has it. */
const sortIn =
  (orderings: readonly string[]) =>
  (name: string): string | undefined =>
    orderings.includes(name) ? name : undefined;

function userColumns(orderings: readonly string[]): readonly Column[] {
  const sortOf = sortIn(orderings);
  return [
    {
      key: 'name',
      title: titleOf('user'),
      sort: sortOf('full_name'),
      class: 'name',
      cell: (user) => (
        <div class="with-icon">
          <Face name={nameOf(user)} size="mid" />
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
      cell: (user) =>
        user.is_staff === true ? (
          <Badge>{titleOf('is_staff')}</Badge>
        ) : (
          user.is_support === true && <Badge>{titleOf('is_support')}</Badge>
        ),
    },
    {
      key: 'email',
      title: titleOf('email'),
      sort: sortOf('email'),
      cell: (user) => <Value name="email" value={user.email} item={user} />,
    },
    { ...fieldColumn('organization', sortOf('organization')), class: 'cut gone when-roomy' },
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
    timeColumn('date_joined', sortOf('date_joined')),
    ...['job_title', 'phone_number', 'native_name'].map((name) => ({
      ...fieldColumn(name, sortOf(name)),
      isExtra: true,
    })),
  ];
}

export function InvitationsPage(): JSX.Element {
  const list = 'user-invitations';
  const collection = collections.value.get(list);
  return (
    <ListPage
      path={`/${list}/`}
      title={titleOf(list)}
      collection={collection}
      actions={collection && <Creation collection={collection} button={t('Invite')} isPrimary />}
      columns={() => invitationColumns(collection?.orderings ?? [])}
      rowActions={(invitation) => <InvitationActions invitation={invitation} />}
    />
  );
}

/** The name of the role that an invitation gives. */
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
