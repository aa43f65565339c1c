import { type Level, importances } from './catalogue.ts';

/** Words of a text: runs of letters, marks, digits and `_` of its NFKC form in lower case (events.md 4.7). */
export const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? [];

/** Context keys whose texts are searched, besides the message and the importance. */
const searchedKeys = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

/** What the index holds of an event: the words of each searched text, with a bar between texts. */
export function searchableWords(message: string, level: Level, context: Readonly<Record<string, string>>): string {
  const texts = [message, importances[level].name, ...searchedKeys.map((key) => context[key] ?? '')];
  return texts.map((text) => wordsOf(text).join(' ')).filter((words) => words !== '').join(' | ');
}
