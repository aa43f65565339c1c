import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { notFound } from '../../kernel/http/error.ts';
import type { Reply } from '../../kernel/http/reply.ts';
import { escaped } from '../../kernel/mail/html.ts';
import { embeddedManual, type ManualPage } from '../../kernel/native/embedded.ts';
import { title } from './openapi.ts';

/** The order of the pages; others follow by name. */
const order = [
  'tour',
  'deploying',
  'settings',
  'command-line',
  'roles',
  'providers',
  'hooks',
  'single-sign-on',
  'clients',
  'testing',
  'backups',
  'security',
  'performance',
];

const style = `body{margin:0 auto;max-width:75rem;padding:1rem;font:16px/1.55 system-ui,sans-serif;display:grid;grid-template-columns:14rem minmax(0,1fr);gap:2rem}
nav a{display:block;padding:.15rem 0}main{max-width:52rem}a{color:#2459b8}pre,code{font:13.5px/1.5 ui-monospace,Menlo,monospace}
pre{padding:.75rem;overflow:auto;background:#f3f4f6}.wide{overflow:auto}table{border-collapse:collapse}td,th{padding:.3rem .6rem;border:1px solid #d0d4da;text-align:left;vertical-align:top}
@media(max-width:50rem){body{display:block}}@media(prefers-color-scheme:dark){body{background:#14171c;color:#e4e7eb}a{color:#8ab4ff}pre{background:#1e232b}td,th{border-color:#3a424e}}`;

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function pageOf(pages: readonly ManualPage[], shown: ManualPage): Reply {
  const links = pages.map(
    ({ name, title: label }) =>
      `<a href="../${name}/"${name === shown.name ? ' aria-current="page"' : ''}>${escaped(label)}</a>`,
  );
  return {
    status: 200,
    body: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(shown.title)} - ${title}</title><style>${style}</style></head>
<body><nav aria-label="Manual">${links.join('\n')}
<a href="../../">The API</a></nav>
<main><h1>${escaped(shown.title)}</h1>
${shown.html.replaceAll('<table>', '<div class="wide"><table>').replaceAll('</table>', '</table></div>')}</main></body>
</html>
`,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy },
    conditional: true,
  };
}

const rank = ({ name }: ManualPage): number => (order.includes(name) ? order.indexOf(name) : order.length);

/** GET /docs/manual/<page>/: the manual, a page at a time (core.md 3). */
export const manual: Endpoint = {
  path: '/docs/manual/:key/',
  key: 'text',
  name: 'Manual',
  description: 'A page of the manual.',
  open: true,
  isPage: true,
  operations: {
    GET: {
      summary: 'Answers a page of the manual.',
      output: { status: 200, types: ['text/html'] },
      prepare: embeddedManual,
      handle: ({ params }, pages: readonly ManualPage[]) => {
        const sorted = [...pages].sort((a, b) => rank(a) - rank(b));
        const shown = sorted.find(({ name }) => name === params.key);
        if (!shown) throw notFound();
        return pageOf(sorted, shown);
      },
    },
  },
};
