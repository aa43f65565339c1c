/** A dictionary: English texts with their translations. */
export type Words = Readonly<Record<string, string>>;

/** The texts of a language: those of the console, and templates for those of the server. */
export interface Catalogue {
  readonly console: Words;
  readonly server: Words;
}

/** The values for `{name}`. */
export type Values = Readonly<Record<string, string | number>>;

/**
 * Returns a lookup of texts in a dictionary: first exactly, then ignoring case. In the latter case, the first letter of the
 * translation gets the case of the text. Texts without a translation yield undefined.
 */
export function lookupIn(words: Words): (text: string) => string | undefined {
  const folded = new Map(Object.entries(words).map(([text, translation]) => [text.toLowerCase(), translation]));
  return (text) => {
    if (Object.hasOwn(words, text)) return words[text];
    const translation = folded.get(text.toLowerCase());
    if (translation === undefined) return undefined;
    const first = translation.charAt(0);
    if (/^\p{Lu}/u.test(text)) return first.toUpperCase() + translation.slice(1);
    // An acronym such as `IP` keeps its capitals.
    return /^\p{Lu}\p{Lu}/u.test(translation) ? translation : first.toLowerCase() + translation.slice(1);
  };
}

/** Splits a text: fixed parts at the even places, names of values at the odd ones. */
export const partsOf = (text: string): readonly string[] => text.split(/\{(\w+)\}/);
