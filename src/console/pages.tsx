/** Pages that people think otherwise of than the API does. */
import type { JSX } from 'preact';
import { HooksPage } from './hooks.tsx';

/** Makes the page of a list by its name, or of `<list>/<what is below>` for the object with this key. */
export const pages: Readonly<Record<string, (key: string) => JSX.Element>> = { hooks: () => <HooksPage /> };
