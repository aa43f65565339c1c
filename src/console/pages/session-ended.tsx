/** The dialog at the end of a session. The page and its input stay while the user signs in again. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { textOf } from '../api/api.ts';
import { configuration, readConfiguration } from '../api/configuration.ts';
import { isExpired } from '../api/connection.ts';
import { hasPasskeys } from '../api/passkeys.ts';
import { challenge, endImpersonation, impersonation, me, signOut } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { clearToasts } from '../components/toast.tsx';
import { t } from '../i18n/words.ts';
import type { Item } from '../item.ts';
import { LoginProviders } from './login-providers.tsx';
import { SecondFactor } from './second-step.tsx';
import { IdentityProviders, PasskeySignIn, PasswordForm } from './signin.tsx';

export function SessionEnded(): JSX.Element | null {
  useEffect(() => {
    void readConfiguration();
  }, []);
  if (!isExpired.value || me.value === null) return null;
  if (impersonation.value)
    return (
      <Dialog title={t('The impersonation has ended')}>
        <p>{t('An hour has passed, or the user has ended it.')}</p>
        <footer class="form-foot">
          <button type="button" class="btn primary" onClick={() => void endImpersonation()}>
            {t('Return to your session')}
          </button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog title={t('Your session has ended')}>
      {challenge.value ? <SecondFactor {...challenge.value} /> : <SignInAgain user={me.value} />}
      <button
        type="button"
        class="btn"
        onClick={() => {
          clearToasts();
          void signOut();
        }}
      >
        {t('Sign out')}
      </button>
    </Dialog>
  );
}

/** Ways to sign in again, with and without losing the input. Sign-in at an identity provider leaves the page. */
function SignInAgain({ user }: { readonly user: Item }): JSX.Element {
  const { methods = [], providers = [] } = configuration.value ?? {};
  const isLocal = methods.includes('LOCAL_SIGNIN');
  const registration = textOf(user, 'registration_method');
  const isByPassword = isLocal && registration !== 'saml2' && registration !== 'oidc';
  const isByPasskey = isLocal && hasPasskeys;
  const isFederated = methods.includes('SAML2');
  return (
    <>
      {(isByPassword || isByPasskey) && <p>{t('Your input is not lost.')}</p>}
      {isByPassword && <PasswordForm username={textOf(user, 'username')} />}
      {isByPasskey && <PasskeySignIn user={textOf(user, 'uuid')} />}
      {(providers.length > 0 || isFederated) && (
        <>
          <p class="muted small">{t('A sign-in at a provider returns to this page without its input.')}</p>
          <LoginProviders providers={providers} isAutomatic={false} />
          {isFederated && <IdentityProviders />}
        </>
      )}
    </>
  );
}
