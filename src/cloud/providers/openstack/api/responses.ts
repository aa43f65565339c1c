import * as v from 'valibot';
import { decoded } from '../../../catalogue/vendor-http.ts';
import { linkedPages } from '../../../operations/paging.ts';
import type { Call } from './session.ts';

/* Reads responses of OpenStack services: an object or a list under one key, lists page by page. */

const record = v.record(v.string(), v.unknown());

/** A member of a response, validated. Throws `malformed`. */
export const member = <T>(body: unknown, name: string, schema: v.GenericSchema<unknown, T>): T =>
  decoded(schema, v.is(record, body) ? body[name] : undefined);

/** Small enough to parse a page without blocking the event loop for long. */
const pageSize = 100;

const links = v.nullish(v.array(v.object({ rel: v.string(), href: v.string() })), []);
const nextPath = v.nullish(v.string());

/** All pages of a list. */
export const list = <T>(
  call: Call,
  path: string,
  name: string,
  schema: v.GenericSchema<unknown, T>,
  filter: Readonly<Record<string, string>> = {},
): Promise<T[]> =>
  linkedPages({ ...filter, limit: String(pageSize) }, async (query) => {
    const body = await call('GET', path + query);
    const link = member(body, `${name}_links`, links)?.find(({ rel }) => rel === 'next')?.href;
    return { items: member(body, name, v.array(schema)), next: link ?? member(body, 'next', nextPath) };
  });

/** A list without pages. */
export const allItems = async <T>(
  call: Call,
  path: string,
  name: string,
  schema: v.GenericSchema<unknown, T>,
): Promise<T[]> => member(await call('GET', path), name, v.array(schema));
