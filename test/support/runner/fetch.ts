/** That of Node.js. */
const plainFetch = fetch;

/**
 * The same `fetch`, which rejects where an answer of a server of ours is not one that the OpenAPI document describes. A body is
 * read once: the test gets the text, or the JSON, that was compared.
 */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const url = new URL(response.url || String(input));
  const { hostname, pathname } = url;
  if (hostname !== '127.0.0.1' || !/^\/(api|api-auth|docs)\//.test(pathname)) return response;
  const type = response.headers.get('content-type') ?? '';
  const isStream = type === 'text/event-stream';
  // A stream may not end.
  const text = isStream ? '…' : await textOf(response);
  const body = text === '' ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text;
  const { checkAnswer } = await import('../contract.ts');
  checkAnswer(init?.method ?? 'GET', url, response.status, type, body);
  return response;
};

/** Reads the body, and lets the response give it again without a copy of its stream. */
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
