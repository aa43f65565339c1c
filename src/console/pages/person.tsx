/** The overview of a user: roles, SSH keys, API keys and sessions. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections, impersonation, isStaff, me } from '../api/session.ts';
import { Creation } from '../components/creation.tsx';
import { ListCard } from '../components/list-card.tsx';
import { Badge } from '../components/status.tsx';
import { roleIn, Time, Value } from '../components/values.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';
import { ApiKeys } from './api-keys.tsx';
import { SecondFactors } from './factors.tsx';
import { Identities } from './identities.tsx';
import { Sessions } from './sessions.tsx';

/** What a person may do everywhere. */
export const OperatorBadge = ({ user }: { readonly user: Item }): JSX.Element | null =>
  user.is_staff === true ? (
    <Badge>{titleOf('is_staff')}</Badge>
  ) : user.is_support === true ? (
    <Badge>{titleOf('is_support')}</Badge>
  ) : null;

/** What a person may do everywhere, or that they cannot sign in. */
export const PersonBadge = ({ user }: { readonly user: Item }): JSX.Element =>
  user.is_active === false ? <Badge tone="idle">{t('Disabled')}</Badge> : <OperatorBadge user={user} />;

/** How to reach a person, and where they work. */
export const PersonFacts = ({ user }: { readonly user: Item }): JSX.Element => (
  <>
    <span>{textOf(user, 'username')}</span>
    {['email', 'phone_number', 'job_title', 'organization'].map(
      (name) =>
        textOf(user, name) !== '' && (
          <span key={name}>
            <Value name={name} value={user[name]} item={user} />
          </span>
        ),
    )}
  </>
);

export function PersonOverview({ user }: { readonly user: Item }): JSX.Element {
  const uuid = textOf(user, 'uuid');
  const keys = collections.value.get('keys');
  const isOwn = textOf(me.value ?? {}, 'uuid') === uuid;
  // Impersonating staff have no access to keys, factors and sessions.
  const isInPerson = isOwn && !impersonation.value;
  return (
    <div class="halves">
      <ListCard
        title={titleOf('customer-permissions')}
        path="/customer-permissions/"
        query={`user=${uuid}`}
        empty={t('No roles yet.')}
        lines={rolesIn('customer')}
      />
      <ListCard
        title={titleOf('project-permissions')}
        path="/project-permissions/"
        query={`user=${uuid}`}
        empty={t('No roles yet.')}
        lines={rolesIn('project')}
      />
      <ListCard
        title={titleOf('keys')}
        path="/keys/"
        query={`user_uuid=${uuid}`}
        empty={t('No SSH keys yet.')}
        actions={
          keys &&
          isOwn && <Creation collection={keys} button={t('Add SSH key')} isQuiet onCreated={async () => undefined} />
        }
      />
      {(isOwn || isStaff.value) && <ApiKeys query={`user_uuid=${uuid}`} canCreate={isInPerson} />}
      <Identities user={user} />
      {(isInPerson || isStaff.value) && <SecondFactors user={uuid} isOwn={isOwn} />}
      {(isInPerson || isStaff.value) && <Sessions user={uuid} isOwn={isOwn} />}
    </div>
  );
}

/** Roles in customers or projects, with links. */
const rolesIn = (place: 'customer' | 'project') => (roles: readonly Item[]) => (
  <ul class="lines">
    {roles.map((role) => (
      <li key={textOf(role, 'url')}>
        <span class="words">
          <a href={hrefOfLink(textOf(role, place))}>{roleIn(textOf(role, 'role'), textOf(role, `${place}_name`))}</a>
        </span>
        {textOf(role, 'expiration_time') !== '' && (
          <span class="end">{phrase('until {time}', { time: <Time value={textOf(role, 'expiration_time')} /> })}</span>
        )}
      </li>
    ))}
  </ul>
);
