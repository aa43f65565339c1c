import { domainToASCII, domainToUnicode } from 'node:url';
import { caseFold } from './sql.ts';

/*
 * An internationalised domain has two forms, `õun.ee` and `xn--un-bka.ee`, of which mail servers take either. An address is
 * kept and shown as it was written; what is compared is its folded form.
 */

/** An address as it is compared: without case, and with the Unicode form of its domain. */
export function foldedEmail(address: string): string {
  const [local, domain] = partsOf(address);
  return caseFold(local + (/xn--/i.test(domain) ? unicodeOf(domain) : domain));
}

/** An address, or a part of one, in all forms in which its domain may be written. */
export function emailForms(text: string): readonly string[] {
  const [local, domain] = partsOf(text);
  if (!/xn--|[^\x20-\x7e]/i.test(domain)) return [text];
  return [...new Set([domain, unicodeOf(domain), domainToASCII(domain) || domain])].map((form) => local + form);
}

/** What stands before the domain, with its `@`, and the domain. */
function partsOf(address: string): readonly [local: string, domain: string] {
  const at = address.lastIndexOf('@') + 1;
  return [address.slice(0, at), address.slice(at)];
}

/** The Unicode form of a domain; itself where that is not the form of this very domain: `xn--google-.com` is not `google.com`. */
function unicodeOf(domain: string): string {
  const unicode = domainToUnicode(domain);
  return unicode !== '' && domainToASCII(unicode) === domain.toLowerCase() ? unicode : domain;
}
