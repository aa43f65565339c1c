/** The version of the server. */
import type { JSX } from 'preact';
import { api } from '../api/connection.ts';
import { useGet } from '../api/reading.ts';

/** `prefix` comes before the number, such as the name of the product. */
export function Version({ prefix = '' }: { readonly prefix?: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/version/', { credentials: 'omit' }), ['version']);
  return <span>{response?.isOk ? `${prefix} ${response.body.version}` : ''}</span>;
}
