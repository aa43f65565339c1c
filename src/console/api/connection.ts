/** The connection to the server: typed API clients and the token that they send. */
import { signal } from '@preact/signals';
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from 'tenantry';
import { t } from '../i18n/words.ts';

/** A response, or `status` 0 if the server is unreachable. The body of a rejection has the messages. */
export type ApiResponse<T> = { readonly status: number; readonly headers: Headers } & (
  | { readonly isOk: true; readonly body: T }
  | { readonly isOk: false; readonly body: unknown }
);

/** The base URL of this page and the API, including any prefix that a proxy adds. */
export const base = new URL('.', location.href.replace(/[?#].*$/, ''));

/** The storage key of the token. It includes the path, because two servers can share a host. */
export const storageKeyOf = (name: string): string => `tenantry ${base.pathname} ${name}`;

const storageKey = `tenantry ${base.pathname}`;

/** The token of this tab, discarded with the tab; null if signed out. */
export const token = signal<string | null>(sessionStorage.getItem(storageKey));

/** When the token was last used, in milliseconds. Each use extends its lifetime. */
export const lastUse = signal(Date.now());

/** Whether the server has rejected the token, so that the user has to sign in again. */
export const isExpired = signal(false);

/** Whether the last request failed to reach the server. */
export const isOffline = signal(false);

/** Continuations of requests that wait for a new token. */
let waiting: (() => void)[] = [];

/** Stores the token for this tab and continues the requests that wait for it. */
export function storeToken(value: string | null): void {
  if (value === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, value);
  token.value = value;
  isExpired.value = false;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

/** Aborts pending requests with the current token. */
let session = new AbortController();

/** Aborts the pending requests of the session. After a sign-out, the server would reject them. */
export function abortSession(): void {
  session.abort();
  invalidateReads();
  session = new AbortController();
}

/** Reads in flight by method, URL, token and media type. */
const inFlight = new Map<string, Promise<Response>>();

/** Keeps later reads from sharing a response in flight, which a write or an event may have made stale. */
export const invalidateReads = (): void => inFlight.clear();

const isRead = ({ headers, method }: Request): boolean =>
  ['GET', 'HEAD', 'OPTIONS'].includes(method) && headers.get('Accept') !== 'text/event-stream';

/** Sends a request. Simultaneous identical reads share one response. */
async function send(request: Request): Promise<Response> {
  if (!isRead(request)) {
    invalidateReads();
    try {
      return await sendAlone(request);
    } finally {
      invalidateReads();
    }
  }
  const { headers, method, url } = request;
  const key = [method, url, headers.get('Authorization'), headers.get('Accept')].join(' ');
  let response = inFlight.get(key);
  if (!response) {
    response = sendAlone(request).finally(() => {
      if (inFlight.get(key) === response) inFlight.delete(key);
    });
    inFlight.set(key, response);
  }
  return (await response).clone();
}

/** Sends a request and updates `isOffline`. A request of an aborted session never settles. */
async function sendAlone(request: Request): Promise<Response> {
  const { signal } = session;
  const isOfSession = request.credentials !== 'omit';
  // Combines both signals. Not every browser has AbortSignal.any.
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

/** Copies of sent requests for repetition, because sending a request consumes its body. */
const copies = new WeakMap<Request, Request>();

/**
 * Adds the token to each request, unless `credentials` is `omit`. If the server rejects the token, waits until the user has
 * signed in again and repeats the request, so that no input is lost. A stream sends the token once: it never prompts for the
 * password and does not extend the token's lifetime.
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
      // Read the body to complete the request while the user types the password.
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

/** Creates a client whose paths come from a type. */
function connect<Paths extends object>() {
  const client = createClient<Paths>({ baseUrl: base.href, headers: { Accept: 'application/json' }, fetch: send });
  client.use(withToken);
  return client;
}

/** The API client for paths known at build time, typed by the OpenAPI document. */
export const api = connect<paths>();

/** A path from a link, the document or OPTIONS, whose types are unknown. */
interface DescribedPath {
  readonly parameters: { readonly header?: { readonly 'If-Match'?: string } };
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: { readonly 200: { readonly content: { readonly 'application/json': unknown } } };
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'patch', 'head'] as const;

/** The untyped API client, for generic lists, forms and actions. */
export const described = connect<Readonly<Record<string, Readonly<Record<(typeof methods)[number], DescribedPath>>>>>();

/** Converts an HTTP method to its name in the client. */
export const methodOf = (name: string): (typeof methods)[number] =>
  methods.find((method) => method === name.toLowerCase()) ?? 'get';

/** A pending response of a client. */
export type ApiResult<T> = Promise<SuccessResult<T> | FailureResult>;

type SuccessResult<T> = { readonly data: T; readonly response: Response };
type FailureResult = { readonly error?: unknown; readonly response: Response };

const isSuccess = <T>(result: SuccessResult<T> | FailureResult): result is SuccessResult<T> => result.response.ok;

/** Converts the result of a client request. An unreachable server yields a message, like a rejection. */
export async function responseOf<T>(sent: ApiResult<T>): Promise<ApiResponse<T>> {
  try {
    const result = await sent;
    const { headers, status } = result.response;
    if (isSuccess(result)) return { status, headers, isOk: true, body: result.data };
    return { status, headers, isOk: false, body: result.error };
  } catch (error) {
    // A body without JSON comes from a proxy instead of the server.
    const detail =
      error instanceof SyntaxError
        ? t('The server sent a response that this page does not understand.')
        : t('The server cannot be reached. Nothing was changed; try again.');
    return { status: 0, headers: new Headers(), isOk: false, body: { detail } };
  }
}

/**
 * Reads the event stream until it ends or is aborted, starting after the event `last`, and reports the uuid of each event.
 * Returns the status of the response, or 0 without one.
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
      // A gap in the stream has no id, because any events may be missing.
      for (const block of blocks) if (/^data: /m.test(block)) happened(/^id: (.*)$/m.exec(block)?.[1] ?? '');
    }
  } catch {
    // The stream broke: the caller reconnects.
  }
  return status;
}

/** Saves a response as a file. */
export function saveFile(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
