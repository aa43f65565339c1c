import { createHash } from 'node:crypto';
import { embeddedScript } from '../../kernel/native/embedded.ts';
import { title } from './openapi.ts';

type Json = Readonly<Record<string, unknown>>;

const digestOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/** Encodes JSON for a script element. Strings must not close the element. */
const jsonForScript = (json: Json): string => JSON.stringify(json).replaceAll('<', '\\u003c');

/**
 * The script of the page: passes the document to the viewer and follows the system's colour scheme. The viewer validates and
 * copies everything that it loads, which would take seconds for all schemas. So it first loads only the names of the operations;
 * then the script adds their parameters and responses, with each reference resolved once.
 */
const startScript = (document: Json): string => `
const viewer = document.querySelector('rapi-doc');
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => viewer.setAttribute('theme', dark.matches ? 'dark' : 'light');
dark.addEventListener('change', paint);
paint();
const api = ${jsonForScript(document)};
const each = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
const named = ({ deprecated, description, operationId, security, summary, tags }) =>
  ({ deprecated, description, operationId, security, summary, tags, responses: {} });
const { securitySchemes } = api.components;
const outline = { ...api, components: { securitySchemes }, paths: each(api.paths, ({ parameters, ...methods }) => each(methods, named)) };
const followed = new Map();
const follow = (node) => {
  if (Array.isArray(node)) return node.map(follow);
  if (node === null || typeof node !== 'object') return node;
  const { $ref } = node;
  if (typeof $ref !== 'string') return each(node, follow);
  if (!followed.has($ref)) followed.set($ref, follow($ref.slice(2).split('/').reduce((part, name) => part[name], api)));
  return followed.get($ref);
};
const complete = (operation) => {
  const { parameters: common = [], ...methods } = api.paths[operation.path];
  const { parameters = [], requestBody, responses } = methods[operation.method];
  Object.assign(operation, { parameters: follow([...common, ...parameters]), requestBody: follow(requestBody), responses: follow(responses) });
};
customElements.whenDefined('rapi-doc').then(() => {
  const { afterSpecParsedAndValidated: show } = viewer;
  viewer.afterSpecParsedAndValidated = (loaded) => {
    for (const { paths } of loaded.tags) paths.forEach(complete);
    return show.call(viewer, loaded);
  };
  // Drop undefined members, which the viewer would show.
  viewer.loadSpec(JSON.parse(JSON.stringify(outline)));
});
`;

/** A page, and the Content-Security-Policy that allows only its own scripts and requests to this server. */
interface Page {
  readonly html: string;
  readonly policy: string;
}

/** Renders the OpenAPI document as an interactive page that includes the viewer and contacts only this server. */
export function page(document: Json): Page {
  const viewer = embeddedScript('rapidoc');
  const start = startScript(document);
  // The viewer uses style attributes.
  const policy = [
    "default-src 'none'",
    `script-src ${digestOf(viewer)} ${digestOf(start)}`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} API</title>
<style>html,body{margin:0;height:100%}rapi-doc{width:100%;height:100%}noscript{display:block;padding:1rem;font:15px/1.5 system-ui,sans-serif}
${narrow}</style></head>
<body><noscript>This page requires JavaScript. For programs: <a href="?format=openapi">OpenAPI document</a>.</noscript>
<rapi-doc ${attributes}><p slot="nav-logo"></p></rapi-doc>
<script>${viewer}</script>
<script>${start}</script></body>
</html>`;
  return { html, policy };
}

/** Keeps the list of operations above the content on narrow screens, where the viewer would hide it. */
const narrow = `@media(max-width:767px){rapi-doc::part(section-navbar){display:flex;position:fixed;inset:0 0 auto;z-index:1;width:100%;height:35vh}
rapi-doc::part(section-main-content){margin-top:35vh}rapi-doc::part(wrap-request-btn){flex-wrap:wrap;gap:8px}}`;

/** Settings of the viewer: no external requests, no stored tokens. */
const attributes = Object.entries({
  'load-fonts': 'false',
  'render-style': 'focused',
  'regular-font': "system-ui, -apple-system, 'Segoe UI', sans-serif",
  'mono-font': "ui-monospace, 'Cascadia Mono', Menlo, monospace",
  'primary-color': '#2f6fde',
  'schema-style': 'table',
  'show-header': 'false',
  'show-method-in-nav-bar': 'as-colored-text',
  'use-path-in-nav-bar': 'true',
  'allow-spec-url-load': 'false',
  'allow-spec-file-load': 'false',
  'allow-server-selection': 'false',
  'allow-spec-file-download': 'false',
  'default-schema-tab': 'example',
  'persist-auth': 'false',
})
  .map(([name, value]) => `${name}="${value}"`)
  .join(' ');
