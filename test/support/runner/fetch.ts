/** That of Node.js, also for a copy of this module that is loaded after `fetch` was replaced. */
const kept = globalThis as { plainFetch?: typeof fetch };
kept.plainFetch ??= fetch;
const { plainFetch } = kept;

/**
 * The same `fetch`, which rejects where an answer of a server of ours is not one that the OpenAPI document describes. The
 * document is made when it is first needed: a test file may have added to it before.
 */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const { hostname, pathname, search } = new URL(response.url || String(input));
  if (hostname !== '127.0.0.1' || !/^\/(api|api-auth|docs)\//.test(pathname)) return response;
  const type = response.headers.get('content-type') ?? '';
  const text = await response.clone().text();
  const body = text === '' ? undefined : type.startsWith('application/json') ? JSON.parse(text) : text;
  const { checkAnswer } = await import('../contract.ts');
  checkAnswer(init?.method ?? 'GET', pathname + search, response.status, type, body);
  return response;
};
