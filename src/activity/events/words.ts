import { importances, type Level } from './catalogue.ts';

const normalized = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Words of a text: runs of letters, marks, digits and `_` of its NFKC form in lower case (events.md 4.7). */
export const wordsOf = (text: string): string[] => normalized(text).match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? [];

/** Context keys whose texts are searched, besides the message and the importance. */
const searchedKeys = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

/** The searched texts of an event one after the other, each cut into words; what stands between two texts is the word ''. */
export function searchableWords(message: string, level: Level, context: Readonly<Record<string, string>>): string[] {
  let texts = `${message}\0${importances[level].name}`;
  for (const key of searchedKeys) if (context[key]) texts += `\0${context[key]}`;
  // All texts are cut at once, which is cheaper; none of them can hold a NUL.
  return (normalized(texts).match(/[\p{L}\p{M}\p{Nd}_]+|\0/gu) ?? []).map((word) => (word === '\0' ? '' : word));
}

/** Whether these words follow each other in one of the searched texts. */
export function holdsPhrase(searchable: readonly string[], words: readonly string[]): boolean {
  const last = searchable.length - words.length;
  for (let at = 0; at <= last; at++) if (words.every((word, i) => searchable[at + i] === word)) return true;
  return false;
}
