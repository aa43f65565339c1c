/**
 * A text as a URL, or undefined when it is none. Not URL.canParse: once optimised, that of Node 20 refuses every text with
 * a letter between U+0080 and U+00FF.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** An address to which paths are added: without slashes at its end. */
export const baseOf = (address: string): string => address.replace(/\/+$/, '');
