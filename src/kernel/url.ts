/**
 * Parses a URL; undefined if it is invalid. Does not use URL.canParse: in Node 20, once optimised, it rejects every text with a
 * letter between U+0080 and U+00FF.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Returns the port of a URL. Default: the port of its scheme. */
export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

/** Returns the host of a URL in lower case, without IPv6 brackets and trailing dot. */
export const hostOf = (url: URL): string =>
  url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/** Maximum length of a host name (RFC 1035). */
const maxHostLength = 253;

/**
 * Whether a host name is short enough for DNS. OpenSSL stores the error of a TLS connection to a longer name and reports it from an
 * unrelated later call, such as reading a private key.
 */
export const isHostLength = ({ hostname }: URL): boolean => hostname.replace(/\.$/, '').length <= maxHostLength;

/** Removes trailing slashes from a URL, for appending paths. */
export const baseOf = (address: string): string => address.replace(/\/+$/, '');

/** Masks user and password in each URL in a text. */
export const withoutCredentials = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/?#,|"]*@/gi, '$1********@');
