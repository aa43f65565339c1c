/** Who is not signed in: by password, at an identity provider, with a mailed link; and whose session has ended. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldProblems, problemOf, textOf } from '../api/api.ts';
import { configuration, readConfiguration } from '../api/configuration.ts';
import { answered, api, isExpired } from '../api/connection.ts';
import { hrefOf, place, replace } from '../api/route.ts';
import { enter, me, signIn, signOut } from '../api/session.ts';
import { Dialog, notice } from '../components/dialog.tsx';
import { product } from '../components/focus.ts';
import { Languages } from '../components/languages.tsx';
import { t } from '../i18n/words.ts';
import { First } from './first.tsx';
import { SignUp } from './invitation.tsx';

/** What is shown to whoever is not signed in, whatever the address; mailed links have pages of their own. */
export function Entrance(): JSX.Element {
  const [, page, secret = ''] = place.value.path.split('/');
  const [hasAccount, setHasAccount] = useState(false);
  return (
    <main class="entrance">
      <article>
        {page === 'first' ? (
          <First secret={secret} />
        ) : page === 'forgotten' ? (
          <Forgotten />
        ) : page === 'reset' ? (
          <Reset secret={secret} />
        ) : page === 'invitation' && !hasAccount ? (
          <SignUp secret={secret} onSignIn={() => setHasAccount(true)} />
        ) : (
          <SignIn />
        )}
      </article>
      <Languages />
    </main>
  );
}

function SignIn(): JSX.Element {
  useEffect(() => {
    void readConfiguration();
  }, []);
  const offered = configuration.value?.methods;
  return (
    <>
      <h1>{t('Sign in to {product}', { product })}</h1>
      {offered === undefined && <p aria-busy="true">{t('Loading…')}</p>}
      {offered?.includes('LOCAL_SIGNIN') && (
        <>
          <PasswordForm />
          <p>
            <a href={hrefOf('/forgotten/')}>{t('Forgot your password?')}</a>
          </p>
        </>
      )}
      {offered?.includes('SAML2') && <IdentityProviders />}
    </>
  );
}

/** Asks for the password; for a session that has ended only the same user can go on. */
function PasswordForm({ username }: { readonly username?: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setSending(true);
        const answer = await signIn(username ?? String(form.get('username')), String(form.get('password')));
        setSending(false);
        if (!answer.isOk)
          setProblem(problemOf(answer.body) || Object.values(fieldProblems(answer.body)).join(' ') || t('Try again'));
      }}
    >
      {problem !== '' && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {username === undefined && (
        <label>
          {t('Username')}
          <input name="username" autoComplete="username" autoCapitalize="none" required />
        </label>
      )}
      <label>
        {t('Password')}
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" aria-busy={isSending} disabled={isSending}>
        {t('Sign in')}
      </button>
    </form>
  );
}

/** Sends the browser to an identity provider, which sends it back to where the server is told to. */
function IdentityProviders(): JSX.Element {
  const [providers, setProviders] = useState<readonly { readonly name: string; readonly url: string }[]>([]);
  useEffect(() => {
    void answered(api.GET('/api-auth/saml2/providers/', { credentials: 'omit' })).then(({ body, isOk }) => {
      if (isOk) setProviders(body);
    });
  }, []);
  return (
    <form method="post" action="api-auth/saml2/login/">
      {providers.map(({ name, url }) => (
        <button key={url} type="submit" class="secondary" name="idp" value={url}>
          {t('Sign in with {provider}', { provider: name })}
        </button>
      ))}
    </form>
  );
}

function Forgotten(): JSX.Element {
  const [told, setTold] = useState('');
  return (
    <>
      <h1>{t('Forgotten password')}</h1>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const email = String(new FormData(event.currentTarget).get('email'));
          const answer = await answered(
            api.POST('/api-auth/password/forgot/', { body: { email }, credentials: 'omit' }),
          );
          if (answer.status === 404) setTold(t('Passwords are not mailed here. Ask those who run this server.'));
          else setTold(problemOf(answer.body) || fieldProblems(answer.body).email || '');
        }}
      >
        <label>
          {t('Email')}
          <input name="email" type="email" autoComplete="email" required />
        </label>
        <p role="status">{told}</p>
        <button type="submit">{t('Send a link')}</button>
      </form>
      <a href={hrefOf('/')}>{t('Back to sign in')}</a>
    </>
  );
}

/** The page that `password_reset_url` may name: `…/#/reset/{secret}`. */
function Reset({ secret }: { readonly secret: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <>
      <h1>{t('New password')}</h1>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const password = String(new FormData(event.currentTarget).get('password'));
          const body = { secret, password };
          const answer = await answered(api.POST('/api-auth/password/reset/', { body, credentials: 'omit' }));
          if (answer.isOk) {
            replace('/');
            await enter(answer.body.token);
          } else if (answer.status === 404) setProblem(t('This link does not work any more. Ask for another one.'));
          else setProblem(fieldProblems(answer.body).password ?? problemOf(answer.body));
        }}
      >
        <p role="alert" class="problem">
          {problem}
        </p>
        <label>
          {t('New password')}
          <input name="password" type="password" autoComplete="new-password" required />
        </label>
        <button type="submit">{t('Set the password')}</button>
      </form>
      <a href={hrefOf('/forgotten/')}>{t('Ask for another link')}</a>
    </>
  );
}

/** Over the page of a session that has ended: what was typed there stays, and goes on with another token. */
export function SessionEnded(): JSX.Element | null {
  useEffect(() => {
    void readConfiguration();
  }, []);
  if (!isExpired.value || me.value === null) return null;
  const isByPassword =
    configuration.value?.methods.includes('LOCAL_SIGNIN') && me.value.registration_method !== 'saml2';
  return (
    <Dialog title={t('Your session has ended')}>
      <p>{t('What you have typed is still here.')}</p>
      {isByPassword && <PasswordForm username={textOf(me.value, 'username')} />}
      <button
        type="button"
        class="secondary"
        onClick={() => {
          notice.value = '';
          void signOut();
        }}
      >
        {t('Sign out')}
      </button>
    </Dialog>
  );
}
