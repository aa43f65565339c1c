/** Matches names with user input. */

/** Removes case and accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

/** Whether a title contains every word of a text. */
export const matches = (title: string, text: string): boolean =>
  foldText(text)
    .split(/\s+/)
    .every((word) => foldText(title).includes(word));
