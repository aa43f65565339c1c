/** The page that a first start prints the link of, `…/#/first/{secret}`: the name and password of the first user. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fieldProblems, isItem, textOf } from '../api/api.ts';
import { answered, api } from '../api/connection.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { hrefOf, replace } from '../api/route.ts';
import { enter, me } from '../api/session.ts';
import { product } from '../components/focus.ts';
import { Form } from '../components/form.tsx';
import { t } from '../i18n/words.ts';

const fields = (): readonly FormField[] => [
  plainField('full_name', t('Full name'), 'text', false),
  plainField('password', t('Password'), 'secret'),
];

export function First({ secret }: { readonly secret: string }): JSX.Element {
  const [hasEnded, setEnded] = useState(false);
  return (
    <>
      <h1>{t('Welcome to {product}', { product })}</h1>
      {hasEnded ? (
        <>
          <p role="alert" class="problem">
            {t('This link does not work any more. Sign in, or start the server again for another one.')}
          </p>
          <a href={hrefOf('/')}>{t('Sign in')}</a>
        </>
      ) : (
        <>
          <p>
            {t('Choose your name and password. You will be the user {username}, who may do everything.', {
              username: 'admin',
            })}
          </p>
          <Form
            fields={fields()}
            button={t('Begin')}
            send={async (given) => {
              const typed = isItem(given) ? given : {};
              const body = { secret, full_name: textOf(typed, 'full_name'), password: textOf(typed, 'password') };
              const answer = await answered(api.POST('/api-auth/password/initial/', { body, credentials: 'omit' }));
              if (answer.isOk) {
                // Whoever was signed in here is not the one who goes on.
                me.value = null;
                replace('/');
                await enter(answer.body.token);
              } else if (fieldProblems(answer.body).secret) setEnded(true);
              return answer;
            }}
          />
        </>
      )}
    </>
  );
}
