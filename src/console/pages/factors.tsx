/** The second factors of a user: enrolment, recovery codes and removal. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, problemOf, request, textOf } from '../api/api.ts';
import { type ApiResponse, saveFile } from '../api/connection.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { createPasskey, hasPasskeys } from '../api/passkeys.ts';
import { productName } from '../api/product.ts';
import { refresh, usePage } from '../api/reading.ts';
import { mustEnrol } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import type { EditResponse } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { ListCard } from '../components/list-card.tsx';
import { PostButton, PostForm } from '../components/post.tsx';
import { notify } from '../components/toast.tsx';
import { Time } from '../components/values.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';

const list = '/api/second-factors/';

/** Second factors with buttons to add and remove them. `isOwn` means those of the signed-in user. Staff can only remove all. */
export function SecondFactors({ user, isOwn }: { readonly user: string; readonly isOwn: boolean }): JSX.Element {
  const query = `user_uuid=${user}`;
  const { value: page } = usePage(`${list}?${query}&page_size=1`);
  const hasFactor = page !== undefined && page.count > 0;
  return (
    <ListCard
      title={titleOf('second-factors')}
      path="/second-factors/"
      query={query}
      empty={mustEnrol.value ? t('No second factor yet.') : t('Signing in requires only the password.')}
      size={10}
      lines={linesOf(isOwn)}
      {...(mustEnrol.value && { all: '' })}
      actions={
        isOwn ? (
          <>
            {hasFactor && <NewRecoveryCodes />}
            {hasPasskeys && <AddPasskey />}
            <AddAuthenticatorApp />
          </>
        ) : (
          hasFactor && (
            <PostForm
              title={t('Remove all')}
              path={`/api/users/${user}/reset_second_factors/`}
              done={async () => undefined}
            />
          )
        )
      }
    />
  );
}

const linesOf =
  (isOwn: boolean) =>
  (factors: readonly Item[]): JSX.Element => (
    <ul class="lines">
      {factors.map((factor) => (
        <li key={textOf(factor, 'url')}>
          <span class="words">
            <b>{textOf(factor, 'name')}</b>
            <span class="sub">
              {textOf(factor, 'last_used') === ''
                ? t('Not used yet')
                : phrase('last used {time}', { time: <Time value={textOf(factor, 'last_used')} /> })}
            </span>
          </span>
          {isOwn && (
            <span class="end">
              <PostButton
                title={t('Remove')}
                method="DELETE"
                path={`${list}${textOf(factor, 'uuid')}/`}
                about={textOf(factor, 'name')}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );

/** The response to the start of an enrolment. */
interface Enrolment {
  readonly secret: string;
  readonly qr_svg: string;
}

const codesOf = (body: unknown): readonly string[] =>
  isItem(body) && Array.isArray(body.recovery_codes) ? body.recovery_codes.map(String) : [];

/**
 * A button that starts an enrolment and opens the dialog of the new factor. The dialog has an introduction and a form with `fields`
 * and the name. Shows the recovery codes that come with the first factor.
 */
function AddFactor<T>({
  title,
  start,
  intro,
  fields = [],
  send,
}: {
  readonly title: string;
  readonly start: () => Promise<ApiResponse<T>>;
  readonly intro: (started: T) => ComponentChildren;
  readonly fields?: readonly FormField[];
  readonly send: (body: Item | FormData) => Promise<EditResponse>;
}): JSX.Element {
  const [started, setStarted] = useState<{ readonly body: T }>();
  const [codes, setCodes] = useState<readonly string[]>([]);
  const close = (): void => setStarted(undefined);
  return (
    <>
      <Button
        small
        opensDialog
        onClick={async () => {
          const { body, isOk } = await start();
          if (isOk) setStarted({ body });
          else notify(problemOf(body), { tone: 'bad' });
        }}
      >
        {title}
      </Button>
      {started && (
        <Dialog title={title} onClose={close}>
          {intro(started.body)}
          <Form
            fields={[...fields, { ...plainField('name', titleOf('name'), 'text', false), maxLength: 150 }]}
            button={t('Add')}
            onCancel={close}
            send={async (body) => {
              const response = await send(body);
              if (response.isOk) {
                close();
                setCodes(codesOf(response.body));
                refresh();
              }
              return response;
            }}
          />
        </Dialog>
      )}
      {codes.length > 0 && <RecoveryCodes codes={codes} onClose={() => setCodes([])} />}
    </>
  );
}

const AddAuthenticatorApp = (): JSX.Element => (
  <AddFactor<Enrolment>
    title={t('Add authenticator app')}
    start={() => request('POST', `${list}totp/`)}
    intro={({ qr_svg: svg, secret }) => (
      <>
        <p>{t('Scan this with the app, or enter the secret in it. Then enter the code that it shows.')}</p>
        <QrCode svg={svg} />
        <p class="mono">{secret.replaceAll(/.{4}(?=.)/g, '$& ')}</p>
      </>
    )}
    fields={[{ ...plainField('code', t('Code from your authenticator app'), 'text'), maxLength: 10 }]}
    send={(body) => request<Item>('POST', `${list}totp/confirm/`, { body })}
  />
);

const optionsOfPasskey = (): Promise<ApiResponse<unknown>> => request('POST', `${list}passkeys/options/`);

/** Creates a passkey in this browser and registers it. Returns the server's response or the browser's error. */
async function addPasskey(name: unknown): Promise<EditResponse> {
  // Request new options, because the challenge may expire while the user types a name.
  const options = await optionsOfPasskey();
  if (!options.isOk) return options;
  const result = await createPasskey(options.body);
  if ('problem' in result)
    return { isOk: false, status: 0, headers: options.headers, body: { detail: result.problem } };
  return request('POST', `${list}passkeys/`, { body: { name, credential: result.credential } });
}

const AddPasskey = (): JSX.Element => (
  <AddFactor
    title={t('Add passkey')}
    start={optionsOfPasskey}
    intro={() => (
      <p>
        {t(
          'Your device unlocks a passkey with your fingerprint, face or PIN. You can also sign in with a passkey alone.',
        )}
      </p>
    )}
    send={(body) => addPasskey(body instanceof FormData ? '' : (body.name ?? ''))}
  />
);

/** Draws the server's QR code from its path, so that no markup from a response enters the page. */
function QrCode({ svg }: { readonly svg: string }): JSX.Element {
  const [, box = ''] = /viewBox="([\d ]+)"/.exec(svg) ?? [];
  const [, path = ''] = / d="([^"]+)"/.exec(svg) ?? [];
  return (
    <svg class="qr" viewBox={box} role="img" aria-label={t('QR code for the secret')}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function NewRecoveryCodes(): JSX.Element {
  const [codes, setCodes] = useState<readonly string[]>([]);
  return (
    <>
      <button
        type="button"
        class="btn sm"
        aria-haspopup="dialog"
        onClick={async () => {
          const { body, isOk } = await request<Item>('POST', `${list}recovery-codes/`);
          if (isOk) setCodes(codesOf(body));
          else notify(problemOf(body), { tone: 'bad' });
        }}
      >
        {t('New recovery codes')}
      </button>
      {codes.length > 0 && <RecoveryCodes codes={codes} onClose={() => setCodes([])} />}
    </>
  );
}

/** Recovery codes, which the server returns only once. An accidental key press does not close the dialog. */
function RecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title={t('Recovery codes')}>
      <p>{t('Each code works once in place of a lost authenticator app or passkey. The codes are not shown again.')}</p>
      <ul class="mono codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <footer class="form-foot">
        <button
          type="button"
          class="btn"
          onClick={() =>
            saveFile(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }), `${productName}-recovery-codes.txt`)
          }
        >
          {t('Download')}
        </button>
        <button type="button" class="btn primary" onClick={onClose}>
          {t('I have saved them')}
        </button>
      </footer>
    </Dialog>
  );
}
