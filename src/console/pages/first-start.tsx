/** The page behind the link that the first start prints, `…/#/first/{secret}`. It sets up the first user. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fieldProblems, isItem, textOf } from '../api/api.ts';
import { api, responseOf } from '../api/connection.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { productName } from '../api/product.ts';
import { hrefOf, replace } from '../api/route.ts';
import { continueWith, me } from '../api/session.ts';
import { ErrorCallout } from '../components/card.tsx';
import { Form } from '../components/form.tsx';
import { t } from '../i18n/words.ts';

const fields = (): readonly FormField[] => [
  plainField('full_name', t('Full name'), 'text', false),
  plainField('password', t('Password'), 'secret'),
];

export function FirstStart({ secret }: { readonly secret: string }): JSX.Element {
  const [hasEnded, setEnded] = useState(false);
  return (
    <>
      <h1>{t('Welcome to {product}', { product: productName })}</h1>
      {hasEnded ? (
        <>
          <ErrorCallout text={t('This link has expired. Sign in, or restart the server to get another one.')} />
          <a href={hrefOf('/')}>{t('Sign in')}</a>
        </>
      ) : (
        <>
          <p class="muted">
            {t('Choose your name and password. You sign in as {username}, with full access.', { username: 'admin' })}
          </p>
          <Form
            fields={fields()}
            button={t('Get started')}
            send={async (form) => {
              const typed = isItem(form) ? form : {};
              const body = { secret, full_name: textOf(typed, 'full_name'), password: textOf(typed, 'password') };
              const response = await responseOf(api.POST('/api-auth/password/initial/', { body, credentials: 'omit' }));
              if (response.isOk) {
                // Replace a user who is signed in here.
                me.value = null;
                replace('/');
                await continueWith(response.body);
              } else if (fieldProblems(response.body).secret) setEnded(true);
              return response;
            }}
          />
        </>
      )}
    </>
  );
}
