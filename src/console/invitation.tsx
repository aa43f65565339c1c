/** The page that invitations lead to, `…/#/invitation/{uuid}/`: who has no account makes one, who has one accepts. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldProblems, type Item, problemOf, request, textOf } from './api.ts';
import { notice } from './dialog.tsx';
import { type FormField, plainField } from './fields.ts';
import { product } from './focus.ts';
import { Form } from './form.tsx';
import { hrefOf, replace } from './route.ts';
import { enter } from './session.ts';
import { t } from './words/words.ts';

const gone = (): string => t('This invitation is unknown, or does not work any more. Ask for another one.');

/** What an account is made with. */
const fields = (): readonly FormField[] => [
  plainField('username', t('Username'), 'text'),
  plainField('full_name', t('Full name'), 'text', false),
  plainField('password', t('Password'), 'secret'),
  plainField('agree_with_policy', t('I agree with the policy of this service'), 'flag'),
];

/** For who is not signed in. `onSignIn` leads to the form for those who have an account. */
export function SignUp({ secret, onSignIn }: { readonly secret: string; readonly onSignIn: () => void }): JSX.Element {
  const [email, setEmail] = useState<string>();
  const path = `/api/user-invitations/${encodeURIComponent(secret)}/`;
  useEffect(() => {
    void request<Item>('POST', `${path}check/`, {}, true).then(({ body, isOk }) =>
      setEmail(isOk ? textOf(body, 'email') : ''),
    );
  }, [path]);
  if (email === undefined) return <p aria-busy="true">{t('Loading…')}</p>;
  if (email === '')
    return (
      <>
        <h1>{t('Invitation')}</h1>
        <p role="alert" class="problem">
          {gone()}
        </p>
        <a href={hrefOf('/')}>{t('Sign in')}</a>
      </>
    );
  return (
    <>
      <h1>{t('You are invited to {product}', { product })}</h1>
      <p>{t('The invitation was sent to {email}.', { email })}</p>
      <Form
        fields={fields()}
        button={t('Make an account')}
        send={async (body) => {
          const made = await request<Item>('POST', `${path}accept/`, { body }, true);
          if (made.isOk) {
            replace('/');
            await enter(textOf(made.body, 'token'));
          }
          return made;
        }}
      />
      <button type="button" class="secondary" onClick={onSignIn}>
        {t('I have an account')}
      </button>
    </>
  );
}

/** For who is signed in. */
export function Acceptance({ secret }: { readonly secret: string }): JSX.Element {
  const [problem, setProblem] = useState('');
  return (
    <>
      <h1 tabIndex={-1}>{t('Invitation')}</h1>
      <p role="alert" class="problem">
        {problem}
      </p>
      <button
        type="button"
        onClick={async () => {
          const path = `/api/user-invitations/${encodeURIComponent(secret)}/accept/`;
          const { body, isOk, status } = await request<Item>('POST', path);
          if (isOk) {
            replace('/');
            requestAnimationFrame(() => (notice.value = problemOf(body)));
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
