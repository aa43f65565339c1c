/** The page of the console and the files that it loads (core.md 3.1). */
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { notFound } from '../../kernel/http/error.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/letter.ts';
import { memoised } from '../../kernel/memoised.ts';
import { type ConsoleFile, embeddedConsole } from '../../kernel/native/embedded.ts';

/** Maximum number of origins in the header. More, such as all providers of a federation, would overflow proxy buffers. */
const maxNamedOrigins = 40;

/**
 * Allows only scripts, styles and requests of this server. form-action lists identity providers, because a form starts the login
 * there and browsers apply the directive to redirects, too.
 */
const policy = (formOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // The style sheet contains the icons of form elements.
    "img-src 'self' data:",
    "base-uri 'none'",
    ["form-action 'self'", ...(formOrigins.length > maxNamedOrigins ? ['https:'] : formOrigins)].join(' '),
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * Returns the page. Its URLs are relative, so that a proxy can serve it below any path. Its forms may lead to this origin and to
 * `formOrigins`.
 */
export const consolePage = (product: string, formOrigins: readonly string[]): Reply => ({
  status: 200,
  body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="application-name" content="${escaped(product)}">
<title>${escaped(product)}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="console/style.css"><script src="console/app.js" defer></script></head>
<body><noscript>This page requires JavaScript. For programs: <a href="docs/">API documentation</a>.</noscript>
<div id="console"></div></body>
</html>
`,
  type: 'text/html; charset=utf-8',
  headers: {
    Vary: 'Accept',
    'Content-Security-Policy': policy(formOrigins),
    // A page that opened this one cannot lead it to the end of another login while the user signs in.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  },
  conditional: true,
});

const types: Readonly<Record<ConsoleFile, string>> = {
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'et.js': 'text/javascript; charset=utf-8',
};

/** Returns the response for a file. Each file is compressed once. */
const fileReply = memoised(
  (file: { readonly name: ConsoleFile }): Reply => ({
    ...encoded({
      status: 200,
      body: embeddedConsole(file.name),
      type: types[file.name],
      headers: {},
      conditional: true,
    }),
    compressed: new CompressedForms('once'),
    cacheable: 'all',
  }),
);

const fileEndpoint = (name: ConsoleFile): Endpoint => {
  const file = { name };
  return {
    path: `/console/${name}/`,
    name: 'Console File',
    description: 'A file of the console.',
    open: true,
    isPage: true,
    operations: {
      GET: {
        summary: 'Returns a file of the console.',
        output: { status: 200, types: [types[name]] },
        handle: ({ config }) => {
          if (!config.console_enabled) throw notFound();
          return fileReply(file);
        },
      },
    },
  };
};

/** GET /console/app.js/, /console/style.css/ and /console/et.js/ */
export const consoleFiles: readonly Endpoint[] = (['app.js', 'style.css', 'et.js'] as const).map(fileEndpoint);
