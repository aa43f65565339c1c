import { signal } from '@preact/signals';
import { t, told } from './words/words.ts';

/** An object of the API, as it was answered. */
export type Item = Readonly<Record<string, unknown>>;

/** What the server answered; `status` 0: it could not be reached. `T` is what the caller knows of the body. */
export interface Answer<T> {
  readonly status: number;
  readonly isOk: boolean;
  readonly body: T;
  readonly headers: Headers;
}

/** What a request may bring besides its path. */
export interface Given {
  readonly body?: Item | FormData | undefined;
  /** The ETag that the object must still have. */
  readonly etag?: string | null | undefined;
}

/** The folder that this page was answered at: whatever prefix a proxy puts in front of it, the API is below it. */
const base = new URL('.', location.href.replace(/[?#].*$/, ''));

// Two servers behind one host differ by the path.
const storageKey = `tenantry ${base.pathname}`;

/** The token of this tab, which ends with the tab; null: nobody is signed in. */
export const token = signal<string | null>(sessionStorage.getItem(storageKey));

/** When the token was last used, in milliseconds: its life begins anew with each use. */
export const lastUse = signal(Date.now());

/** Whether the server has refused the token, so that the password has to be asked for. */
export const isExpired = signal(false);

/** Whether the server could not be reached when it was last asked. */
export const isOffline = signal(false);

/** Requests that wait for another token. */
let waiting: (() => void)[] = [];

/** Keeps the token for this tab, and lets those go on that wait for it. */
export function keepToken(value: string | null): void {
  if (value === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, value);
  token.value = value;
  isExpired.value = false;
  const going = waiting;
  waiting = [];
  for (const go of going) go();
}

/** The path of a link of the API, `/api/…` with its query, whatever base it was written with. */
export function pathOf(link: string): string {
  const query = link.indexOf('?');
  return link.slice((query < 0 ? link : link.slice(0, query)).lastIndexOf('/api/'));
}

/**
 * Sends a request. A refused token is asked for anew, and then the request is sent again, so that nothing is lost that
 * was typed; `isOpen` is for paths that need none.
 */
export async function request<T>(
  method: string,
  path: string,
  { body, etag }: Given = {},
  isOpen = false,
): Promise<Answer<T>> {
  const headers = new Headers({ Accept: 'application/json' });
  if (!isOpen && token.value !== null) headers.set('Authorization', `Token ${token.value}`);
  if (body && !(body instanceof FormData)) headers.set('Content-Type', 'application/json');
  if (etag) headers.set('If-Match', etag);
  let response: Response;
  let text: string;
  try {
    const sent = body instanceof FormData ? body : body && JSON.stringify(body);
    response = await fetch(new URL(path.slice(1), base), {
      method,
      headers,
      ...(sent !== undefined && { body: sent }),
    });
    text = await response.text();
    isOffline.value = false;
  } catch {
    isOffline.value = true;
    const detail = t('The server cannot be reached. Nothing was changed; try again.');
    const unreached: T = JSON.parse(JSON.stringify({ detail }));
    return { status: 0, isOk: false, body: unreached, headers: new Headers() };
  }
  if (response.status === 401 && !isOpen && token.value !== null) {
    isExpired.value = true;
    await new Promise<void>((go) => waiting.push(go));
    if (token.value !== null) return request(method, path, { body, etag });
  }
  if (!isOpen) lastUse.value = Date.now();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const parsed: T = JSON.parse(text === '' || !isJson ? 'null' : text);
  return { status: response.status, isOk: response.ok, body: parsed, headers: response.headers };
}

/**
 * Reads a stream of events, each of which is told by its uuid, until it ends or is given up; begins after the event that
 * `last` names. Answers the status of the answer, 0 where there was none.
 */
export async function readStream(path: string, last: string, signal: AbortSignal, told: (id: string) => void) {
  let status = 0;
  try {
    const headers = { Authorization: `Token ${token.value}`, ...(last !== '' && { 'Last-Event-ID': last }) };
    const response = await fetch(new URL(path.slice(1), base), { headers, signal });
    status = response.status;
    if (!response.ok || !response.body) return status;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      // A gap has no id: then anything may have happened.
      for (const block of blocks) if (/^data: /m.test(block)) told(/^id: (.*)$/m.exec(block)?.[1] ?? '');
    }
  } catch {
    // It ended otherwise than it should: whoever reads comes back.
  }
  return status;
}

/** Has the browser save what a path answers, which takes the token. */
export async function saveFile(path: string, name: string): Promise<void> {
  const response = await fetch(new URL(path.slice(1), base), { headers: { Authorization: `Token ${token.value}` } });
  if (!response.ok) return;
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** The page of a list with the number of all its objects. */
export interface Page {
  readonly items: readonly Item[];
  readonly count: number;
  /** As long as it is the same nothing has changed. */
  readonly etag?: string | null;
  /** What to say when it could not be read. */
  readonly problem?: string | undefined;
}

/** Reads a page of a list. */
export async function readPage(path: string): Promise<Page> {
  const { body, headers, isOk } = await request<readonly Item[]>('GET', path);
  if (!isOk) return { items: [], count: 0, problem: problemOf(body) };
  return { items: body, count: Number(headers.get('X-Result-Count') ?? body.length), etag: headers.get('ETag') };
}

/** What a refusal says as a whole: its detail, and what belongs to no field. */
export function problemOf(body: unknown): string {
  if (!isItem(body)) return t('The server answered something that this page does not understand.');
  const { detail, non_field_errors: others } = body;
  const texts = [detail, ...(Array.isArray(others) ? others : [])].filter((text) => typeof text === 'string');
  return texts.map(told).join(' ');
}

/** What a refusal says of each field. */
export function fieldProblems(body: unknown): Readonly<Record<string, string>> {
  if (!isItem(body)) return {};
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== 'detail' && name !== 'non_field_errors')
      .map(([name, texts]) => [name, Array.isArray(texts) ? texts.map(wordsOf).join(' ') : wordsOf(texts)]),
  );
}

const wordsOf = (text: unknown): string => (typeof text === 'string' ? told(text) : JSON.stringify(text));

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of an object as text; empty where there is none. */
export const textOf = (item: Item, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};

/** Those members of a list that are objects. */
export const itemsIn = (value: unknown): readonly Item[] => (Array.isArray(value) ? value.filter(isItem) : []);
