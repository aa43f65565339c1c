/** The pages behind the links in mails: for people, and for mail programs that unsubscribe automatically (RFC 8058). */
import type { Request } from '../../kernel/access/request.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { notFound } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/letter.ts';
import type { Language, Translations } from './catalogue.ts';
import { isSubscribed, unsubscribe, unsubscribePath } from './mails.ts';

interface Page {
  readonly path: string;
  readonly name: string;
  readonly question: Translations;
  readonly button: Translations;
  readonly done: Translations;
  /** Whether the link is valid. */
  readonly isValid: (request: Request, secret: string) => boolean;
  /** Performs the action of the link. Returns whether the link is valid. */
  readonly act: (request: Request, secret: string) => boolean;
}

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Returns the page language that the browser prefers, by the order and weights of Accept-Language. */
function languageOf({ incoming }: Pick<Request, 'incoming'>): Language {
  const wanted = (incoming.headers['accept-language'] ?? '')
    .split(',')
    .map((part) => /^\s*(en|et)(?:-[\w-]*)?\s*(?:;\s*q=([\d.]+))?\s*$/i.exec(part))
    .filter((result) => result !== null)
    .map(([, name, weight]) => ({ name: name?.toLowerCase(), weight: Number(weight ?? 1) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return wanted[0]?.name === 'et' ? 'et' : 'en';
}

const title = (product: string): Translations => ({
  en: `Notifications from ${product}`,
  et: `Teavitused: ${product}`,
});

/**
 * Renders a short page, with the console's styles if the console is on. The relative path of the stylesheet works below any path
 * prefix of a proxy.
 */
function page(request: Request, content: string, status = 200): Reply {
  const { config } = request;
  const language = languageOf(request);
  const heading = escaped(title(config.product_name)[language]);
  return {
    status,
    body: `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${heading}</title><link rel="icon" href="data:,">
${config.console_enabled ? '<link rel="stylesheet" href="../../../console/style.css">' : ''}</head>
<body><main class="door"><div class="panel"><h1>${heading}</h1>
${content}</div></main></body>
</html>
`,
    type: 'text/html; charset=utf-8',
    headers: { Vary: 'Accept, Accept-Language', 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' },
    conditional: false,
  };
}

const paragraph = (request: Request, text: Translations): string => `<p>${escaped(text[languageOf(request)])}</p>\n`;

const unknownLink: Translations = {
  en: 'This link is unknown, or does not work any more.',
  et: 'Seda linki ei tunta või see enam ei kehti.',
};

/** Responds with 404: a page for browsers, an error for other clients. */
function unknown(request: Request): Reply {
  if (!acceptsHtml(request)) throw notFound();
  return page(request, paragraph(request, unknownLink), 404);
}

const acceptsHtml = ({ incoming }: Request): boolean => /text\/html/i.test(incoming.headers.accept ?? '');

/** Creates the endpoint of a page. GET only returns a form, so that mail scanners change nothing by opening links. POST acts. */
export const mailPage = ({ act, button, done, isValid, name, path, question }: Page): Endpoint => ({
  path: `${path}:key/`,
  hidesPath: true,
  key: 'text',
  name,
  description: question.en,
  open: true,
  isPage: true,
  actions: (request) => {
    if (!isValid(request, request.params.key ?? '')) throw notFound();
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Returns a form with one button.',
      output: { status: 200, types: ['text/html'] },
      handle: (request) =>
        isValid(request, request.params.key ?? '')
          ? page(
              request,
              `${paragraph(request, question)}<form method="post"><button class="btn primary full">${escaped(button[languageOf(request)])}</button></form>\n`,
            )
          : unknown(request),
    },
    POST: {
      summary: 'Performs the action of the link.',
      output: { status: 200, types: ['text/html'] },
      handle: (request) => {
        if (!act(request, request.params.key ?? '')) return unknown(request);
        return acceptsHtml(request) ? page(request, paragraph(request, done)) : json({ detail: done.en });
      },
    },
  },
});

/** Creates an unsubscribe page, with the same texts for hooks and notifications. */
export const unsubscribePage = (rest: Pick<Page, 'path' | 'name' | 'isValid' | 'act'>): Endpoint =>
  mailPage({
    question: {
      en: 'Stop sending these notifications to your email address?',
      et: 'Kas lõpetada nende teavituste saatmine sinu e-posti aadressile?',
    },
    button: { en: 'Unsubscribe', et: 'Loobu teavitustest' },
    done: {
      en: 'These notifications will no longer be sent to your email address.',
      et: 'Neid teavitusi sinu e-posti aadressile enam ei saadeta.',
    },
    ...rest,
  });

/** The page that unsubscribes from the kinds of notifications in a mail. */
export const notificationUnsubscribePage: Endpoint = unsubscribePage({
  path: unsubscribePath,
  name: 'Notification Unsubscription',
  isValid: isSubscribed,
  act: unsubscribe,
});
