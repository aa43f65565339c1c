/** Sign-in at OpenID Connect providers, which return the browser to the current page. */
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LoginProvider } from '../api/configuration.ts';
import { storageKeyOf } from '../api/connection.ts';
import { place, replace } from '../api/route.ts';
import { hasSignedOut, loginFailure, me, resumeProblem, storeDeparture } from '../api/session.ts';
import { loginFailures } from '../i18n/login-failures.ts';
import { serverText, t } from '../i18n/words.ts';

/** The page of a failed login, if login_failed_url is `…/#/sign-in-failed/`. */
const failedPage = '/sign-in-failed/';

// Opening the page again, or reloading it, shows nothing. Signed-in users stay signed in and see nothing.
effect(() => {
  const { path, query } = place.value;
  if (path !== failedPage) return;
  if (me.peek() === null) loginFailure.value = query.get('message') ?? '';
  replace('/');
});

/** Returns why a login at an identity provider failed; empty if none did. An unknown message becomes a general one. */
export function failureOfLogin(): string {
  const message = loginFailure.value;
  if (message === undefined) return '';
  return loginFailures.has(message) ? serverText(message) : t('The sign-in at the identity provider failed.');
}

/** Returns the URL that starts a sign-in and returns to the current page afterwards. */
function addressOf({ url }: LoginProvider): string {
  const { path, query } = place.value;
  const next = `${path}${query.size > 0 ? `?${query}` : ''}`;
  return path === '/' ? url : `${url}?next=${encodeURIComponent(next)}`;
}

const lastKey = storageKeyOf('redirected');
/** Minimum time between automatic sign-ins, which prevents a redirect loop if this server rejects the provider's logins. */
const minInterval = 30_000;

/** Whether an automatic sign-in may start: not after a sign-out, a failure, or another automatic sign-in. */
const mayRedirect = (): boolean =>
  !hasSignedOut.value &&
  resumeProblem.value === '' &&
  loginFailure.value === undefined &&
  Date.now() - Number(sessionStorage.getItem(lastKey) ?? 0) > minInterval;

export function LoginProviders({
  providers,
  isAutomatic = true,
}: {
  readonly providers: readonly LoginProvider[];
  /** Whether a sign-in may start automatically. */
  readonly isAutomatic?: boolean;
}): JSX.Element {
  const automatic = isAutomatic ? providers.find((provider) => provider.isAutomatic) : undefined;
  useEffect(() => {
    if (!automatic || !mayRedirect()) return;
    sessionStorage.setItem(lastKey, String(Date.now()));
    storeDeparture(automatic.url);
    location.replace(addressOf(automatic));
  }, [automatic]);
  return (
    <>
      {providers.map((provider) => (
        <a key={provider.url} class="btn full" href={addressOf(provider)} onClick={() => storeDeparture(provider.url)}>
          {t('Continue with {provider}', { provider: provider.label })}
        </a>
      ))}
    </>
  );
}
