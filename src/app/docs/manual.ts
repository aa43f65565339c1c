import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { notFound } from '../../kernel/http/error.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/letter.ts';
import { embeddedManual, type ManualPage } from '../../kernel/native/embedded.ts';
import { title } from './openapi.ts';

/** The pages in order. */
const names: readonly string[] = [
  'tour',
  'deploying',
  'settings',
  'command-line',
  'roles',
  'providers',
  'hooks',
  'notifications',
  'signing-in',
  'clients',
  'api-keys',
  'testing',
  'backups',
  'audit-trail',
  'beyond-one-machine',
  'security',
  'locked-out',
  'performance',
];

const style = `body{margin:0 auto;max-width:75rem;padding:1rem;font:16px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:14rem minmax(0,1fr);gap:2rem}
nav a{display:block;padding:.15rem 0}main{max-width:52rem}a{color:#2459b8}pre,code{font:13.5px/1.5 ui-monospace,Menlo,monospace}
pre{padding:.75rem;overflow:auto;background:#f3f4f6}.wide{overflow:auto}table{border-collapse:collapse}td,th{padding:.3rem .6rem;border:1px solid #d0d4da;text-align:left;vertical-align:top}
@media(max-width:50rem){body{display:block}}@media(prefers-color-scheme:dark){body{background:#14171c;color:#e4e7eb}a{color:#8ab4ff}pre{background:#1e232b}td,th{border-color:#3a424e}}`;

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Renders a page with the list of all pages. `up` is the relative path to the manual. */
function pageOf(pages: readonly ManualPage[], current: ManualPage, up: string): Reply {
  const links = pages.map(
    ({ name, title: label }) =>
      `<a href="${up}${name}/"${name === current.name ? ' aria-current="page"' : ''}>${escaped(label)}</a>`,
  );
  return {
    status: 200,
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(current.title)} - ${title}</title><style>${style}</style></head>
<body><nav aria-label="Manual">${links.join('\n')}
<a href="${up}../">The API</a></nav>
<main><h1>${escaped(current.title)}</h1>
${current.html.replaceAll('<table>', '<div class="wide"><table>').replaceAll('</table>', '</table></div>')}</main></body>
</html>
`,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy },
    conditional: true,
  };
}

const inOrder = (pages: readonly ManualPage[]): readonly ManualPage[] =>
  [...pages].sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));

const shared = { name: 'Manual', open: true, isPage: true } as const;
const output = { status: 200, types: ['text/html'] };

/** GET /docs/manual/<page>/: a page of the manual (core.md 3). */
const manualPage: Endpoint = {
  ...shared,
  path: '/docs/manual/:key/',
  key: 'text',
  description: 'A page of the manual.',
  actions: ({ params }) => {
    if (!names.includes(params.key ?? '')) throw notFound();
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Returns a page of the manual.',
      output,
      prepare: embeddedManual,
      handle: ({ params }, pages: readonly ManualPage[]) => {
        const page = pages.find(({ name }) => name === params.key);
        if (!page) throw notFound();
        return pageOf(inOrder(pages), page, '../');
      },
    },
  },
};

/** GET /docs/manual/: the list of the pages. */
const manualStart: Endpoint = {
  ...shared,
  path: '/docs/manual/',
  description: 'The pages of the manual.',
  operations: {
    GET: {
      summary: 'Returns the list of the pages of the manual.',
      output,
      prepare: embeddedManual,
      handle: (_, pages: readonly ManualPage[]) => {
        const sorted = inOrder(pages);
        const items = sorted.map(({ name, title: label }) => `<li><a href="${name}/">${escaped(label)}</a></li>`);
        return pageOf(sorted, { name: '', title: 'Manual', html: `<ul>${items.join('')}</ul>` }, '');
      },
    },
  },
};

/** The manual (core.md 3). */
export const manual: readonly Endpoint[] = [manualStart, manualPage];
