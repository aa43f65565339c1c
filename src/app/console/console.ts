/** The console for browsers: its page and the files that it loads (core.md 3.1). */
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { CompressedForms } from '../../kernel/http/encoding.ts';
import { notFound } from '../../kernel/http/error.ts';
import { encoded, type Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/html.ts';
import { memoised } from '../../kernel/memoised.ts';
import { type ConsoleFile, embeddedConsole } from '../../kernel/native/embedded.ts';

/** Most origins that the header names; more, such as those of a federation, would not fit into the buffers of proxies. */
const maxNamedOrigins = 40;

/**
 * Nothing runs and nothing is asked but what this server serves. A form begins the way to an identity provider, where browsers
 * check its redirects, too.
 */
const policy = (formOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // Signs of form elements stand in the style sheet.
    "img-src 'self' data:",
    "base-uri 'none'",
    ["form-action 'self'", ...(formOrigins.length > maxNamedOrigins ? ['https:'] : formOrigins)].join(' '),
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * The page, whose addresses are relative: whatever path a proxy serves it at, its files and the API are below. Its forms may
 * lead to these origins besides its own.
 */
export const consolePage = (product: string, formOrigins: readonly string[]): Reply => ({
  status: 200,
  body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="application-name" content="${escaped(product)}">
<title>${escaped(product)}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="console/style.css"><script src="console/app.js" defer></script></head>
<body><noscript>This page needs scripts. The API for programs: <a href="docs/">its description</a>.</noscript>
<div id="console"></div></body>
</html>
`,
  type: 'text/html; charset=utf-8',
  headers: { Vary: 'Accept', 'Content-Security-Policy': policy(formOrigins), 'Referrer-Policy': 'no-referrer' },
  conditional: true,
});

const types: Readonly<Record<ConsoleFile, string>> = {
  'app.js': 'text/javascript; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
};

/** The file as it is sent, compressed once. */
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
    kept: 'all',
  }),
);

const fileEndpoint = (name: ConsoleFile): Endpoint => {
  const file = { name };
  return {
    path: `/console/${name}/`,
    name: 'Console File',
    description: 'A part of the console.',
    open: true,
    isPage: true,
    operations: {
      GET: {
        summary: 'Answers a part of the console.',
        output: { status: 200, types: [types[name]] },
        handle: ({ config }) => {
          if (!config.console_enabled) throw notFound();
          return fileReply(file);
        },
      },
    },
  };
};

/** /console/app.js and /console/style.css. */
export const consoleFiles: readonly Endpoint[] = [fileEndpoint('app.js'), fileEndpoint('style.css')];
