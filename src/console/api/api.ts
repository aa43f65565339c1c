import { t, told } from '../i18n/words.ts';
import { type Answer, answered, described, methodOf } from './connection.ts';

/** An object of the API, as it was answered. */
export type Item = Readonly<Record<string, unknown>>;

/** The path of a link of the API, `/api/…` with its query, whatever base it was written with. */
export function pathOf(link: string): string {
  const query = link.indexOf('?');
  return link.slice((query < 0 ? link : link.slice(0, query)).lastIndexOf('/api/'));
}

/** What a request may bring besides its path. */
interface Given {
  readonly body?: Item | FormData | undefined;
  /** The ETag that the object must still have. */
  readonly etag?: string | null | undefined;
}

/**
 * Sends a request to a path that the API has told: by a link, its document or OPTIONS. `T` is what the caller knows of
 * the body from there. What is known while the page is written goes by `api`, whose types hold.
 */
export async function request<T>(method: string, path: string, { body, etag }: Given = {}): Promise<Answer<T>> {
  const answer = await answered(
    described.request(methodOf(method), path, {
      ...(body && { body }),
      headers: { 'If-Match': etag || null },
      parseAs: 'text',
    }),
  );
  if (!answer.isOk) return answer;
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
  const parsed: T = JSON.parse(isJson && answer.body ? answer.body : 'null');
  return { ...answer, body: parsed };
}

/** The page of a list with the number of all its objects. */
export interface Page<T extends Item = Item> {
  readonly items: readonly T[];
  readonly count: number;
  /** As long as it is the same nothing has changed. */
  readonly etag?: string | null;
  /** What to say when it could not be read. */
  readonly problem?: string | undefined;
}

/** Reads a page of a list that the API has told of. */
export const readPage = async (path: string): Promise<Page> => pageOf(await request<readonly Item[]>('GET', path));

/** The page that was answered. */
export function pageOf<T extends Item>({ body, headers, isOk }: Answer<readonly T[]>): Page<T> {
  if (!isOk) return { items: [], count: 0, problem: problemOf(body) };
  return { items: body, count: Number(headers.get('X-Result-Count') ?? body.length), etag: headers.get('ETag') };
}

/** What a refusal says as a whole: its detail, and what belongs to no field. */
export function problemOf(body: unknown): string {
  if (!isItem(body)) return t('The server answered something that this page does not understand.');
  const { detail, non_field_errors: others } = body;
  const texts = [detail, ...(Array.isArray(others) ? others : [])].filter((text) => typeof text === 'string');
  return texts.map(told).join(' ');
}

/** What a refusal says of each field. */
export function fieldProblems(body: unknown): Readonly<Record<string, string>> {
  if (!isItem(body)) return {};
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== 'detail' && name !== 'non_field_errors')
      .map(([name, texts]) => [name, Array.isArray(texts) ? texts.map(wordsOf).join(' ') : wordsOf(texts)]),
  );
}

const wordsOf = (text: unknown): string => (typeof text === 'string' ? told(text) : JSON.stringify(text));

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of an object as text; empty where there is none. */
export const textOf = (item: Item, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
};

/** Those members of a list that are objects. */
export const itemsIn = (value: unknown): readonly Item[] => (Array.isArray(value) ? value.filter(isItem) : []);
