/*
 * Characters that do not belong in a text: control characters, and overrides of the writing direction, which disguise names
 * (core.md 1.5 "Control characters"). NUL has a separate rule.
 */

/** In a single-line text, which may contain tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are meant
export const controls = /[\x01-\x08\n-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** In a multi-line text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are meant
export const controlsInLines = /[\x01-\x08\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Matches a lone surrogate, which is not a character: UTF-8, and therefore the database, cannot represent it. */
export const loneSurrogate = /\p{Surrogate}/u;

/** Returns the text without control characters. */
export const withoutControls = (text: string): string =>
  controlsInLines.test(text) ? text.replace(new RegExp(controlsInLines, 'g'), '') : text;

/** Returns the text in one line without control characters. */
export const inOneLine = (text: string): string => withoutControls(text).replaceAll('\n', ' ');
