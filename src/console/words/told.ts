/** What the server says, which speaks English: help, refusals, and messages of events, by texts and by templates. */
import { messages } from './et-events.ts';
import { filterHelps } from './et-filters.ts';
import { helps } from './et-helps.ts';
import { refusals } from './et-refusals.ts';
import { cloudRefusals } from './et-refusals-cloud.ts';
import { partsOf, type Words } from './lookup.ts';

/** Everything that the server says, in Estonian: templates, whose values stand for any text. */
export const serverWords: Words = { ...helps, ...filterHelps, ...refusals, ...cloudRefusals, ...messages };

/** Values that are words of the API by themselves, or several of them. */
const ownWords = new Set(['role', 'kind', 'field', 'states']);

/** A further sentence, which says what has changed. */
const change = / ([^.]+?) has been changed from '(.*?)' to '(.*?)'\./gs;

interface Template {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly translation: string;
}

/**
 * Makes what translates the server's texts, or answers undefined where one is not known; words in them are said by `say`.
 */
export function tellerOf(words: Words, say: (text: string) => string): (text: string) => string | undefined {
  // Those that say most come first: what is all value would match anything.
  const templates = Object.entries(words)
    .filter(([text]) => text.includes('{'))
    .sort(([a], [b]) => fixedOf(b) - fixedOf(a))
    .map(([text, translation]): Template => {
      const parts = partsOf(text);
      const pattern = parts
        .map((part, at) => (at % 2 === 0 ? part.replace(/[.*+?^$()|[\]\\]/g, '\\$&') : '(.*?)'))
        .join('');
      return { pattern: new RegExp(`^${pattern}$`, 's'), names: parts.filter((_, at) => at % 2 === 1), translation };
    });
  const sayValue = (name: string, value: string): string => {
    if (name === 'changes')
      return value.replace(
        change,
        (_, label: string, before: string, after: string) => ` ${say(label)}: „${before}” → „${after}”.`,
      );
    return ownWords.has(name) ? value.split(', ').map(say).join(', ') : value;
  };
  return (text) => {
    if (Object.hasOwn(words, text)) return words[text];
    for (const { names, pattern, translation } of templates) {
      const found = pattern.exec(text);
      if (!found) continue;
      const values = new Map(names.map((name, at) => [name, found[at + 1] ?? '']));
      return partsOf(translation)
        .map((part, at) => (at % 2 === 0 ? part : sayValue(part, values.get(part) ?? '')))
        .join('');
    }
    return undefined;
  };
}

const fixedOf = (text: string): number =>
  partsOf(text)
    .filter((_, at) => at % 2 === 0)
    .join('').length;
