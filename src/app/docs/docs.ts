import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import { openApi, serverPath } from './openapi.ts';
import { page } from './page.ts';

const vary = { Vary: 'Accept' };

/** GET /docs/: the OpenAPI document, rendered as a page in browsers (core.md 3). */
export function docs(endpoints: () => readonly Endpoint[], catalogue: Catalogue): Endpoint {
  const document = once((server) => ({
    status: 200,
    body: JSON.stringify(openApi(endpoints(), catalogue, server)),
    type: 'application/json',
    headers: vary,
    conditional: true,
  }));
  const documentPage = once((server) => {
    // The viewer fails on webhooks, because it looks for them among the paths.
    const { webhooks: _, ...shown } = openApi(endpoints(), catalogue, server);
    const { html, policy } = page(shown);
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
        summary: 'Returns the OpenAPI description of this API.',
        filters: { format: parameter('string', '`openapi` returns the document to browsers, too.') },
        allowedFor: 'Any caller.',
        output: { status: 200, shape: { type: 'object', additionalProperties: true }, types: ['text/html'] },
        handle: ({ config, incoming, query }) => {
          const isBrowser = /text\/html/i.test(incoming.headers.accept ?? '') && query.one('format') !== 'openapi';
          return (isBrowser ? documentPage : document)(serverPath(config));
        },
      },
    },
  };
}

/** Caches the reply for each server path, with its ETag and compressed forms. */
function once(make: (server: string) => Reply): (server: string) => Reply {
  const replies = new Map<string, Reply>();
  return (server) => {
    const reply = replies.get(server) ?? { ...encoded(make(server)), compressed: new CompressedForms('once') };
    replies.set(server, reply);
    return reply;
  };
}
