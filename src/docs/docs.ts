import type { Endpoint } from '../collection/endpoint.ts';
import type { Reply } from '../http/reply.ts';
import { openApi } from './openapi.ts';
import { type Page, page } from './page.ts';

/** GET /docs/: the OpenAPI document, or for browsers the same as a page (core.md 3). */
export function docs(endpoints: () => readonly Endpoint[]): Endpoint {
  let document: string | undefined;
  let shown: Page | undefined;
  const json = (): string => (document ??= JSON.stringify(openApi(endpoints())));
  return {
    path: '/docs/',
    name: 'Documentation',
    description: 'The OpenAPI description of this API.',
    open: true,
    operations: {
      GET: {
        summary: 'Answers the OpenAPI description of this API.',
        who: 'Anybody.',
        output: { status: 200, shape: { type: 'object', additionalProperties: true }, types: ['text/html'] },
        handle: ({ incoming, query }): Reply => {
          const isBrowser = /text\/html/i.test(incoming.headers.accept ?? '') && query.one('format') !== 'openapi';
          if (!isBrowser) return { status: 200, body: json(), type: 'application/json', headers: { Vary: 'Accept' }, conditional: true };
          shown ??= page(openApi(endpoints()));
          return { status: 200, body: shown.html, type: 'text/html; charset=utf-8', headers: { Vary: 'Accept', 'Content-Security-Policy': shown.policy }, conditional: true };
        },
      },
    },
  };
}
