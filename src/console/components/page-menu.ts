/** The menu "…" of the open page. The command palette offers it, too. */
import { signal } from '@preact/signals';
import type { MenuItem } from './menu.tsx';

export const pageMenu = signal<readonly MenuItem[]>([]);
