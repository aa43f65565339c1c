/** The connection with the server: one client of its API, by the types of the OpenAPI document, and the token it sends. */
import { signal } from '@preact/signals';
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from 'tenantry';
import { t } from '../i18n/words.ts';

/** A response of the server; `status` 0: the server cannot be reached. The body of a rejection has its messages. */
export type ApiResponse<T> = { readonly status: number; readonly headers: Headers } & (
  | { readonly isOk: true; readonly body: T }
  | { readonly isOk: false; readonly body: unknown }
);

/** The folder that this page was responseOf at: whatever prefix a proxy puts in front of it, the API is below it. */
const base = new URL('.', location.href.replace(/[?#].*$/, ''));

/** A key of the browser's storage. Two servers behind one host differ by the path. */
export const storageKeyOf = (name: string): string => `tenantry ${base.pathname} ${name}`;

const storageKey = `tenantry ${base.pathname}`;

/** The token of this tab, which ends with the tab; null: signed out. */
export const token = signal<string | null>(sessionStorage.getItem(storageKey));

/** When the token was last used, in milliseconds: each use extends its life. */
export const lastUse = signal(Date.now());

/** Whether the server has rejected the token, so that the password has to be asked for. */
export const isExpired = signal(false);

/** Whether the server could not be reached when it was last asked. */
export const isOffline = signal(false);

/** Requests that wait for another token. */
let waiting: (() => void)[] = [];

/** Stores the token for this tab, and continues the requests that wait for it. */
export function keepToken(value: string | null): void {
  if (value === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, value);
  token.value = value;
  isExpired.value = false;
  const going = waiting;
  waiting = [];
  for (const go of going) go();
}

/** What aborts the requests that are under way with the token. */
let session = new AbortController();

/** Aborts the requests that are under way with the token: when the user signs out, the server would reject the rest. */
export function abortSession(): void {
  session.abort();
  session = new AbortController();
}

/** Sends a request, and notes whether the server can be reached. One of a session that was aborted stays without a response. */
async function send(request: Request): Promise<Response> {
  const { signal } = session;
  const isOfSession = request.credentials !== 'omit';
  // Either may abort it, and not every browser has AbortSignal.any.
  const either = new AbortController();
  const abort = (): void => either.abort();
  request.signal.addEventListener('abort', abort);
  if (isOfSession) signal.addEventListener('abort', abort);
  try {
    const response = await fetch(request, { signal: either.signal });
    isOffline.value = false;
    return response;
  } catch (error) {
    if (isOfSession && signal.aborted) return await new Promise(() => undefined);
    if (!request.signal.aborted) isOffline.value = true;
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const authorize = ({ headers }: Request): void => headers.set('Authorization', `Token ${token.value}`);

/** Requests as they were before they were sent, which takes their bodies. */
const copies = new WeakMap<Request, Request>();

/**
 * Sends the token along, but with `credentials: 'omit'`. When it is rejected the password is asked for and the request is
 * sent again, so that nothing is lost that was typed. A stream has the token looked at once: it neither asks nor counts as
 * a use of it.
 */
const withToken: Middleware = {
  onRequest({ request, options }) {
    if (request.credentials === 'omit' || token.value === null) return;
    authorize(request);
    if (options.parseAs !== 'stream') copies.set(request, request.clone());
  },
  async onResponse({ request, response: first, options }) {
    let copy = copies.get(request);
    let response = first;
    while (copy && response.status === 401 && token.value !== null) {
      isExpired.value = true;
      // Read, so that the request is complete while the user types the password.
      await response.clone().arrayBuffer();
      await new Promise<void>((go) => waiting.push(go));
      if (token.value === null) break;
      const again = copy;
      copy = again.clone();
      authorize(again);
      response = await options.fetch(again);
    }
    if (copy) lastUse.value = Date.now();
    return response;
  },
};

/** A client of this server whose paths are those of a type. */
function connect<Paths extends object>() {
  const client = createClient<Paths>({ baseUrl: base.href, headers: { Accept: 'application/json' }, fetch: send });
  client.use(withToken);
  return client;
}

/** The API by the types of its document: what a page is written for. */
export const api = connect<paths>();

/** A path from a link, the document or OPTIONS: its types are unknown. */
interface DescribedPath {
  readonly parameters: { readonly header?: { readonly 'If-Match'?: string } };
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: { readonly 200: { readonly content: { readonly 'application/json': unknown } } };
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'patch'] as const;

/** The API by its own description, for lists, forms and actions without a page of their type. */
export const described = connect<Readonly<Record<string, Readonly<Record<(typeof methods)[number], DescribedPath>>>>>();

/** A method as clients name it. */
export const methodOf = (name: string): (typeof methods)[number] =>
  methods.find((method) => method === name.toLowerCase()) ?? 'get';

/** What a client has sent. */
export type Sent<T> = Promise<Good<T> | Bad>;

type Good<T> = { readonly data: T; readonly response: Response };
type Bad = { readonly error?: unknown; readonly response: Response };

const isGood = <T>(result: Good<T> | Bad): result is Good<T> => result.response.ok;

/** Returns the result of a request of one of the clients; an unreachable server gives a message like a rejection. */
export async function responseOf<T>(sent: Sent<T>): Promise<ApiResponse<T>> {
  try {
    const result = await sent;
    const { headers, status } = result.response;
    if (isGood(result)) return { status, headers, isOk: true, body: result.data };
    return { status, headers, isOk: false, body: result.error };
  } catch (error) {
    // Something other than the server sent this: it is no JSON.
    const detail =
      error instanceof SyntaxError
        ? t('The server sent a response that this page does not understand.')
        : t('The server cannot be reached. Nothing was changed; try again.');
    return { status: 0, headers: new Headers(), isOk: false, body: { detail } };
  }
}

/**
 * Reads a stream of events until it ends or is aborted, and reports the uuid of each; begins after the event that
 * `last` names. AlertActions the status of the response, 0 where there was none.
 */
export async function followEvents(last: string, signal: AbortSignal, happened: (id: string) => void): Promise<number> {
  let status = 0;
  try {
    const { data, response } = await api.GET('/api/events/stream/', {
      params: { query: { field: ['uuid'] } },
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': last === '' ? null : last },
      parseAs: 'stream',
      signal,
    });
    status = response.status;
    if (!data) return status;
    const reader = data.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      // A gap has no id: then anything may have happened.
      for (const block of blocks) if (/^data: /m.test(block)) happened(/^id: (.*)$/m.exec(block)?.[1] ?? '');
    }
  } catch {
    // It ended unexpectedly: the caller reconnects.
  }
  return status;
}

/** Has the browser save bytes that were responseOf. */
export function saveFile(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
