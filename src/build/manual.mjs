/** Converts the manual from Markdown to HTML. */
import { readdirSync, readFileSync } from 'node:fs';
import { Marked } from 'marked';

const folder = new URL('../manual/', import.meta.url);

/** Returns GitHub's anchor of a heading, so that links work on both. */
const anchorOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const marked = new Marked({
  gfm: true,
  renderer: {
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    image: () => '',
    link({ href, text, tokens }) {
      const content = this.parser.parseInline(tokens);
      const [, page, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
      if (page !== undefined) return `<a href="../${page}/${anchor}">${content}</a>`;
      // Files outside the manual are not served.
      return href.startsWith('..') ? content : `<a href="${href}">${content || text}</a>`;
    },
  },
});

/** Returns every page with its name, title and content. Omits pictures, because they show this server. */
export function manualPages() {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const [first = '', ...lines] = text.split('\n');
      return {
        name: file.slice(0, -'.md'.length),
        title: first.replace(/^# /, ''),
        html: marked.parse(lines.join('\n')),
      };
    });
}
