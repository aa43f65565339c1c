/** That of Node.js. */
const plainFetch = fetch;

/**
 * The same `fetch`, which rejects where an answer of a server of ours is not one that the OpenAPI document describes. The
 * document is made when it is first needed.
 */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const url = new URL(response.url || String(input));
  const { hostname, pathname } = url;
  if (hostname !== '127.0.0.1' || !/^\/(api|api-auth|docs)\//.test(pathname)) return response;
  const type = response.headers.get('content-type') ?? '';
  // A stream may not end.
  const text = type === 'text/event-stream' ? '…' : await response.clone().text();
  const body = text === '' ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text;
  const { checkAnswer } = await import('../contract.ts');
  checkAnswer(init?.method ?? 'GET', url, response.status, type, body);
  return response;
};
