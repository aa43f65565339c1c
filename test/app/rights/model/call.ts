/** Requests of the model, with labels instead of objects, so that the same request can be sent to any server. */

export type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A link in a body: to the object with this label, or to none. */
export interface Link {
  readonly link: string;
  readonly key: string;
}

export interface Call {
  /** Number of the step, which labels the new object. */
  readonly at: number;
  /** Milliseconds that pass before it. Zero for a sign-in. */
  readonly wait: number;
  /** Label of the caller; `anonymous` sends no token, `forged` an unknown one. */
  readonly by: string;
  /** `sign in` is not a request: the caller gets a new token. */
  readonly method: Method | 'sign in';
  /** The path: collection, key (a label or anything else) and tail. */
  readonly on: string;
  readonly key?: string;
  readonly tail?: string;
  /** The notation of the path: keys in upper case, or no trailing slash. */
  readonly written?: 'upper' | 'bare';
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** An unreadable body that replaces a valid one. */
  readonly unreadable?: keyof typeof unreadable;
}

/** Unreadable bodies: how they are sent, and the response. */
export const unreadable = {
  'broken JSON': { type: 'application/json', text: '{"name": ', status: 400, body: { detail: 'JSON parse error - …' } },
  'a list': {
    type: 'application/json',
    text: '[]',
    status: 400,
    body: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
  },
  nothing: { type: 'application/json', text: 'null', status: 400, body: { non_field_errors: ['No data provided'] } },
  'plain text': {
    type: 'text/plain',
    text: 'name',
    status: 415,
    body: { detail: 'Unsupported media type "text/plain" in request.' },
  },
} as const;

export const isLabel = (text: string): boolean => /^(admin|[ukcpr]\d+(\.\w+)?)$/.test(text);

/** Describes a call in one line. */
export function describeCall({ at, wait, by, method, on, key, tail, query, body, unreadable, written }: Call): string {
  const path = ['', 'api', on, key, tail, ''].filter((part) => part !== undefined).join('/');
  const search = query && `?${new URLSearchParams(query)}`;
  return [
    `#${at}`,
    wait > 0 && `after ${wait} ms`,
    by,
    method,
    path + (search ?? ''),
    written,
    unreadable && `with ${unreadable}`,
    body && JSON.stringify(body),
  ]
    .filter(Boolean)
    .join(' ');
}
