/** The second step of a sign-in: a code of the authenticator app, or a recovery code. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../api/api.ts';
import { api, responseOf } from '../api/connection.ts';
import { type Challenge, challenge, enter } from '../api/session.ts';
import { Callout } from '../components/card.tsx';
import { t } from '../i18n/words.ts';

/** Asks for a second factor, and continues with the token of the login. */
export function SecondStep({ methods, token }: Challenge): JSX.Element {
  const [problem, setProblem] = useState('');
  const [isRecovery, setRecovery] = useState(!methods.includes('totp'));
  const name = isRecovery ? 'recovery_code' : 'code';
  const input = useRef<HTMLInputElement>(null);
  // The button that led here is gone.
  useEffect(() => input.current?.focus(), [name]);
  return (
    <form
      class="form"
      onSubmit={async (event) => {
        event.preventDefault();
        const value = String(new FormData(event.currentTarget).get(name));
        const body = isRecovery ? { token, recovery_code: value } : { token, code: value };
        const response = await responseOf(api.POST('/api-auth/second-factor/', { body, credentials: 'omit' }));
        if (response.isOk) {
          challenge.value = null;
          await enter(response.body.token);
        } else setProblem(problemOf(response.body) || t('Try again'));
      }}
    >
      {problem !== '' && (
        <Callout tone="bad" isNew>
          {problem}
        </Callout>
      )}
      <label class="field" key={name}>
        <span class="label">{isRecovery ? t('Recovery code') : t('Code from your authenticator app')}</span>
        <input
          ref={input}
          class="input"
          name={name}
          autoComplete={isRecovery ? 'off' : 'one-time-code'}
          inputMode={isRecovery ? 'text' : 'numeric'}
          autoCapitalize="none"
          required
        />
      </label>
      <button type="submit" class="btn primary full">
        {t('Continue')}
      </button>
      {methods.includes('totp') && methods.includes('recovery_code') && (
        <button type="button" class="btn quiet full" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? t('Use the authenticator app') : t('Use a recovery code')}
        </button>
      )}
      <button type="button" class="btn quiet full" onClick={() => (challenge.value = null)}>
        {t('Back to sign in')}
      </button>
    </form>
  );
}
