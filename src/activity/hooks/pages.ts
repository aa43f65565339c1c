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
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A page of a few words, which nothing is loaded into and whose address is told to nobody. */
const page = (title: string, content: string, status = 200): Reply => ({
  status,
  body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<style>body{max-width:32rem;margin:4rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}button{font:inherit;padding:.5rem 1rem}</style></head>
<body><h1>${escaped(title)}</h1>
${content}</body>
</html>
`,
  type: 'text/html; charset=utf-8',
  headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
  conditional: false,
});

const paragraph = (text: string): string => `<p>${escaped(text)}</p>\n`;
const title = ({ config }: Request): string => `Notifications from ${config.product_name}`;

/** 404, for browsers as a page. Throws it otherwise. */
function unknown(request: Request): Reply {
  if (!asksForPage(request)) throw notFound();
  return page(title(request), paragraph('This link is unknown, or does not work any more.'), 404);
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
          ? page(
              title(request),
              `${paragraph(question)}<form method="post"><button>${escaped(button)}</button></form>\n`,
            )
          : unknown(request),
    },
    POST: {
      summary: 'Does what the link is for.',
      output: { status: 200, types: ['text/html'] },
      handle: (request) => {
        if (!act(request, request.params.key ?? '')) return unknown(request);
        return asksForPage(request) ? page(title(request), paragraph(done)) : json({ detail: done });
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
