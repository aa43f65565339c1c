/** The pages that mails of hooks lead to: for people, and for mail programs that unsubscribe by themselves (RFC 8058). */
import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { notFound } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/html.ts';
import { confirm, confirmPath, isAsked, isSubscribed, unsubscribe, unsubscribePath } from './confirmation.ts';

interface Page {
  readonly path: string;
  readonly name: string;
  readonly question: string;
  readonly button: string;
  readonly done: string;
  /** Whether a link is one that works. */
  readonly knows: (request: Request, secret: string) => boolean;
  /** Does what the link is for; answers whether it is one that works. */
  readonly act: (request: Request, secret: string) => boolean;
}

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * A page of a few words, whose address is told to nobody, with the looks of the console: where that is switched off, with
 * those of the browser. It stands three folders below the console, whatever path a proxy serves both at.
 */
function page({ config }: Request, content: string, status = 200): Reply {
  const title = escaped(`Notifications from ${config.product_name}`);
  return {
    status,
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title}</title><link rel="icon" href="data:,">
${config.console_enabled ? '<link rel="stylesheet" href="../../../console/style.css">' : ''}</head>
<body><main class="entrance"><article><h1>${title}</h1>
${content}</article></main></body>
</html>
`,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
    conditional: false,
  };
}

const paragraph = (text: string): string => `<p>${escaped(text)}</p>\n`;

/** 404, for browsers as a page. Throws it otherwise. */
function unknown(request: Request): Reply {
  if (!asksForPage(request)) throw notFound();
  return page(request, paragraph('This link is unknown, or does not work any more.'), 404);
}

const asksForPage = ({ incoming }: Request): boolean => /text\/html/i.test(incoming.headers.accept ?? '');

/** GET asks by a form with one button, which POST is: what only looks at links, as scanners of mails do, changes nothing. */
const pageEndpoint = ({ act, button, done, knows, name, path, question }: Page): Endpoint => ({
  path: `${path}:key/`,
  hidesPath: true,
  key: 'text',
  name,
  description: question,
  open: true,
  isPage: true,
  actions: (request) => {
    if (!knows(request, request.params.key ?? '')) throw notFound();
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Answers a form with one button.',
      output: { status: 200, types: ['text/html'] },
      handle: (request) =>
        knows(request, request.params.key ?? '')
          ? page(request, `${paragraph(question)}<form method="post"><button>${escaped(button)}</button></form>\n`)
          : unknown(request),
    },
    POST: {
      summary: 'Does what the link is for.',
      output: { status: 200, types: ['text/html'] },
      handle: (request) => {
        if (!act(request, request.params.key ?? '')) return unknown(request);
        return asksForPage(request) ? page(request, paragraph(done)) : json({ detail: done });
      },
    },
  },
});

/** /hooks/confirm/<secret>/ and /hooks/unsubscribe/<secret>/ (events.md 5.10). */
export const hookPages: readonly Endpoint[] = [
  pageEndpoint({
    path: confirmPath,
    name: 'Hook Confirmation',
    question: 'Shall notifications be sent to your email address?',
    button: 'Yes, send notifications',
    done: 'Notifications will be sent to your email address.',
    knows: isAsked,
    act: confirm,
  }),
  pageEndpoint({
    path: unsubscribePath,
    name: 'Hook Unsubscription',
    question: 'Shall these notifications no longer be sent to your email address?',
    button: 'Unsubscribe',
    done: 'These notifications will no longer be sent to your email address.',
    knows: isSubscribed,
    act: unsubscribe,
  }),
];
