/* Names for the objects of a collection in summaries and operation ids, derived from their kind. */

/** Lowercases a word unless it has further capitals, like the names SSH and OpenStack. */
const lowered = (word: string): string => (/^.+[A-Z]/.test(word) && word !== 'SubNet' ? word : word.toLowerCase());

/** Converts `FloatingIP` to `floating IP`. `SubNet` is one word. */
const split = (word: string): string =>
  word
    .replace(/(?<!^Sub)(?<=[a-z])(?=[A-Z])/g, ' ')
    .split(' ')
    .map(lowered)
    .join(' ');

/**
 * Converts a kind for use in a sentence: `Service Certification` to `service certification`, `OpenStack.FloatingIP` to
 * `OpenStack floating IP`. The part before a dot is a name.
 */
export function nounOf(kind: string): string {
  const [type = '', named] = kind.split('.');
  return named === undefined ? type.split(' ').map(lowered).join(' ') : `${type} ${split(named)}`;
}

/** Words with the same plural and singular. */
const isPlural = (noun: string): boolean => /settings$/i.test(noun);

/** Abbreviations whose pronunciation starts with a vowel: an SSH key, an SLA. JIRA is read as a word. */
const isSpelled = (word: string): boolean => /^[AEFHILMNORSX][A-Z]*$/.test(word) && word.length > 1;

/** Adds the article: `an OpenStack tenant`, `a user`, `service settings`. */
export function withArticle(noun: string): string {
  if (isPlural(noun)) return noun;
  const [first = ''] = noun.split(' ');
  const isVowel = isSpelled(first) || /^([aeio]|u(?!s|ni))/i.test(first);
  return `${isVowel ? 'an' : 'a'} ${noun}`;
}

/** Returns the plural: `policies`, `keys`, `settings`. */
export function pluralOf(noun: string): string {
  if (isPlural(noun) || /statistics$/i.test(noun)) return noun;
  if (/[^aeiou]y$/i.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/i.test(noun) ? `${noun}es` : `${noun}s`;
}
