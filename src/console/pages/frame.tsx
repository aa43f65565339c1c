/** What stands around every page: where one can go, who is signed in, and what the session and the server are doing. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { textOf } from '../api/api.ts';
import { answered, api, isOffline } from '../api/connection.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { collections, isOperator, isStaff, me, readMe, secondsLeft, signOut } from '../api/session.ts';
import { notice } from '../components/dialog.tsx';
import { product } from '../components/focus.ts';
import { Icon } from '../components/icons.tsx';
import { Languages } from '../components/languages.tsx';
import { Palette } from '../components/palette.tsx';
import { SecretDialog } from '../components/secret.tsx';
import { nameOf } from '../components/shown.tsx';
import { amountText, t, titleOf } from '../i18n/words.ts';
import { SessionEnded } from './signin.tsx';

/** Where people go most; everything else is behind the last one. */
const destinations = [
  'customers',
  'projects',
  'resources',
  'events',
  'alerts',
  'service-settings',
  'user-invitations',
  'hooks',
  'users',
];

export function Frame({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [, here] = place.value.path.split('/');
  const link = (name: string, title: string): JSX.Element => (
    <li key={name}>
      <a
        href={hrefOf(name === '' ? '/' : `/${name}/`)}
        aria-current={here === name ? 'page' : undefined}
        onClick={() => setOpen(false)}
      >
        <Icon name={name || 'home'} />
        {title}
      </a>
    </li>
  );
  const user = me.value ?? {};
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {t('Skip to the content')}
      </button>
      <header class="bar">
        <button
          type="button"
          class="menu outline"
          aria-expanded={isOpen}
          aria-controls="places"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
          {t('Menu')}
        </button>
        <a class="brand" href={hrefOf('/')}>
          {product}
        </a>
        <Palette />
        <span class="who">
          <a href={hrefOfLink(textOf(user, 'url'))}>{nameOf(user)}</a>
          {isStaff.value && <span class="state plain">{t('staff')}</span>}
          <Languages />
          <button type="button" class="outline secondary" onClick={() => void signOut()}>
            <Icon name="leave" />
            {t('Sign out')}
          </button>
        </span>
      </header>
      <Warnings />
      <div class="body">
        <nav id="places" aria-label={t('Main')} class={isOpen ? 'places open' : 'places'}>
          <ul>
            {link('', t('Home'))}
            {destinations.filter((name) => collections.value.has(name)).map((name) => link(name, titleOf(name)))}
            {link('statistics', t('Statistics'))}
            {isOperator.value && link('operation', titleOf('operation'))}
            {link('all', t('Everything'))}
          </ul>
        </nav>
        <main id="content" class="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <SecretDialog />
      <SessionEnded />
    </>
  );
}

/** What is wrong with the connection or the session, and what was done last. */
function Warnings(): JSX.Element {
  const left = secondsLeft.value;
  return (
    <>
      {isOffline.value && (
        <p role="alert" class="warning">
          {t('The server cannot be reached. What you have typed is still here.')}{' '}
          <button
            type="button"
            class="outline"
            onClick={() => void answered(api.GET('/api/version/', { credentials: 'omit' }))}
          >
            {t('Try again')}
          </button>
        </p>
      )}
      {left !== undefined && (
        <p role="alert" class="warning">
          {t('Your session ends in less than {time}.', {
            time: left > 60 ? amountText(2, 'minute') : amountText(left > 30 ? 60 : 30, 'second'),
          })}{' '}
          <button type="button" class="outline" onClick={() => void readMe()}>
            {t('Stay signed in')}
          </button>
        </p>
      )}
      <div role="status" class={notice.value === '' ? '' : 'notice'}>
        {notice.value !== '' && (
          <>
            <span>{notice.value}</span>
            <button type="button" class="outline" aria-label={t('Dismiss')} onClick={() => (notice.value = '')}>
              <Icon name="dismiss" />
            </button>
          </>
        )}
      </div>
    </>
  );
}
