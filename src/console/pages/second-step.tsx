/** The second step of a sign-in: a passkey, a code from an authenticator app, or a recovery code. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { paths } from 'tenantry';
import { problemOf } from '../api/api.ts';
import { type ApiResponse, api, responseOf } from '../api/connection.ts';
import { hasPasskeys } from '../api/passkeys.ts';
import { type Challenge, challenge, enterSession } from '../api/session.ts';
import { ErrorCallout } from '../components/card.tsx';
import { PasskeyButton } from '../components/passkey.tsx';
import { t } from '../i18n/words.ts';

type Method = 'passkey' | 'totp' | 'recovery_code';

type Body = NonNullable<paths['/api-auth/second-factor/']['post']['requestBody']>['content']['application/json'];

/** Submits a second factor and continues with the token in the response. */
async function submitFactor(body: Body, provider: string | undefined): Promise<ApiResponse<unknown>> {
  const response = await responseOf(api.POST('/api-auth/second-factor/', { body, credentials: 'omit' }));
  if (response.isOk) {
    challenge.value = null;
    await enterSession(response.body.token, provider);
  }
  return response;
}

/** Asks for a second factor. */
export function SecondFactor({ methods, passkeyOptions, provider, token }: Challenge): JSX.Element {
  const [problem, setProblem] = useState('');
  const isOffered = (method: Method): boolean => methods.includes(method) && (method !== 'passkey' || hasPasskeys);
  const offered = (['passkey', 'totp', 'recovery_code'] as const).filter(isOffered);
  const [method, setMethod] = useState<Method>(offered[0] ?? 'recovery_code');
  const titles: Readonly<Record<Method, string>> = {
    passkey: t('Use a passkey'),
    totp: t('Use the authenticator app'),
    recovery_code: t('Use a recovery code'),
  };
  return (
    <div class="form">
      <ErrorCallout text={problem} />
      {method === 'passkey' ? (
        <PasskeyButton
          isPrimary
          options={async () => ({ isOk: true, body: passkeyOptions })}
          send={(passkey) => submitFactor({ token, passkey }, provider)}
          onProblem={setProblem}
        />
      ) : (
        <CodeForm
          key={method}
          isRecovery={method === 'recovery_code'}
          send={async (name, value) => {
            const { body, isOk } = await submitFactor({ token, [name]: value }, provider);
            if (!isOk) setProblem(problemOf(body) || t('Try again'));
          }}
        />
      )}
      {offered
        .filter((other) => other !== method)
        .map((other) => (
          <button
            key={other}
            type="button"
            class="btn quiet full"
            onClick={() => {
              setProblem('');
              setMethod(other);
            }}
          >
            {titles[other]}
          </button>
        ))}
      <button type="button" class="btn quiet full" onClick={() => (challenge.value = null)}>
        {t('Back to sign in')}
      </button>
    </div>
  );
}

function CodeForm({
  isRecovery,
  send,
}: {
  readonly isRecovery: boolean;
  readonly send: (name: string, value: string) => Promise<void>;
}): JSX.Element {
  const name = isRecovery ? 'recovery_code' : 'code';
  const input = useRef<HTMLInputElement>(null);
  // The button that opened this step is gone: focus the input.
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send(name, String(new FormData(event.currentTarget).get(name)));
      }}
    >
      <label class="field">
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
    </form>
  );
}
