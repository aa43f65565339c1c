/** The page for users who must set up a second factor before anything else. */
import type { JSX } from 'preact';
import { productName } from '../api/product.ts';
import { usePage } from '../api/reading.ts';
import { me, signOut, start } from '../api/session.ts';
import { Logo } from '../components/icons.tsx';
import { IdentityDialog } from '../components/identity.tsx';
import { Toasts } from '../components/toast.tsx';
import { t } from '../i18n/words.ts';
import { textOf } from '../item.ts';
import { SecondFactors } from './factors.tsx';
import { SessionEnded } from './session-ended.tsx';

export function Enrolment(): JSX.Element {
  const user = textOf(me.value ?? {}, 'uuid');
  const { value: page } = usePage(`/api/second-factors/?user_uuid=${user}&page_size=1`);
  const hasFactor = page !== undefined && page.count > 0;
  return (
    <>
      <main class="door">
        <div class="panel">
          <div class="mark">
            <Logo />
            {productName}
          </div>
          <div>
            <h1 tabIndex={-1}>{t('Set up a second factor')}</h1>
            <p class="muted small">
              {t('This service requires a second factor. Everything else is available afterwards.')}
            </p>
          </div>
          <SecondFactors user={user} isOwn />
          <button type="button" class="btn primary full" disabled={!hasFactor} onClick={() => void start()}>
            {t('Continue')}
          </button>
          <button type="button" class="btn quiet full" onClick={() => void signOut()}>
            {t('Sign out')}
          </button>
        </div>
      </main>
      <Toasts />
      <IdentityDialog />
      <SessionEnded />
    </>
  );
}
