import { signal } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, type Item, type Page, pathOf, readPage, request } from './api.ts';

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

/** How often something was written that lists may show. */
const writings = signal(0);

/** Has every list on the page read again: something was written that they may show. */
export function refresh(): void {
  writings.value++;
}

/** A page of a list; an empty path reads nothing. */
export function usePage(path: string): Reading<Page> {
  const reading = useRead(path, async () => (path === '' ? { items: [], count: 0 } : await readPage(path)));
  const { reload } = reading;
  const seen = useRef(writings.value);
  const now = writings.value;
  useEffect(() => {
    if (seen.current !== now) void reload();
    seen.current = now;
  }, [now, reload]);
  return reading;
}

/** Reads again every few seconds while something is under way and the page is looked at. */
export function useRepeated(reload: () => Promise<void>, isUnderWay: boolean, milliseconds = 3000): void {
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [isUnderWay, reload, milliseconds]);
}

/** The object that a link leads to, where it can be read; an empty link reads nothing. */
export function useObject(link: string): Item | undefined {
  const path = pathOf(link);
  const { value } = useRead(path, async () => (link === '' ? undefined : await request<Item>('GET', path)));
  return value?.isOk ? value.body : undefined;
}

/** The answer to a GET or OPTIONS. */
export const useAnswer = <T>(method: 'GET' | 'OPTIONS', path: string): Reading<Answer<T>> =>
  useRead(`${method} ${path}`, () => request<T>(method, path));
