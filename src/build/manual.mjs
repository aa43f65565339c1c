/** The manual as pages for browsers, made from its Markdown. */
import { readdirSync, readFileSync } from 'node:fs';
import { Marked } from 'marked';

const folder = new URL('../manual/', import.meta.url);

/** What GitHub makes of a heading, so that links work there and here. */
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
    link({ href, text, tokens }) {
      const content = this.parser.parseInline(tokens);
      const [, page, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
      if (page !== undefined) return `<a href="../${page}/${anchor}">${content}</a>`;
      // What stands beside the manual in the repository is not served.
      return href.startsWith('..') ? content : `<a href="${href}">${content || text}</a>`;
    },
  },
});

/** Every page by its name, the title, and what stands below it. Pictures are left out: they are of this very server. */
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
