/** What the server tells a single time: it stays in view until somebody has it. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { isItem, textOf } from './api.ts';
import { Dialog } from './dialog.tsx';
import { t } from './words/words.ts';

const secret = signal('');

/** Shows the secret of an answer, where it has one. */
export function keepInView(answer: unknown): void {
  if (isItem(answer) && textOf(answer, 'secret') !== '') secret.value = textOf(answer, 'secret');
}

export function Once(): JSX.Element | null {
  if (secret.value === '') return null;
  const close = (): void => {
    secret.value = '';
  };
  return (
    <Dialog title={t('The secret')} onClose={close}>
      <p>{t('Keep it now: it is not shown again.')}</p>
      <input
        readOnly
        aria-label={t('The secret')}
        value={secret.value}
        onFocus={(event) => event.currentTarget.select()}
      />
      <footer class="buttons">
        {navigator.clipboard && (
          <button
            type="button"
            class="secondary"
            onClick={() => void navigator.clipboard.writeText(secret.value).catch(() => undefined)}
          >
            {t('Copy')}
          </button>
        )}
        <button type="button" onClick={close}>
          {t('I have it')}
        </button>
      </footer>
    </Dialog>
  );
}
