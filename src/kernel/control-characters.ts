/*
 * Characters that are no part of a text: controls, and overrides of the writing direction, which make names look like others
 * (core.md 1.5 "Control characters"). NUL has a separate rule.
 */

/** In a text of one line; a tab is a blank. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are meant
export const controls = /[\x01-\x08\n-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** In a text of many lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are meant
export const controlsInLines = /[\x01-\x08\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Returns the text without control characters. */
export const withoutControls = (text: string): string =>
  controlsInLines.test(text) ? text.replace(new RegExp(controlsInLines, 'g'), '') : text;

/** Returns the text in one line without control characters. */
export const inOneLine = (text: string): string => withoutControls(text).replaceAll('\n', ' ');
