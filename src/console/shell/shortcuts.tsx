/** Single-key shortcuts, active while no field, menu or dialog has the focus. */
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { go } from '../api/route.ts';
import { me } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { t } from '../i18n/words.ts';
import { navigation } from './navigation.ts';

const storageKey = 'tenantry shortcuts';

/** Whether shortcuts are on. Users of speech input turn them off. */
const hasShortcuts = signal(localStorage.getItem(storageKey) !== 'off');

function enableShortcuts(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, 'off');
  hasShortcuts.value = isOn;
}

const isShown = signal(false);

export const showShortcuts = (): void => {
  isShown.value = true;
};

/** Timeout for the key after `g`, in milliseconds. */
const sequenceMs = 1500;

let goSince = 0;

const rows = (): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('main table.folds tbody tr, main .timeline > li.leads'),
];

/** Returns the focused row, or the last one that a shortcut selected. */
const currentRow = (): HTMLElement | undefined => rows().find((row) => row.contains(document.activeElement));

function moveRow(steps: number): void {
  const all = rows();
  const index = all.indexOf(currentRow() as HTMLElement);
  const next = all[index < 0 ? (steps > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, index + steps))];
  next?.querySelector<HTMLElement>('td.name a, td a, td button, a.when')?.focus();
}

/** Actions by key. They return false if there is nothing to act on. */
const keys: Readonly<Record<string, () => boolean>> = {
  '/': () => press(document.querySelector<HTMLElement>('main input[type=search]'), true),
  '?': () => {
    showShortcuts();
    return true;
  },
  j: () => {
    moveRow(1);
    return true;
  },
  k: () => {
    moveRow(-1);
    return true;
  },
  x: () => press(currentRow()?.querySelector<HTMLElement>('td.pick input') ?? null),
  '.': () => press(currentRow()?.querySelector<HTMLElement>('td.acts button') ?? null),
};

function press(element: HTMLElement | null, onlyFocus = false): boolean {
  if (!element) return false;
  if (onlyFocus) element.focus();
  else element.click();
  return true;
}

addEventListener('keydown', (event) => {
  if (!hasShortcuts.value || me.value === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  if (target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog, [popover]'))
    return;
  if (document.querySelector('dialog[open]')) return;
  const isSequence = Date.now() - goSince < sequenceMs;
  goSince = 0;
  if (isSequence) {
    const destination = navigation()
      .flatMap(({ destinations }) => destinations)
      .find(({ key }) => key === event.key);
    if (!destination) return;
    event.preventDefault();
    go(destination.name === '' ? '/' : `/${destination.name}/`);
  } else if (event.key === 'g') goSince = Date.now();
  else if (Object.hasOwn(keys, event.key) && keys[event.key]?.()) event.preventDefault();
});

/** The list of shortcuts, opened with the key "?". */
export function Shortcuts(): JSX.Element | null {
  if (!isShown.value) return null;
  const close = (): void => {
    isShown.value = false;
  };
  return (
    <Dialog title={t('Keyboard shortcuts')} onClose={close}>
      <dl class="facts keys">
        <Shortcut combination={['Ctrl K']}>{t('Search or jump to a page')}</Shortcut>
        <Shortcut combination={['/']}>{t('Search the list')}</Shortcut>
        {navigation()
          .flatMap(({ destinations }) => destinations)
          .filter(({ key }) => key !== undefined)
          .map(({ key = '', title }) => (
            <Shortcut key={key} combination={['g', key]}>
              {title}
            </Shortcut>
          ))}
        <Shortcut combination={['j', 'k']}>{t('Next and previous row')}</Shortcut>
        <Shortcut combination={['x']}>{t('Select the row')}</Shortcut>
        <Shortcut combination={['Enter']}>{t('Open the row')}</Shortcut>
        <Shortcut combination={['.']}>{t('Actions of the row')}</Shortcut>
      </dl>
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-checked={hasShortcuts.value}
          checked={hasShortcuts.value}
          onInput={(event) => enableShortcuts(event.currentTarget.checked)}
        />
        {t('Single keys are shortcuts')}
      </label>
      <footer class="form-foot">
        <button type="button" class="btn" onClick={close}>
          {t('Close')}
        </button>
      </footer>
    </Dialog>
  );
}

const Shortcut = ({
  combination,
  children,
}: {
  readonly combination: readonly string[];
  readonly children: ComponentChildren;
}): JSX.Element => (
  <>
    <dt>
      {combination.map((key) => (
        <kbd key={key} class="key">
          {key}
        </kbd>
      ))}
    </dt>
    <dd>{children}</dd>
  </>
);
