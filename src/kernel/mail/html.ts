const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as it stands in HTML, in elements and in quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
