/** Toasts with results of actions. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'busy';
  readonly detail?: string | undefined;
}

interface Options {
  /** Failures (`bad`) and operations in progress (`busy`) stay until dismissed or replaced. */
  readonly tone?: Toast['tone'];
  readonly detail?: string;
  /** Replaces the toast with this id, such as the progress of a bulk operation. */
  readonly replaces?: number;
}

const lifetimeMs = 8000;
const maxToasts = 4;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows the result of an action. Returns the id of the toast. An empty text shows nothing. */
export function notify(text: string, { detail, replaces, tone = 'good' }: Options = {}): number {
  const others = toasts.value.filter(({ id }) => id !== replaces);
  lastId += 1;
  if (text !== '') toasts.value = [...others, { id: lastId, text, tone, detail }].slice(-maxToasts);
  return lastId;
}

/** Removes all toasts at the end of a session. */
export function clearToasts(): void {
  toasts.value = [];
}

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** All toasts. Screen readers announce failures at once, others politely. */
export const Toasts = (): JSX.Element => (
  <div class="toasts" role="status">
    {toasts.value.map((toast) => (
      <ToastRow key={toast.id} toast={toast} />
    ))}
  </div>
);

function ToastRow({ toast }: { readonly toast: Toast }): JSX.Element {
  const { detail, id, text, tone } = toast;
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (tone !== 'good' || isHeld) return;
    const timer = setTimeout(() => dismiss(id), lifetimeMs);
    return () => clearTimeout(timer);
  }, [id, tone, isHeld]);
  return (
    <div
      class={`toast ${tone}`}
      role={tone === 'bad' ? 'alert' : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      <Icon name={tone} />
      <div class="words">
        <b>{text}</b>
        {detail && <span class="sub">{detail}</span>}
      </div>
      <button type="button" class="btn quiet sm icon-only" aria-label={t('Dismiss')} onClick={() => dismiss(id)}>
        <Icon name="dismiss" />
      </button>
    </div>
  );
}
