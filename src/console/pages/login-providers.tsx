/** Signing in at an OpenID Connect provider, which returns the browser to the page that it left. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LoginProvider } from '../api/configuration.ts';
import { storageKeyOf } from '../api/connection.ts';
import { place } from '../api/route.ts';
import { departFor, hasSignedOut, resumeProblem } from '../api/session.ts';
import { t } from '../i18n/words.ts';

/** The page of a failed login, if login_failed_url is `…/#/sign-in-failed/`. */
const failedPage = '/sign-in-failed/';

/** The message of a failed login at a provider, in English; empty if none has failed. */
export const failureOfLogin = (): string =>
  place.value.path === failedPage ? (place.value.query.get('message') ?? '') : '';

/** The address that begins a sign-in, and after it returns to the present page. */
function addressOf({ url }: LoginProvider): string {
  const { path, query } = place.value;
  const next = `${path}${query.size > 0 ? `?${query}` : ''}`;
  return path === '/' || path === failedPage ? url : `${url}?next=${encodeURIComponent(next)}`;
}

const lastKey = storageKeyOf('redirected');
/** Milliseconds in which a page begins only one sign-in by itself: a provider whose sessions this server rejects would repeat it forever. */
const minInterval = 30_000;

/** Whether the sign-in begins without a press: not after a sign-out, a failure, or another one just before. */
const mayRedirect = (): boolean =>
  !hasSignedOut.value &&
  resumeProblem.value === '' &&
  place.value.path !== failedPage &&
  Date.now() - Number(sessionStorage.getItem(lastKey) ?? 0) > minInterval;

export function LoginProviders({
  providers,
  isAutomatic = true,
}: {
  readonly providers: readonly LoginProvider[];
  /** Whether a sign-in may begin without a press. */
  readonly isAutomatic?: boolean;
}): JSX.Element {
  const automatic = isAutomatic ? providers.find((provider) => provider.isAutomatic) : undefined;
  useEffect(() => {
    if (!automatic || !mayRedirect()) return;
    sessionStorage.setItem(lastKey, String(Date.now()));
    departFor(automatic.url);
    location.replace(addressOf(automatic));
  }, [automatic]);
  return (
    <>
      {providers.map((provider) => (
        <a key={provider.url} class="btn full" href={addressOf(provider)} onClick={() => departFor(provider.url)}>
          {t('Continue with {provider}', { provider: provider.label })}
        </a>
      ))}
    </>
  );
}
