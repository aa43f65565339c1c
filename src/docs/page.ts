type Json = Readonly<Record<string, unknown>>;

const escape = (text: unknown): string =>
  String(text ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

interface Described {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { name: string; description?: string }[];
  readonly requestBody?: { content: Record<string, { schema: { properties?: Record<string, Json>; required?: readonly string[] } }> };
  readonly responses: Record<string, { description: string }>;
}

/** The OpenAPI document as one HTML page that loads nothing. */
export function page(document: Json): string {
  const info = document.info as { title: string; version: string; summary: string };
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths as Record<string, Json>)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (method === 'parameters') continue;
      const described = operation as Described;
      const tag = described.tags?.[0] ?? '';
      const present = groups.get(tag);
      if (present) present.push(section(method, path, described));
      else groups.set(tag, [section(method, path, described)]);
    }
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(info.title)} API</title>
<style>${style}</style></head><body><header><h1>${escape(info.title)} API <small>${escape(info.version)}</small></h1>
<p>${escape(info.summary)} Send <code>Authorization: Token …</code> with a token from <code>POST /api-auth/password/</code>.
The same as a machine reads it: <a href="?format=openapi">OpenAPI document</a>.</p></header>
<nav>${sorted.map(([tag]) => `<a href="#${escape(tag)}">${escape(tag)}</a>`).join(' ')}</nav>
<main>${sorted.map(([tag, sections]) => `<section id="${escape(tag)}"><h2>${escape(tag)}</h2>${sections.join('')}</section>`).join('')}</main></body></html>`;
}

function section(method: string, path: string, operation: Described): string {
  const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const body = Object.entries(schema?.properties ?? {}).map(
    ([name, field]) => row(name, [schema?.required?.includes(name) ? 'required' : '', typeText(field), field.description].filter(Boolean).join(' · ')),
  );
  const query = (operation.parameters ?? []).map(({ name, description }) => row(name, description));
  const answers = Object.entries(operation.responses).map(([status, { description }]) => row(status, description));
  return `<details><summary><b class="${escape(method)}">${escape(method.toUpperCase())}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</summary>
<p>${escape(operation.description)}</p>${table('Query', query)}${table('Body', body)}${table('Answers', answers)}</details>`;
}

const typeText = (field: Json): string => {
  const { type, anyOf } = field as { type?: string | string[]; anyOf?: readonly Json[] };
  if (anyOf) return anyOf.map(typeText).join(' or ');
  return Array.isArray(type) ? type.join(' or ') : (type ?? '');
};

const row = (name: string, text: unknown): string => `<tr><th>${escape(name)}</th><td>${escape(text)}</td></tr>`;
const table = (title: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : `<h3>${title}</h3><table>${rows.join('')}</table>`;

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#1b1f24;background:#fff}
nav a{margin-right:.6rem;white-space:nowrap}summary{cursor:pointer;padding:.25rem 0}b{display:inline-block;width:4.2rem}
.get{color:#0a5bb0}.post{color:#17713a}.put,.patch{color:#8a5a00}.delete{color:#a8242c}
table{border-collapse:collapse;margin:.2rem 0 .8rem}th{font:13px ui-monospace,monospace;text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}
h3{margin:.4rem 0 0;font-size:.9rem}details{border-bottom:1px solid #e4e7eb}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6e8eb}a{color:#7db8ff}details{border-color:#2c3238}.get{color:#7db8ff}.post{color:#6fd08c}.put,.patch{color:#e0b050}.delete{color:#ff8a8a}}`;
