/** Light or dark: from the system, or chosen in this browser. */
import { effect, signal } from '@preact/signals';

export type Appearance = 'system' | 'light' | 'dark';

const storageKey = 'tenantry appearance';

const stored = localStorage.getItem(storageKey);

export const appearance = signal<Appearance>(stored === 'light' || stored === 'dark' ? stored : 'system');

export function chooseAppearance(wanted: Appearance): void {
  if (wanted === 'system') localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, wanted);
  appearance.value = wanted;
}

effect(() => {
  if (appearance.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = appearance.value;
});
