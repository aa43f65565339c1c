/** The frame of every page: the sidebar, the top bar, and the state of the connection and the session. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, isOffline, responseOf } from '../api/connection.ts';
import { endImpersonation, impersonation, me, readMe, secondsLeft } from '../api/session.ts';
import { Retry } from '../components/button.tsx';
import { Callout } from '../components/card.tsx';
import { restoreFocus } from '../components/focus.ts';
import { Icon } from '../components/icons.tsx';
import { IdentityDialog } from '../components/identity.tsx';
import { SecretDialog } from '../components/secret.tsx';
import { Toasts } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { amountText, instantText, phrase, t } from '../i18n/words.ts';
import { InboxButton } from '../pages/inbox.tsx';
import { SessionEnded } from '../pages/session-ended.tsx';
import { Palette } from './palette.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';
import { AppearanceMenu, UserMenu } from './user-menu.tsx';

export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    if (isOpen) restoreFocus(button.current);
    setOpen(false);
  };
  useEffect(() => {
    if (!isOpen) return;
    document.querySelector<HTMLElement>('#places a, #places button')?.focus();
    // A click outside the drawer closes it.
    const leave = ({ target }: Event): void => {
      if (target instanceof Element && !target.closest('#places, [popover], .menu')) setOpen(false);
    };
    addEventListener('pointerdown', leave);
    return () => removeEventListener('pointerdown', leave);
  }, [isOpen]);
  return (
    <>
      <button type="button" class="skip btn" onClick={() => document.getElementById('content')?.focus()}>
        {t('Skip to content')}
      </button>
      <div class="app">
        <Sidebar isOpen={isOpen} onClose={close} />
        <div class="main">
          <div class="tops">
            <ImpersonationBanner />
            <header class="top">
              <button
                ref={button}
                type="button"
                class="btn quiet icon-only menu"
                aria-label={t('Menu')}
                aria-expanded={isOpen}
                aria-controls="places"
                onClick={() => setOpen(!isOpen)}
              >
                <Icon name="menu" />
              </button>
              <Palette />
              <span class="spring" />
              <a class="btn quiet icon-only not-narrow" href="docs/" aria-label={t('Help')} title={t('Help')}>
                <Icon name="help" />
              </a>
              <AppearanceMenu />
              <InboxButton />
              <UserMenu />
            </header>
          </div>
          <main class="content" id="content" tabIndex={-1}>
            <Warnings />
            {children}
          </main>
        </div>
      </div>
      <Toasts />
      <Shortcuts />
      <SecretDialog />
      <IdentityDialog />
      <SessionEnded />
    </>
  );
}

/** Reminds staff on every page that they are impersonating a user. */
function ImpersonationBanner(): JSX.Element | null {
  const { value } = impersonation;
  if (!value) return null;
  return (
    <section class="impersonation" aria-label={t('Impersonation')}>
      <Icon name="user" />
      <span class="words">
        {phrase('You act as {name} until {time}. The audit trail names you.', {
          name: <b>{nameOf(me.value ?? {})}</b>,
          time: instantText(value.end, { hour: 'numeric', minute: '2-digit' }),
        })}
      </span>
      <button type="button" class="btn sm" onClick={() => void endImpersonation()}>
        {t('End impersonation')}
      </button>
    </section>
  );
}

/** Problems with the connection or the session. */
function Warnings(): JSX.Element {
  const left = secondsLeft.value;
  return (
    <>
      {isOffline.value && (
        <Callout
          tone="warn"
          isNew
          title={t('The server cannot be reached.')}
          action={<Retry onClick={() => void responseOf(api.GET('/api/version/', { credentials: 'omit' }))} />}
        >
          {t('Your input is not lost.')}
        </Callout>
      )}
      {left !== undefined && (
        <Callout
          tone="warn"
          isNew
          action={
            <button type="button" class="btn" onClick={() => void readMe()}>
              {t('Stay signed in')}
            </button>
          }
        >
          {t('Your session ends in less than {time}.', {
            time: left > 60 ? amountText(2, 'minute') : amountText(left > 30 ? 60 : 30, 'second'),
          })}
        </Callout>
      )}
    </>
  );
}
