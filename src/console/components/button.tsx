import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';

/** A button, busy until the promise of `onClick` settles. With a `reason`, it can be focused but only shows the reason. */
export function Button({
  icon,
  kind,
  small = false,
  label,
  reason,
  isBusy: isBlocked = false,
  opensDialog = false,
  onClick,
  children,
}: {
  readonly icon?: string | undefined;
  /** Default: a bordered button. A page has one primary button. */
  readonly kind?: 'primary' | 'quiet' | 'danger' | undefined;
  readonly small?: boolean;
  /** Names a button without text, or explains a short text. */
  readonly label?: string | undefined;
  readonly reason?: string | undefined;
  /** Whether an action that the button did not start is running. */
  readonly isBusy?: boolean;
  readonly opensDialog?: boolean;
  readonly onClick: () => void | Promise<void>;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const id = useId();
  const [isRunning, setRunning] = useState(false);
  const isBusy = isBlocked || isRunning;
  const style = ['btn', kind, small && 'sm', children === undefined && 'icon-only'].filter(Boolean).join(' ');
  return (
    <>
      <button
        type="button"
        class={style}
        aria-label={label}
        title={reason ?? (children === undefined ? label : undefined)}
        aria-busy={isBusy || undefined}
        aria-disabled={reason !== undefined || isBusy || undefined}
        aria-describedby={reason === undefined ? undefined : id}
        aria-haspopup={opensDialog ? 'dialog' : undefined}
        onClick={() => {
          if (reason !== undefined || isBusy) return;
          const work = onClick();
          if (!work) return;
          setRunning(true);
          void work.finally(() => setRunning(false));
        }}
      >
        {icon && <Icon name={icon} />}
        {children}
      </button>
      {reason !== undefined && (
        <span id={id} hidden>
          {reason}
        </span>
      )}
    </>
  );
}

/** Repeats a failed request. */
export const Retry = ({ onClick }: { readonly onClick: () => void }): JSX.Element => (
  <Button small onClick={onClick}>
    {t('Try again')}
  </Button>
);
