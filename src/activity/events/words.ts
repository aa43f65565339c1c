import { importances, type Level } from './catalogue.ts';

const normalized = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Splits a text into words: runs of letters, marks, digits and `_` of its NFKC form in lower case (events.md 4.7). */
export const wordsOf = (text: string): string[] => normalized(text).match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? [];

/** Context keys that are searched, besides the message and the importance. */
const searchedKeys = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

/** Returns the words of all searched texts of an event; an empty word separates two texts. */
export function searchableWords(message: string, level: Level, context: Readonly<Record<string, string>>): string[] {
  let texts = `${message}\0${importances[level].name}`;
  for (const key of searchedKeys) if (context[key]) texts += `\0${context[key]}`;
  // Splitting all texts at once is cheaper; no text can contain a NUL.
  return (normalized(texts).match(/[\p{L}\p{M}\p{Nd}_]+|\0/gu) ?? []).map((word) => (word === '\0' ? '' : word));
}

/** Whether these words are adjacent and in order in one of the searched texts. */
export function containsPhrase(searchable: readonly string[], words: readonly string[]): boolean {
  const last = searchable.length - words.length;
  for (let at = 0; at <= last; at++) if (words.every((word, i) => searchable[at + i] === word)) return true;
  return false;
}
