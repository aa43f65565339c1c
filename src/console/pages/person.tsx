/** What people want to see first of a user: the roles, the keys and the sessions. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections, isStaff, me } from '../api/session.ts';
import { Creation } from '../components/creation.tsx';
import { roleIn, Time } from '../components/shown.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';
import { Listing } from './home.tsx';
import { Sessions } from './sessions.tsx';

export function PersonOverview({ user }: { readonly user: Item }): JSX.Element {
  const uuid = textOf(user, 'uuid');
  const keys = collections.value.get('keys');
  const isOwn = textOf(me.value ?? {}, 'uuid') === uuid;
  return (
    <>
      {keys && isOwn && (
        <div class="buttons start">
          <Creation collection={keys} button={t('Add an SSH key')} onCreated={async () => undefined} />
        </div>
      )}
      <div class="parts">
        <Listing
          title={titleOf('customer-permissions')}
          path="/customer-permissions/"
          query={`user=${uuid}`}
          empty={t('There is no role.')}
          lines={rolesIn('customer')}
        />
        <Listing
          title={titleOf('project-permissions')}
          path="/project-permissions/"
          query={`user=${uuid}`}
          empty={t('There is no role.')}
          lines={rolesIn('project')}
        />
        <Listing title={titleOf('keys')} path="/keys/" query={`user_uuid=${uuid}`} empty={t('There is no key.')} />
        {(isOwn || isStaff.value) && <Sessions user={uuid} isOwn={isOwn} />}
      </div>
    </>
  );
}

/** Roles by where they are held, each with a link to that place. */
const rolesIn = (place: 'customer' | 'project') => (roles: readonly Item[]) => (
  <ul class="lines">
    {roles.map((role) => (
      <li key={textOf(role, 'url')}>
        <a href={hrefOfLink(textOf(role, place))}>{roleIn(textOf(role, 'role'), textOf(role, `${place}_name`))}</a>
        {textOf(role, 'expiration_time') !== '' && (
          <span>{phrase('until {time}', { time: <Time value={textOf(role, 'expiration_time')} /> })}</span>
        )}
      </li>
    ))}
  </ul>
);
