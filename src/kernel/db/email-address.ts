import { domainToASCII, domainToUnicode } from 'node:url';
import { caseFold, raw, type Sql, sql } from './sql.ts';

/*
 * An internationalised domain has two forms, `õun.ee` and `xn--un-bka.ee`, and mail servers accept both. Addresses are stored and
 * displayed as entered, and compared in their folded form.
 */

/** Returns the folded form of an address for comparison: case-folded, with the Unicode form of its domain. */
export function foldedEmail(address: string): string {
  const [local, domain] = partsOf(address);
  return caseFold(local + (/xn--/i.test(domain) ? unicodeOf(domain) : domain));
}

/**
 * Condition: a column of folded addresses has this address. It repeats the condition of the partial index, without which SQLite
 * would scan the table.
 */
export const hasEmail = (address: string, column = 'email_folded'): Sql =>
  sql`${raw(column)} = ${foldedEmail(address)} AND ${raw(column)} <> ''`;

/** Returns an address, or a part of one, in all spellings of its domain. */
export function emailForms(text: string): readonly string[] {
  const [local, domain] = partsOf(text);
  if (!/xn--|[^\x20-\x7e]/i.test(domain)) return [text];
  return [...new Set([domain, unicodeOf(domain), domainToASCII(domain) || domain])].map((form) => local + form);
}

/** Splits an address after its `@`. */
function partsOf(address: string): readonly [local: string, domain: string] {
  const domainStart = address.lastIndexOf('@') + 1;
  return [address.slice(0, domainStart), address.slice(domainStart)];
}

/** Returns the Unicode form of a domain, or the domain itself if that form is another domain: `xn--google-.com`. */
function unicodeOf(domain: string): string {
  const unicode = domainToUnicode(domain);
  return unicode !== '' && domainToASCII(unicode) === domain.toLowerCase() ? unicode : domain;
}
