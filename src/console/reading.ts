import { useCallback, useEffect, useState } from 'preact/hooks';
import { type Answer, type Page, readPage, request } from './api.ts';

/** What is read of the server: undefined until the first answer. */
export interface Reading<T> {
  readonly value: T | undefined;
  /** Reads again; what was read stays until then. */
  readonly reload: () => Promise<void>;
}

/** Reads something whenever its key changes, and answers only what belongs to the present key. */
function useRead<T>(key: string, read: () => Promise<T>): Reading<T> {
  const [state, setState] = useState<{ readonly key: string; readonly value: T }>();
  // The key stands for all that is read.
  const reload = useCallback(async () => {
    const value = await read();
    setState({ key, value });
  }, [key]);
  useEffect(() => {
    void reload();
  }, [reload]);
  return { value: state?.key === key ? state.value : undefined, reload };
}

/** A page of a list; an empty path reads nothing. */
export const usePage = (path: string): Reading<Page> =>
  useRead(path, async () => (path === '' ? { items: [], count: 0 } : await readPage(path)));

/** The answer to a GET or OPTIONS. */
export const useAnswer = <T>(method: 'GET' | 'OPTIONS', path: string): Reading<Answer<T>> =>
  useRead(`${method} ${path}`, () => request<T>(method, path));
