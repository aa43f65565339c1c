/**
 * Parses a URL; returns undefined if it is invalid. URL.canParse is not used: once optimised, that of Node 20 rejects every text with
 * a letter between U+0080 and U+00FF.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Returns an address without trailing slashes, to append paths to. */
export const baseOf = (address: string): string => address.replace(/\/+$/, '');

/** Masks the user and password in each URL of a text. */
export const withoutCredentials = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#,|"]*@/gi, '$1********@');
