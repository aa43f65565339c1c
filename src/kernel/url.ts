/**
 * A text as a URL, or undefined if it is invalid. Not URL.canParse: once optimised, that of Node 20 rejects every text with
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

/** A text with stars for the user and password in each URL; the password may hold any character but the end of its host. */
export const withoutCredentials = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#,|"]*@/gi, '$1********@');
