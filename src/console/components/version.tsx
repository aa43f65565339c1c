/** The version of the server. */
import type { JSX } from 'preact';
import { api } from '../api/connection.ts';
import { useGet } from '../api/reading.ts';

/** `prefix` precedes the number, such as the product name. */
export function Version({ prefix = '' }: { readonly prefix?: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/version/', { credentials: 'omit' }), ['version']);
  return <span>{response?.isOk ? `${prefix} ${response.body.version}` : ''}</span>;
}
