/* How summaries and operation ids speak of the objects of a collection, made from the name of their kind. */

/** A word of more capitals than its first is a name, such as SSH or OpenStack, and keeps them. */
const lowered = (word: string): string => (/^.+[A-Z]/.test(word) && word !== 'SubNet' ? word : word.toLowerCase());

/** `FloatingIP` as `floating IP`; `SubNet` is one word. */
const split = (word: string): string =>
  word
    .replace(/(?<!^Sub)(?<=[a-z])(?=[A-Z])/g, ' ')
    .split(' ')
    .map(lowered)
    .join(' ');

/**
 * What a kind is called within a sentence: `Service Certification` a service certification, `OpenStack.FloatingIP` an
 * OpenStack floating IP. What stands before a dot is a name.
 */
export function nounOf(kind: string): string {
  const [type = '', named] = kind.split('.');
  return named === undefined ? type.split(' ').map(lowered).join(' ') : `${type} ${split(named)}`;
}

/** Words whose plural and singular are alike. */
const isPlural = (noun: string): boolean => /settings$/i.test(noun);

/** Spelled out, such letters begin with a vowel: an SSH key, an SLA; JIRA is read as a word. */
const isSpelled = (word: string): boolean => /^[AEFHILMNORSX][A-Z]*$/.test(word) && word.length > 1;

/** With its article: `an OpenStack tenant`, `a user`, `service settings`. */
export function withArticle(noun: string): string {
  if (isPlural(noun)) return noun;
  const [first = ''] = noun.split(' ');
  const isVowel = isSpelled(first) || /^([aeio]|u(?!s|ni))/i.test(first);
  return `${isVowel ? 'an' : 'a'} ${noun}`;
}

/** More than one of it: `policies`, `keys`, `settings`. */
export function pluralOf(noun: string): string {
  if (isPlural(noun) || /statistics$/i.test(noun)) return noun;
  if (/[^aeiou]y$/i.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/i.test(noun) ? `${noun}es` : `${noun}s`;
}
