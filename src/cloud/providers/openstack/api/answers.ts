import * as v from 'valibot';
import { urlOf } from '../../../../kernel/url.ts';
import { decoded, malformed } from '../../../catalogue/vendor-http.ts';
import type { Call } from './session.ts';

/* How the answers of OpenStack's services are read: an object or a list under one key, lists page by page. */

const record = v.record(v.string(), v.unknown());

/** The member of an answer in its promised shape. Throws `malformed`. */
export const member = <T>(body: unknown, name: string, schema: v.GenericSchema<unknown, T>): T =>
  decoded(schema, v.is(record, body) ? body[name] : undefined);

const mostObjects = 10_000;
/** Small enough that no page holds up the process while it is read. */
const pageSize = 100;

const links = v.nullish(v.array(v.object({ rel: v.string(), href: v.string() })), []);
const nextPath = v.nullish(v.string());

/** All pages of a list. Of the link to the next page only the query counts: the token goes to nobody but the service. */
export async function list<T>(
  call: Call,
  path: string,
  name: string,
  schema: v.GenericSchema<unknown, T>,
  filter: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const items: T[] = [];
  let query = `?${new URLSearchParams({ ...filter, limit: String(pageSize) })}`;
  for (;;) {
    const body = await call('GET', path + query);
    const page = member(body, name, v.array(schema));
    for (const item of page) items.push(item);
    const next =
      member(body, `${name}_links`, links)?.find(({ rel }) => rel === 'next')?.href ?? member(body, 'next', nextPath);
    if (!next) return items;
    const url = urlOf(next, 'http://service/');
    if (page.length === 0 || items.length >= mostObjects || !url) throw malformed();
    query = url.search;
  }
}

/** A whole list that the service does not divide into pages. */
export const whole = async <T>(
  call: Call,
  path: string,
  name: string,
  schema: v.GenericSchema<unknown, T>,
): Promise<T[]> => member(await call('GET', path), name, v.array(schema));
