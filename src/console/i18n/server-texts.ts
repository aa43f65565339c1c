/** Translates the English texts of the server: help, errors and event messages. */
import { partsOf, type Words } from './lookup.ts';

/** Placeholders whose values are API names. */
const ownWords = new Set(['role', 'kind', 'field', 'states']);

/** The fixed parts of a sentence that describes a change. */
const change = { from: " has been changed from '", to: "' to '", end: "'." } as const;

interface Template {
  readonly parts: readonly string[];
  readonly translation: string;
}

/**
 * Returns a function that translates the server's texts, or returns undefined for an unknown text. Each key of `words` is a
 * template, in which `{name}` matches any text. `translate` translates words in the values.
 */
export function serverTextTranslator(
  words: Words,
  translate: (text: string) => string,
): (text: string) => string | undefined {
  // Try the most specific templates first: one without fixed text would match anything.
  const templates = Object.entries(words)
    .filter(([text]) => text.includes('{'))
    .sort(([a], [b]) => fixedOf(b) - fixedOf(a))
    .map(([text, translation]): Template => ({ parts: partsOf(text), translation }));
  const sayValue = (name: string, value: string): string => {
    if (name === 'changes') return translateChanges(value, translate);
    return ownWords.has(name) ? value.split(', ').map(translate).join(', ') : value;
  };
  return (text) => {
    if (Object.hasOwn(words, text)) return words[text];
    for (const { parts, translation } of templates) {
      const values = valuesIn(text, parts);
      if (!values) continue;
      return partsOf(translation)
        .map((part, index) => (index % 2 === 0 ? part : sayValue(part, values.get(part) ?? '')))
        .join('');
    }
    return undefined;
  };
}

/**
 * Matches a text with the parts of a template. Returns the values, each as short as possible, or undefined. Users and providers
 * control the values, so this never backtracks, unlike a regular expression with several wildcards.
 */
function valuesIn(text: string, parts: readonly string[]): ReadonlyMap<string, string> | undefined {
  const [first = '', ...rest] = parts;
  const last = rest.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values = new Map<string, string>();
  const end = text.length - last.length;
  let from = first.length;
  for (let index = 0; index < rest.length; index += 2) {
    const [name = '', fixed = ''] = rest.slice(index, index + 2);
    const isLast = index + 2 === rest.length;
    const to = isLast ? end : text.indexOf(fixed, from);
    const next = to + fixed.length;
    if (to < from || (!isLast && next > end)) return undefined;
    values.set(name, text.slice(from, to));
    from = next;
  }
  return values;
}

/** Translates sentences such as ` Name has been changed from 'a' to 'b'.` and leaves other text unchanged. */
export function translateChanges(text: string, translate: (text: string) => string): string {
  const translations: string[] = [];
  let done = 0;
  for (let from = text.indexOf(change.from); from >= 0; from = text.indexOf(change.from, from)) {
    const before = from + change.from.length;
    // A label starts at the first space after the last full stop.
    const start = text.indexOf(' ', done + text.slice(done, from).lastIndexOf('.') + 1);
    if (start === from) {
      from = before;
      continue;
    }
    const to = text.indexOf(change.to, before);
    const end = to < 0 ? -1 : text.indexOf(change.end, to + change.to.length);
    if (end < 0) break;
    const [label, old, now] = [
      text.slice(start + 1, from),
      text.slice(before, to),
      text.slice(to + change.to.length, end),
    ];
    translations.push(text.slice(done, start), ` ${translate(label)}: „${old}” → „${now}”.`);
    done = end + change.end.length;
    from = done;
  }
  return [...translations, text.slice(done)].join('');
}

const fixedOf = (text: string): number =>
  partsOf(text)
    .filter((_, index) => index % 2 === 0)
    .join('').length;
