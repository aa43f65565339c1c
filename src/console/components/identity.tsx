/** The dialog that confirms the user's identity. The rejected request waits and is repeated afterwards. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, request } from '../api/api.ts';
import type { ApiResponse } from '../api/connection.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { type IdentityQuestion, identityQuestion } from '../api/identity.ts';
import { type Credential, hasPasskeys } from '../api/passkeys.ts';
import { signOut } from '../api/session.ts';
import { t, titleOf } from '../i18n/words.ts';
import { ErrorCallout } from './card.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { PasskeyButton } from './passkey.tsx';

interface Method {
  /** The input field; undefined for a passkey. */
  readonly field?: FormField;
  /** The button that switches to this method. */
  readonly button: string;
}

/** Confirmation methods by their names on the server. */
const known = (): Readonly<Record<string, Method>> => ({
  password: { field: plainField('password', titleOf('password'), 'secret'), button: titleOf('password') },
  ...(hasPasskeys && { passkey: { button: t('Use a passkey') } }),
  totp: {
    field: plainField('code', t('Code from your authenticator app'), 'text'),
    button: t('Use the authenticator app'),
  },
  recovery_code: { field: plainField('recovery_code', t('Recovery code'), 'text'), button: t('Use a recovery code') },
});

export function IdentityDialog(): JSX.Element | null {
  return identityQuestion.value && <Question {...identityQuestion.value} />;
}

function Question({ methods, settle }: IdentityQuestion): JSX.Element {
  const offered = Object.entries(known()).filter(([method]) => methods.includes(method));
  const [chosen, setChosen] = useState(offered[0]?.[0]);
  const method = offered.find(([name]) => name === chosen)?.[1];
  const cancel = (): void => settle(false);
  const confirm = async (body: Item | FormData): Promise<ApiResponse<unknown>> => {
    const response = await request<unknown>('POST', '/api/sessions/confirm/', { body });
    if (response.isOk) settle(true);
    return response;
  };
  const others = offered
    .filter(([name]) => name !== chosen)
    .map(([name, { button }]) => (
      <button key={name} type="button" class="btn quiet" onClick={() => setChosen(name)}>
        {button}
      </button>
    ));
  return (
    <Dialog title={t('Confirm your identity')} onClose={cancel}>
      {method ? (
        <>
          <p>{t('This grants lasting access, so confirm your identity first.')}</p>
          {method.field ? (
            <Form key={chosen} fields={[method.field]} button={t('Confirm')} onCancel={cancel} send={confirm}>
              {others}
            </Form>
          ) : (
            <ByPasskey confirm={(passkey) => confirm({ passkey })} cancel={cancel}>
              {others}
            </ByPasskey>
          )}
        </>
      ) : (
        <>
          <p>{t('Your account has no password. Sign in again to continue.')}</p>
          <footer class="form-foot">
            <button type="button" class="btn" onClick={cancel}>
              {t('Cancel')}
            </button>
            <button
              type="button"
              class="btn primary"
              onClick={() => {
                cancel();
                void signOut();
              }}
            >
              {t('Sign out')}
            </button>
          </footer>
        </>
      )}
    </Dialog>
  );
}

function ByPasskey({
  confirm,
  cancel,
  children,
}: {
  readonly confirm: (passkey: Credential) => Promise<ApiResponse<unknown>>;
  readonly cancel: () => void;
  /** Buttons for the other methods. */
  readonly children: ComponentChildren;
}): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <div class="form">
      <ErrorCallout text={problem} />
      {children}
      <footer class="form-foot">
        <button type="button" class="btn" onClick={cancel}>
          {t('Cancel')}
        </button>
        <PasskeyButton
          isPrimary
          options={() => request<unknown>('POST', '/api/sessions/confirm/options/')}
          send={confirm}
          onProblem={setProblem}
        />
      </footer>
    </div>
  );
}
