/** A dictionary: what is said in English, with the same in another language. */
export type Words = Readonly<Record<string, string>>;

/** What values are put in the place of `{name}`. */
export type Values = Readonly<Record<string, string | number>>;

/**
 * Looks texts up in a dictionary: as they are written, else whatever their capitals, which the translation then follows.
 * What is not in it is undefined.
 */
export function lookupIn(words: Words): (text: string) => string | undefined {
  const folded = new Map(Object.entries(words).map(([text, translation]) => [text.toLowerCase(), translation]));
  return (text) => {
    if (Object.hasOwn(words, text)) return words[text];
    const found = folded.get(text.toLowerCase());
    if (found === undefined) return undefined;
    const first = found.charAt(0);
    if (/^\p{Lu}/u.test(text)) return first.toUpperCase() + found.slice(1);
    // `IP` stays what it is.
    return /^\p{Lu}\p{Lu}/u.test(found) ? found : first.toLowerCase() + found.slice(1);
  };
}

/** A text in its parts: at the even places what is said, at the odd ones the names of what stands between. */
export const partsOf = (text: string): readonly string[] => text.split(/\{(\w+)\}/);
