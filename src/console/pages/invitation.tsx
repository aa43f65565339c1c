/** The invitation page, `…/#/invitation/{uuid}/`. New users create an account, signed-in users accept. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldProblems, isItem, problemOf, textOf } from '../api/api.ts';
import { configuration, readConfiguration } from '../api/configuration.ts';
import { api, responseOf } from '../api/connection.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { productName } from '../api/product.ts';
import { hrefOf, replace } from '../api/route.ts';
import { enterSession } from '../api/session.ts';
import { ErrorCallout, Loading } from '../components/card.tsx';
import { Form } from '../components/form.tsx';
import { PageHeader } from '../components/page.tsx';
import { notify } from '../components/toast.tsx';
import { t } from '../i18n/words.ts';

const gone = (): string => t('This invitation is invalid or has expired. Ask for a new one.');

/** Returns the request parameters of an invitation by its secret. */
const named = (secret: string) => ({ params: { path: { key: secret } } });

/** Returns the fields of a new account. */
const fields = (policy: string | undefined): readonly FormField[] => [
  plainField('username', t('Username'), 'text'),
  plainField('full_name', t('Full name'), 'text', false),
  plainField('password', t('Password'), 'secret'),
  ...(policy === undefined
    ? []
    : [{ ...plainField('agree_with_policy', t('I agree to the policy of this service'), 'flag'), page: policy }]),
];

/** For users who are not signed in. `onSignIn` opens the form for users with an account. */
export function SignUp({ secret, onSignIn }: { readonly secret: string; readonly onSignIn: () => void }): JSX.Element {
  const [email, setEmail] = useState<string>();
  useEffect(() => {
    const checked = api.POST('/api/user-invitations/{key}/check/', { ...named(secret), credentials: 'omit' });
    void Promise.all([responseOf(checked), readConfiguration()]).then(([{ body, isOk }]) =>
      setEmail(isOk ? body.email : ''),
    );
  }, [secret]);
  const policy = configuration.value?.policy;
  if (email === undefined) return <Loading />;
  if (email === '')
    return (
      <>
        <h1>{t('Invitation')}</h1>
        <ErrorCallout text={gone()} />
        <a href={hrefOf('/')}>{t('Sign in')}</a>
      </>
    );
  return (
    <>
      <h1>{t('You are invited to {product}', { product: productName })}</h1>
      <p class="muted">{t('This invitation is for {email}.', { email })}</p>
      <Form
        fields={fields(policy)}
        button={t('Create account')}
        send={async (form) => {
          const typed = isItem(form) ? form : {};
          const body = {
            username: textOf(typed, 'username'),
            password: textOf(typed, 'password'),
            full_name: textOf(typed, 'full_name'),
            agree_with_policy: policy === undefined || typed.agree_with_policy === true,
          };
          const accepted = api.POST('/api/user-invitations/{key}/accept/', {
            ...named(secret),
            body,
            credentials: 'omit',
          });
          const created = await responseOf(accepted);
          if (created.isOk) {
            replace('/');
            await enterSession(textOf(created.body, 'token'));
          }
          return created;
        }}
      />
      <button type="button" class="btn full" onClick={onSignIn}>
        {t('I have an account')}
      </button>
    </>
  );
}

/** For signed-in users. */
export function Acceptance({ secret }: { readonly secret: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <>
      <PageHeader title={t('Invitation')} />
      <ErrorCallout text={problem} />
      <button
        type="button"
        class="btn primary"
        onClick={async () => {
          const accepted = api.POST('/api/user-invitations/{key}/accept/', named(secret));
          const { body, isOk, status } = await responseOf(accepted);
          if (isOk) {
            replace('/');
            requestAnimationFrame(() => notify(problemOf(body)));
          } else
            setProblem(
              status === 404 ? gone() : [problemOf(body), ...Object.values(fieldProblems(body))].join(' ').trim(),
            );
        }}
      >
        {t('Accept the invitation')}
      </button>
    </>
  );
}
