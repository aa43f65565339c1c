/** Sign-in by password, passkey, identity provider or mailed link. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldProblems, problemOf } from '../api/api.ts';
import { type Configuration, configuration, readConfiguration } from '../api/configuration.ts';
import { api, responseOf } from '../api/connection.ts';
import { hasPasskeys } from '../api/passkeys.ts';
import { productName } from '../api/product.ts';
import { hrefOf, place, replace } from '../api/route.ts';
import {
  challenge,
  continueWith,
  endSession,
  enterSession,
  isResuming,
  loginFailure,
  ownerOf,
  resumeProblem,
  signIn,
  storeDeparture,
} from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Callout, ErrorCallout, Skeleton } from '../components/card.tsx';
import { Icon, Logo } from '../components/icons.tsx';
import { PasskeyButton } from '../components/passkey.tsx';
import { Version } from '../components/version.tsx';
import { chooseLanguage, type Language, language, languages, serverText, t } from '../i18n/words.ts';
import { FirstStart } from './first-start.tsx';
import { SignUp } from './invitation.tsx';
import { failureOfLogin, LoginProviders } from './login-providers.tsx';
import { SecondFactor } from './second-step.tsx';

/** The pages before sign-in. Links in mails have separate pages. */
export function SignInPage(): JSX.Element {
  const [, page, secret = ''] = place.value.path.split('/');
  const [hasAccount, setHasAccount] = useState(false);
  return (
    <main class="door">
      <div class="panel">
        <div class="mark">
          <Logo />
          {productName}
        </div>
        {challenge.value ? (
          <>
            <h1>{t('Second factor')}</h1>
            <SecondFactor {...challenge.value} />
          </>
        ) : isResuming.value ? (
          <Skeleton />
        ) : page === 'first' ? (
          <FirstStart secret={secret} />
        ) : page === 'forgotten' ? (
          <ForgottenPassword />
        ) : page === 'recover' ? (
          <Recover secret={secret} />
        ) : page === 'reset' ? (
          <Reset secret={secret} />
        ) : page === 'invitation' && !hasAccount ? (
          <SignUp secret={secret} onSignIn={() => setHasAccount(true)} />
        ) : (
          <SignIn />
        )}
      </div>
      <footer>
        <Languages />
        <a href="docs/">{t('Documentation')}</a>
        <Version prefix={productName} />
      </footer>
    </main>
  );
}

function SignIn(): JSX.Element {
  useEffect(() => {
    void readConfiguration();
    return () => {
      loginFailure.value = undefined;
    };
  }, []);
  const { demo, methods: offered, providers = [] } = configuration.value ?? {};
  const failure = resumeProblem.value || failureOfLogin();
  const isByPassword = offered?.includes('LOCAL_SIGNIN') === true;
  const isFederated = offered?.includes('SAML2') === true;
  const hasProviders = isFederated || providers.length > 0;
  return (
    <>
      <div>
        <h1>{t('Sign in')}</h1>
        <p class="muted small">{location.host}</p>
      </div>
      {offered === undefined && <Skeleton />}
      {failure !== '' && <Callout tone="bad">{failure}</Callout>}
      {providers.length > 0 && <LoginProviders providers={providers} />}
      {isFederated && <IdentityProviders />}
      {hasProviders && isByPassword && <div class="or">{t('or use a password')}</div>}
      {isByPassword && (
        <>
          <PasswordForm />
          <p class="small">
            <a href={hrefOf('/forgotten/')}>{t('Forgot your password?')}</a>
          </p>
          {hasPasskeys && <PasskeySignIn />}
          {demo && demo.logins.length > 0 && <DemoLogins {...demo} />}
        </>
      )}
    </>
  );
}

/** Asks for the password. Only the same user can continue an ended session. */
export function PasswordForm({ username }: { readonly username?: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  return (
    <form
      class="form"
      onSubmit={async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setSending(true);
        const response = await signIn(username ?? String(form.get('username')), String(form.get('password')));
        setSending(false);
        if (!response.isOk)
          setProblem(
            problemOf(response.body) || Object.values(fieldProblems(response.body)).join(' ') || t('Try again'),
          );
      }}
    >
      <ErrorCallout text={problem} />
      {username === undefined && (
        <label class="field">
          <span class="label">{t('Username')}</span>
          <input class="input" name="username" autoComplete="username" autoCapitalize="none" required />
        </label>
      )}
      <label class="field">
        <span class="label">{t('Password')}</span>
        <input class="input" name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" class="btn primary full" aria-busy={isSending} disabled={isSending}>
        {t('Sign in')}
      </button>
    </form>
  );
}

/** Signs in with only a passkey, which identifies its user. Only the same user can continue an ended session. */
export function PasskeySignIn({ user }: { readonly user?: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <div class="form">
      <ErrorCallout text={problem} />
      <PasskeyButton
        title={t('Sign in with a passkey')}
        options={() => responseOf(api.POST('/api-auth/passkey/options/', { credentials: 'omit' }))}
        send={async (credential) => {
          const response = await responseOf(
            api.POST('/api-auth/passkey/', { body: { credential }, credentials: 'omit' }),
          );
          if (!response.isOk) return response;
          const { token } = response.body;
          if (user !== undefined && (await ownerOf(token)) !== user) {
            await endSession(token);
            return { ...response, isOk: false, body: { detail: t('This passkey belongs to another user.') } };
          }
          await enterSession(token);
          return response;
        }}
        onProblem={setProblem}
      />
    </div>
  );
}

/** Number of initially visible demo users. */
const shownLogins = 4;

/** Demo users. One click signs in. */
function DemoLogins({ logins, password }: NonNullable<Configuration['demo']>): JSX.Element {
  const [problem, setProblem] = useState('');
  const linesOf = (some: typeof logins): JSX.Element => (
    <ul class="lines">
      {some.map(({ role, username }) => (
        <li key={username}>
          <span class="words">
            <b>{username}</b>
            <span class="sub">{serverText(role)}</span>
          </span>
          <span class="end">
            <Button
              small
              label={t('Sign in as {username}', { username })}
              onClick={async () => {
                const response = await signIn(username, password);
                if (!response.isOk) setProblem(problemOf(response.body) || t('Try again'));
              }}
            >
              {t('Sign in')}
            </Button>
          </span>
        </li>
      ))}
    </ul>
  );
  return (
    <section class="card" aria-label={t('Sample data')}>
      <header>
        <h2>{t('Sample data')}</h2>
        <span class="note">{t('Password: {password}', { password })}</span>
      </header>
      <ErrorCallout text={problem} />
      {linesOf(logins.slice(0, shownLogins))}
      {logins.length > shownLogins && (
        <details class="fold">
          <summary>
            <Icon name="next" size="sm" /> {t('{count} more users', { count: logins.length - shownLogins })}
          </summary>
          {linesOf(logins.slice(shownLogins))}
        </details>
      )}
    </section>
  );
}

/** Links to identity providers, which return the browser to the configured URL. */
export function IdentityProviders(): JSX.Element {
  const [providers, setProviders] = useState<readonly { readonly name: string; readonly url: string }[]>([]);
  useEffect(() => {
    void responseOf(api.GET('/api-auth/saml2/providers/', { credentials: 'omit' })).then(({ body, isOk }) => {
      if (isOk) setProviders(body);
    });
  }, []);
  return (
    <form class="form" method="post" action="api-auth/saml2/login/" onSubmit={() => storeDeparture('')}>
      {providers.map(({ name, url }) => (
        <button key={url} type="submit" class="btn full" name="idp" value={url}>
          {t('Continue with {provider}', { provider: name })}
        </button>
      ))}
    </form>
  );
}

function ForgottenPassword(): JSX.Element {
  const [message, setMessage] = useState('');
  return (
    <>
      <h1>{t('Forgotten password')}</h1>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          const email = String(new FormData(event.currentTarget).get('email'));
          const response = await responseOf(
            api.POST('/api-auth/password/forgot/', { body: { email }, credentials: 'omit' }),
          );
          if (response.status === 404) setMessage(t('This server does not send passwords. Ask its operator.'));
          else setMessage(problemOf(response.body) || fieldProblems(response.body).email || '');
        }}
      >
        <label class="field">
          <span class="label">{t('Email')}</span>
          <input class="input" name="email" type="email" autoComplete="email" required />
        </label>
        <p role="status">{message}</p>
        <button type="submit" class="btn primary full">
          {t('Send a link')}
        </button>
      </form>
      <a href={hrefOf('/')}>{t('Back to sign in')}</a>
    </>
  );
}

/** The page of a recovery link, `…/#/recover/{secret}`. Requires a click, so that link previews do not use up the secret. */
function Recover({ secret }: { readonly secret: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <>
      <h1>{t('Recover your account')}</h1>
      <p class="muted">{t('The session lasts an hour. Set a new password or second factor in it.')}</p>
      <ErrorCallout text={problem} />
      <Button
        onClick={async () => {
          const response = await responseOf(api.POST('/api-auth/recover/', { body: { secret }, credentials: 'omit' }));
          if (response.isOk) {
            replace('/');
            await continueWith(response.body);
          } else setProblem(fieldProblems(response.body).secret ?? problemOf(response.body));
        }}
      >
        {t('Sign in')}
      </Button>
      <a href={hrefOf('/')}>{t('Back to sign in')}</a>
    </>
  );
}

/** The page for `password_reset_url`: `…/#/reset/{secret}`. */
function Reset({ secret }: { readonly secret: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <>
      <h1>{t('New password')}</h1>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          const password = String(new FormData(event.currentTarget).get('password'));
          const body = { secret, password };
          const response = await responseOf(api.POST('/api-auth/password/reset/', { body, credentials: 'omit' }));
          if (response.isOk) {
            replace('/');
            await continueWith(response.body);
          } else if (response.status === 404) setProblem(t('This link has expired. Request another one.'));
          else setProblem(fieldProblems(response.body).password ?? problemOf(response.body));
        }}
      >
        <ErrorCallout text={problem} />
        <label class="field">
          <span class="label">{t('New password')}</span>
          <input class="input" name="password" type="password" autoComplete="new-password" required />
        </label>
        <button type="submit" class="btn primary full">
          {t('Set the password')}
        </button>
      </form>
      <a href={hrefOf('/forgotten/')}>{t('Request another link')}</a>
    </>
  );
}

const languageNames: readonly Language[] = ['en', 'et'];

/** Buttons for the other languages, labelled with their native names. */
function Languages(): JSX.Element {
  return (
    <>
      {languageNames
        .filter((name) => name !== language.value)
        .map((name) => (
          <button key={name} type="button" class="btn quiet sm" lang={name} onClick={() => chooseLanguage(name)}>
            {languages[name]}
          </button>
        ))}
    </>
  );
}
