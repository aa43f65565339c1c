/** What stands around every page: where one can go, who is signed in, and what the session and the server are doing. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isOffline, request, textOf } from './api.ts';
import { notice } from './dialog.tsx';
import { titleOf } from './document.ts';
import { hrefOf, hrefOfLink, place } from './route.ts';
import { collections, isStaff, me, secondsLeft, signOut } from './session.ts';
import { nameOf } from './shown.tsx';
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
        {title}
      </a>
    </li>
  );
  const user = me.value ?? {};
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <button
          type="button"
          class="menu outline"
          aria-expanded={isOpen}
          aria-controls="places"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
        <a class="brand" href={hrefOf('/')}>
          {document.querySelector('meta[name=application-name]')?.getAttribute('content')}
        </a>
        <span class="who">
          <a href={hrefOfLink(textOf(user, 'url'))}>{nameOf(user)}</a>
          {isStaff.value && <span class="state plain">staff</span>}
          <button type="button" class="outline secondary" onClick={() => void signOut()}>
            Sign out
          </button>
        </span>
      </header>
      <Warnings />
      <div class="body">
        <nav id="places" aria-label="Main" class={isOpen ? 'places open' : 'places'}>
          <ul>
            {link('', 'Home')}
            {destinations.filter((name) => collections.value.has(name)).map((name) => link(name, titleOf(name)))}
            {link('all', 'Everything')}
          </ul>
        </nav>
        <main id="content" class="content" tabIndex={-1}>
          {children}
        </main>
      </div>
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
          The server cannot be reached. What you have typed is still here.{' '}
          <button type="button" class="outline" onClick={() => void request('GET', '/api/version/', {}, true)}>
            Try again
          </button>
        </p>
      )}
      {left !== undefined && (
        <p role="alert" class="warning">
          Your session ends in {left > 60 ? 'less than two minutes' : `less than ${left > 30 ? 60 : 30} seconds`}.{' '}
          <button type="button" class="outline" onClick={() => void request('GET', '/api/users/?current')}>
            Stay signed in
          </button>
        </p>
      )}
      <div role="status" class={notice.value === '' ? '' : 'notice'}>
        {notice.value !== '' && (
          <>
            <span>{notice.value}</span>
            <button type="button" class="outline" aria-label="Dismiss" onClick={() => (notice.value = '')}>
              ×
            </button>
          </>
        )}
      </div>
    </>
  );
}
