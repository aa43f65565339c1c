import { signal } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Item, type Page, pageOf, pathOf, readPage, request } from './api.ts';
import { type ApiResponse, type ApiResult, responseOf } from './connection.ts';
import { isDialogOpen, refreshCount } from './live.ts';
import { nextReading, withExpected } from './optimistic.ts';

/** Data from the server. `value` is undefined until the first response. */
interface Reading<T> {
  readonly value: T | undefined;
  /** Reads again. Keeps the value until the response arrives. */
  readonly reload: () => Promise<void>;
  /** Number of the read that returned the value. */
  readonly number: number;
}

/** Compares refreshed data: whether two values are equal, and whether a value is usable. */
interface Comparison<T> {
  readonly isSame: (one: T, other: T) => boolean;
  readonly isUsable: (value: T) => boolean;
}

/**
 * Reads data whenever the key changes, and returns only data of the current key. With `changing`, also refreshes every few
 * seconds and after events, while the page is visible and no form is open.
 */
export function useReading<T>(key: string, read: () => Promise<T>, changing?: Comparison<T>): Reading<T> {
  const [state, setState] = useState<{ readonly key: string; readonly value: T; readonly number: number }>();
  const latest = useRef(state);
  latest.current = state;
  const wanted = useRef(key);
  wanted.current = key;
  // The key covers everything that `read` depends on.
  const reload = useCallback(async () => {
    const number = nextReading();
    const value = await read();
    // The response for an earlier key may arrive after that for the current one.
    if (wanted.current === key) setState({ key, value, number });
  }, [key]);
  useEffect(() => {
    void reload();
  }, [reload]);
  const look = changing ? refreshCount.value : 0;
  const looked = useRef(look);
  useEffect(() => {
    if (look === looked.current || !changing) return;
    looked.current = look;
    const number = nextReading();
    void read().then((value) => {
      const before = latest.current;
      if (before?.key !== key || !changing.isUsable(value) || changing.isSame(before.value, value) || isDialogOpen())
        return;
      setState({ key, value, number });
    });
  }, [look]);
  return { value: state?.key === key ? state.value : undefined, reload, number: state?.number ?? 0 };
}

/** Counts writes that may affect lists. */
const writings = signal(0);

/** Reloads every list on the page after a write. */
export function refresh(): void {
  writings.value++;
}

/** Sends the request `ask`, and repeats it when a value in `about` changes, which lists all dependencies of `ask`. */
export const useGet = <T>(ask: () => ApiResult<T>, about: readonly (string | number)[] = []): Reading<ApiResponse<T>> =>
  useReading(about.join(' '), () => responseOf(ask()));

/** Like `useGet` for a page of a list, with refreshes. */
export const useList = <T extends Item>(
  ask: () => ApiResult<readonly T[]>,
  about: readonly (string | number)[] = [],
): Reading<Page<T>> => useListed(about.join(' '), async () => pageOf(await responseOf(ask())));

/** The page of an empty path, which never changes. */
const nothing: Page = { items: [], count: 0, etag: '' };

/** Like `useList` for a path that is known only at run time. An empty path reads nothing. */
export const usePage = (path: string): Reading<Page> =>
  useListed(path, async () => (path === '' ? nothing : await readPage(path)));

function useListed<T extends Item>(key: string, read: () => Promise<Page<T>>): Reading<Page<T>> {
  const reading = useReading(key, read, {
    isUsable: ({ problem }) => problem === undefined,
    isSame: (one, other) => typeof one.etag === 'string' && one.etag === other.etag,
  });
  const { number, reload, value } = reading;
  const seen = useRef(writings.value);
  const now = writings.value;
  useEffect(() => {
    if (seen.current !== now) void reload();
    seen.current = now;
  }, [now, reload]);
  return { ...reading, value: value && { ...value, items: value.items.map((item) => withExpected(item, number)) } };
}

/** Reloads every few seconds while an operation runs and the page is visible. */
export function usePolling(reload: () => Promise<void>, isUnderWay: boolean, milliseconds = 3000): void {
  useEffect(() => {
    if (!isUnderWay) return;
    const timer = setInterval(() => {
      if (!document.hidden && !isDialogOpen()) void reload();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [isUnderWay, reload, milliseconds]);
}

/** Reads the linked object if the user may read it. An empty link reads nothing. */
export function useLinked(link: string): Item | undefined {
  const path = pathOf(link);
  const { value } = useReading(path, async () => (link === '' ? undefined : await request<Item>('GET', path)));
  return value?.isOk ? value.body : undefined;
}

/** Sends a GET or OPTIONS request. */
export const useRequest = <T>(method: 'GET' | 'OPTIONS', path: string): Reading<ApiResponse<T>> =>
  useReading(`${method} ${path}`, () => request<T>(method, path));

/** Reads an object, with refreshes. */
export const useObject = (path: string): Reading<ApiResponse<Item>> =>
  useReading(`GET ${path}`, () => request<Item>('GET', path), {
    isUsable: ({ status }) => status > 0 && status < 500,
    isSame: (one, other) => one.headers.has('ETag') && one.headers.get('ETag') === other.headers.get('ETag'),
  });
