import { canSendLocally, sendLocally } from './local-request.ts';

const plainFetch = fetch;

/** Loaded on the first response that is compared. */
let contract: typeof import('../contract.ts') | undefined;

/**
 * Like `fetch`, but rejects if the response of a tested server does not match the OpenAPI document. The body is read and parsed
 * once: the test gets the text or JSON that was compared.
 */
export const checkedFetch: typeof fetch = async (input, init = {}) => {
  if (typeof input !== 'string' && !(input instanceof URL)) return checked(await plainFetch(input, init), init);
  const url = new URL(input);
  const isOurs = url.hostname === '127.0.0.1' && canSendLocally(url, init);
  return checked(await (isOurs ? sendLocally(url, init) : plainFetch(input, init)), init, url);
};

async function checked(response: Response, init: RequestInit, requestUrl?: URL): Promise<Response> {
  const url = requestUrl && !response.redirected ? requestUrl : new URL(response.url);
  const { hostname, pathname } = url;
  if (hostname !== '127.0.0.1' || !/^\/(api|api-auth|docs)\//.test(pathname)) return response;
  const type = response.headers.get('content-type') ?? '';
  const isStream = type === 'text/event-stream';
  // A stream may not end.
  const text = isStream ? '…' : await textOf(response);
  const body = text === '' ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text;
  contract ??= await import('../contract.ts');
  contract.checkResponse(init.method ?? 'GET', url, response.status, type, body);
  if (typeof body === 'object') handOver(response, body);
  return response;
}

/** Makes the first call of `json()` return the parsed body. Later calls get a separate copy. */
function handOver(response: Response, body: unknown): void {
  const { json } = response;
  let isFirst = true;
  response.json = async () => {
    if (!isFirst) return json();
    isFirst = false;
    return body;
  };
}

/** Reads the body, and makes the response return it again without cloning the stream. */
async function textOf(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const again: Partial<Response> = {
    clone: () => response,
    arrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
    json: async () => JSON.parse(bytes.toString()),
    text: async () => new TextDecoder().decode(bytes),
  };
  Object.assign(response, again);
  return bytes.toString();
}
