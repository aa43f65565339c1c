/** A dialog for secrets that the server returns once, or that a page hides. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { isItem, textOf } from '../api/api.ts';
import { t, titleOf } from '../i18n/words.ts';
import { Dialog } from './dialog.tsx';

interface Secret {
  /** The owner of the secret. */
  readonly title: string;
  readonly value: string;
  /** Whether the server shows it only once. */
  readonly isOnce: boolean;
  /** The kind of secret; default: a secret. */
  readonly label?: string;
  /** Advice for the user; default: to keep it safe. */
  readonly advice?: string;
}

const openSecret = signal<Secret | null>(null);

/** Members that are secrets in responses to actions, and members that always are. */
const names = ['secret', 'token'];
const secretNames = /^(secret|token|.*_secret|.*password)$/;

/** Whether a member contains a secret in plain text. */
export const isSecret = (name: string, value: unknown): value is string =>
  secretNames.test(name) && typeof value === 'string' && value !== '' && !/^\*+$/.test(value);

/** Shows the secret in a response, if it has one. The server does not return it again. */
export function showSecretOf(response: unknown, title: string): void {
  if (!isItem(response)) return;
  if ('is_mailed' in response) {
    openSecret.value = {
      title,
      value: textOf(response, 'link'),
      isOnce: true,
      ...invitation(response.is_mailed === true),
    };
    return;
  }
  if (/^tnt_/.test(textOf(response, 'key'))) {
    openSecret.value = { title, value: textOf(response, 'key'), isOnce: true, label: t('API key') };
    return;
  }
  const name = names.find((one) => isSecret(one, response[one]));
  if (name !== undefined) openSecret.value = { title, value: textOf(response, name), isOnce: true };
}

/** Returns label and advice for an invitation link. */
const invitation = (isMailed: boolean): Pick<Secret, 'advice' | 'label'> => ({
  label: t('Invitation link'),
  advice: isMailed
    ? t('The invitation is sent by email. You can also pass on this link: it opens the same invitation.')
    : t('This server cannot send email: no mail server is configured. Pass on this link yourself.'),
});

/** A button that shows a secret. */
export function HiddenSecret({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <button
      type="button"
      class="btn sm"
      aria-haspopup="dialog"
      onClick={() => {
        openSecret.value = { title: titleOf(name), value, isOnce: false };
      }}
    >
      {t('Show')}
    </button>
  );
}

export function SecretDialog(): JSX.Element | null {
  return openSecret.value && <OpenSecret {...openSecret.value} />;
}

function OpenSecret({ advice, isOnce, label, title, value }: Secret): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const id = useId();
  const close = (): void => {
    openSecret.value = null;
  };
  return (
    // An accidental key press must not close a secret that is shown only once.
    <Dialog title={title} {...(!isOnce && { onClose: close })}>
      <p>
        {advice ?? t('Store it where no one else can read it.')} {isOnce && t('This is shown only once.')}
      </p>
      <div class="field">
        <label for={id}>{label ?? t('Secret')}</label>
        <input id={id} class="input mono" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      </div>
      <p role="status">{isCopied && t('Copied.')}</p>
      <footer class="form-foot">
        <button type="button" class="btn" onClick={close}>
          {advice ? t('Done') : isOnce ? t('I have saved it') : t('Close')}
        </button>
        <button type="button" class="btn primary" onClick={async () => setCopied(await copy(id))}>
          {t('Copy')}
        </button>
      </footer>
    </Dialog>
  );
}

/** Copies the text of a control. Returns whether the browser allowed it. */
async function copy(id: string): Promise<boolean> {
  const control = document.getElementById(id);
  if (!(control instanceof HTMLInputElement)) return false;
  try {
    await navigator.clipboard.writeText(control.value);
    return true;
  } catch {
    // Without https or permission, select the value so that the user can copy it.
    control.select();
    return document.execCommand('copy');
  }
}
