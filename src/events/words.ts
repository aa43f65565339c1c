/** Words of a text: runs of letters, marks, digits and `_` of its NFKC form in lower case (events.md 4.7). */
export const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{M}\p{Nd}_]+/gu) ?? [];

/** Context keys whose texts are searched, besides the message; the importance follows from the level. */
const searchedKeys = ['customer_abbreviation', 'project_name', 'user_full_name', 'user_native_name'] as const;

/** What the index holds of an event: the words of each searched text, with a bar between texts. */
export const searchableWords = (message: string, context: Readonly<Record<string, string>>): string =>
  [message, ...searchedKeys.map((key) => context[key] ?? '')].map((text) => wordsOf(text).join(' ')).filter((words) => words !== '').join(' | ');
