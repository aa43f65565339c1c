import { serverText, t } from '../i18n/words.ts';
import { type Item, isItem } from '../item.ts';
import { type ApiResponse, described, methodOf, responseOf } from './connection.ts';
import { confirmIdentity, requiresIdentity } from './identity.ts';

export * from '../item.ts';

/** The optional parts of a request. */
interface RequestOptions {
  readonly body?: Item | FormData | undefined;
  /** The value of If-Match. */
  readonly etag?: string | null | undefined;
}

/**
 * Sends a request to a path from a link, the OpenAPI document or OPTIONS. `T` is the expected type of the body, which is not
 * checked. If the server requires the user to confirm their identity, shows a dialog and repeats the request. Pages for a fixed
 * path use `api`, which is type-checked.
 */
export async function request<T>(
  method: string,
  path: string,
  { body, etag }: RequestOptions = {},
): Promise<ApiResponse<T>> {
  const send = () =>
    responseOf(
      described.request(methodOf(method), path, {
        ...(body && { body }),
        headers: { 'If-Match': etag || null },
        parseAs: 'text',
      }),
    );
  let response = await send();
  if (!response.isOk && requiresIdentity(response.status, response.body) && (await confirmIdentity(response.body)))
    response = await send();
  if (!response.isOk) return response;
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const parsed: T = JSON.parse(isJson && response.body ? response.body : 'null');
  return { ...response, body: parsed };
}

/** A page of a list, with the number of objects on all pages. */
export interface Page<T extends Item = Item> {
  readonly items: readonly T[];
  readonly count: number;
  /** Changes only when the page changes. */
  readonly etag?: string | null;
  /** The error message, if the page could not be read. */
  readonly problem?: string | undefined;
}

/** Reads a page of a list by a path from a link or the OpenAPI document. */
export const readPage = async (path: string): Promise<Page> => pageOf(await request<readonly Item[]>('GET', path));

/** Converts a response to a page. */
export function pageOf<T extends Item>({ body, headers, isOk }: ApiResponse<readonly T[]>): Page<T> {
  if (!isOk) return { items: [], count: 0, problem: problemOf(body) };
  return { items: body, count: Number(headers.get('X-Result-Count') ?? body.length), etag: headers.get('ETag') };
}

/** Returns the message of a rejection: its detail and the errors without a field. */
export function problemOf(body: unknown): string {
  if (!isItem(body)) return t('The server sent a response that this page does not understand.');
  const { detail, non_field_errors: others } = body;
  const texts = [detail, ...(Array.isArray(others) ? others : [])].filter((text) => typeof text === 'string');
  return texts.map(serverText).join(' ');
}

/** Returns the errors of a rejection by field. */
export function fieldProblems(body: unknown): Readonly<Record<string, string>> {
  if (!isItem(body)) return {};
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== 'detail' && name !== 'non_field_errors')
      .map(([name, texts]) => [name, Array.isArray(texts) ? texts.map(wordsOf).join(' ') : wordsOf(texts)]),
  );
}

const wordsOf = (text: unknown): string => (typeof text === 'string' ? serverText(text) : JSON.stringify(text));
