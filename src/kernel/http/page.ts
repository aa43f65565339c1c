import { notFound } from './error.ts';
import type { Query } from './query.ts';

const defaultSize = 10;
const largestSize = 300;
/** Clients bound the headers that they read, Node.js all of them together to 16 KiB. */
const maxLinkLength = 4096;

/** A page of a list: how many objects to skip and to take. */
export interface Page {
  readonly number: number;
  readonly size: number;
  readonly offset: number;
  readonly last: number;
}

/** The page asked for, of a list with `total` objects. Throws 404 `Invalid page.` outside of the list (core.md 1.8). */
export function pageOf(query: Query, total: number): Page {
  const sizeText = query.one('page_size') ?? '';
  const size = /^\s*\+?0*[1-9]\d*\s*$/.test(sizeText) ? Math.min(Number(sizeText), largestSize) : defaultSize;
  const last = Math.max(1, Math.ceil(total / size));
  const text = query.one('page') ?? '1';
  const number = text === 'last' ? last : /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > last) throw notFound('Invalid page.');
  return { number, size, offset: (number - 1) * size, last };
}

/** X-Result-Count and Link of a page, without a Link that would be too long to read; `url` is the list's address without its query. */
export function pageHeaders(page: Page, total: number, url: string, query: Query): Record<string, string> {
  // Parameters appear in the order of their names.
  const [before, after] = query.around('page');
  const linkTo = (number: number, rel: string): string => {
    const search = [before, number === 1 ? '' : `page=${number}`, after].filter((part) => part !== '').join('&');
    return `<${url}${search === '' ? '' : `?${search}`}>; rel="${rel}"`;
  };
  const links = [linkTo(1, 'first')];
  if (page.number > 1) links.push(linkTo(page.number - 1, 'prev'));
  if (page.number < page.last) links.push(linkTo(page.number + 1, 'next'));
  links.push(linkTo(page.last, 'last'));
  const link = links.join(', ');
  return { 'X-Result-Count': String(total), ...(link.length <= maxLinkLength && { Link: link }) };
}
