/** The menu "…" of the open page, which the command palette offers, too. */
import { signal } from '@preact/signals';
import type { MenuItem } from './menu.tsx';

export const pageMenu = signal<readonly MenuItem[]>([]);
