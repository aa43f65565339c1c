/** A secret in the one dialog for secrets: those that the server shows once, and those that a page does not show by itself. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { isItem, textOf } from '../api/api.ts';
import { t, titleOf } from '../i18n/words.ts';
import { Dialog } from './dialog.tsx';

interface Shown {
  /** What it belongs to. */
  readonly title: string;
  readonly value: string;
  /** Whether the server will not show it again. */
  readonly isOnce: boolean;
  /** What it is, in words; default: a secret. */
  readonly label?: string;
  /** Advice for the user; default: to keep it safe. */
  readonly advice?: string;
}

const shown = signal<Shown | null>(null);

/** Members of responses to actions that are secrets, and members that always are. */
const names = ['secret', 'token'];
const secretNames = /^(secret|token|.*_secret|.*password)$/;

/** Whether the value of a member is a secret in plain text. */
export const isSecret = (name: string, value: unknown): value is string =>
  secretNames.test(name) && typeof value === 'string' && value !== '' && !/^\*+$/.test(value);

/** Shows the secret in the response to something that was done, where one is in it: it will not be shown again. */
export function showSecretOf(response: unknown, title: string): void {
  if (!isItem(response)) return;
  if ('is_mailed' in response) {
    shown.value = { title, value: textOf(response, 'link'), isOnce: true, ...invitation(response.is_mailed === true) };
    return;
  }
  const name = names.find((one) => isSecret(one, response[one]));
  if (name !== undefined) shown.value = { title, value: textOf(response, name), isOnce: true };
}

/** What to know of the link of an invitation. */
const invitation = (isMailed: boolean): Pick<Shown, 'advice' | 'label'> => ({
  label: t('Link of the invitation'),
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
        shown.value = { title: titleOf(name), value, isOnce: false };
      }}
    >
      {t('Show')}
    </button>
  );
}

export function SecretDialog(): JSX.Element | null {
  return shown.value && <OpenSecret {...shown.value} />;
}

function OpenSecret({
  advice = t('Keep it where nobody else reads it.'),
  isOnce,
  label,
  title,
  value,
}: Shown): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const id = useId();
  const close = (): void => {
    shown.value = null;
  };
  return (
    // A secret that is shown once does not close by an accidental key.
    <Dialog title={title} {...(!isOnce && { onClose: close })}>
      <p>
        {advice} {isOnce && t('This is shown once, and never again.')}
      </p>
      <div class="field">
        <label for={id}>{label ?? t('Secret')}</label>
        <input id={id} class="input mono" readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      </div>
      <p role="status">{isCopied && t('Copied.')}</p>
      <footer class="form-foot">
        <button type="button" class="btn" onClick={close}>
          {label ? t('Done') : isOnce ? t('I have kept it') : t('Close')}
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
    // Without https, or where it is rejected, it stays selected for the keyboard.
    control.select();
    return document.execCommand('copy');
  }
}
