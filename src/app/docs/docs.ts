import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import { openApi, serverPath } from './openapi.ts';
import { page } from './page.ts';

const vary = { Vary: 'Accept' };

/** GET /docs/: the OpenAPI document, or for browsers the same as a page (core.md 3). */
export function docs(endpoints: () => readonly Endpoint[]): Endpoint {
  const document = once((server) => ({
    status: 200,
    body: JSON.stringify(openApi(endpoints(), server)),
    type: 'application/json',
    headers: vary,
    conditional: true,
  }));
  const shown = once((server) => {
    const { html, policy } = page(openApi(endpoints(), server));
    return {
      status: 200,
      body: html,
      type: 'text/html; charset=utf-8',
      headers: { ...vary, 'Content-Security-Policy': policy },
      conditional: true,
    };
  });
  return {
    path: '/docs/',
    name: 'Documentation',
    description: 'The OpenAPI description of this API.',
    open: true,
    operations: {
      GET: {
        summary: 'Answers the OpenAPI description of this API.',
        filters: { format: parameter('string', 'openapi for the document in a browser, too.') },
        allowedFor: 'Anybody.',
        output: { status: 200, shape: { type: 'object', additionalProperties: true }, types: ['text/html'] },
        handle: ({ config, incoming, query }) => {
          const isBrowser = /text\/html/i.test(incoming.headers.accept ?? '') && query.one('format') !== 'openapi';
          return (isBrowser ? shown : document)(serverPath(config));
        },
      },
    },
  };
}

/** Makes the reply of each server path once: neither it nor its ETag is worked out again. */
function once(make: (server: string) => Reply): (server: string) => Reply {
  const made = new Map<string, Reply>();
  return (server) => {
    const reply = made.get(server) ?? { ...encoded(make(server)), compressed: new CompressedForms('once') };
    made.set(server, reply);
    return reply;
  };
}
