/** The menu that shows and hides columns of a list. The browser stores the selection for each list. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { storageKeyOf } from '../api/connection.ts';
import { t } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';
import type { Column } from './table.tsx';

const storageKey = storageKeyOf('columns');

/** Whether a column is visible, by list and column key. Only deviations from the default are stored. */
type Choices = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

function stored(): Choices {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}');
  } catch {
    return {};
  }
}

const choices = signal<Choices>(stored());

/** The columns of the current list. */
const available = signal<{ readonly path: string; readonly columns: readonly Column[] }>({ path: '', columns: [] });

const isVisible = (path: string, { isExtra = false, key }: Column): boolean =>
  ownValue(ownValue(choices.value, path) ?? {}, key) ?? !isExtra;

/** Returns the visible columns. The first one names the objects and cannot be hidden. */
export function useVisibleColumns(path: string, columns: readonly Column[]): readonly Column[] {
  const keys = columns.map(({ key, title }) => `${key} ${title}`).join();
  useLayoutEffect(() => {
    available.value = { path, columns };
  }, [path, keys]);
  return columns.filter((column, index) => index === 0 || isVisible(path, column));
}

function toggle(path: string, column: Column): void {
  const { [column.key]: _, ...others } = ownValue(choices.value, path) ?? {};
  const isShown = !isVisible(path, column);
  const own = isShown === !column.isExtra ? others : { ...others, [column.key]: isShown };
  choices.value = { ...choices.value, [path]: own };
  localStorage.setItem(storageKey, JSON.stringify(choices.value));
}

/** The button "Columns" of a list. Renders nothing until the list has rows. */
export function ColumnMenu({ path }: { readonly path: string }): JSX.Element | null {
  const columns = available.value.path === path ? available.value.columns.slice(1) : [];
  if (columns.length < 2) return null;
  return (
    <Menu
      class="btn not-narrow"
      label={t('Columns')}
      hasText
      items={columns.map((column) => ({
        title: column.title,
        isToggle: true,
        isChecked: isVisible(path, column),
        onSelect: () => toggle(path, column),
      }))}
    >
      <Icon name="columns" />
      {t('Columns')}
    </Menu>
  );
}
