/** Light or dark appearance, from the system or chosen in this browser. */
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

/** The dark-mode media rules of the stylesheet. CSS could not also apply them by an attribute without repeating them. */
const darkBlocks = [...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSMediaRule)
  .filter(({ media }) => media.mediaText.includes('prefers-color-scheme'));

/** Media conditions of the dark rules. */
const conditions: Readonly<Record<Appearance, string>> = {
  system: '(prefers-color-scheme: dark)',
  light: 'not all',
  dark: 'all',
};

effect(() => {
  for (const { media } of darkBlocks) media.mediaText = conditions[appearance.value];
  // Charts redraw when this changes.
  if (appearance.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = appearance.value;
});
