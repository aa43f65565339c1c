import createClient from 'openapi-fetch';
import type { components, paths } from 'tenantry';

/** The objects of the API by name: `Schema<'Customer'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** A client with the document's paths, parameters, bodies and responses. */
export const connect = (baseUrl: string, token: string) =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Token ${token}` } });

export type Client = ReturnType<typeof connect>;

/** Returns the body of a response; throws an error's body. */
export async function dataOf<T>(request: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await request;
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(error)}`);
  return data as T;
}

/** Returns the key of an object, the last segment of its link. */
export const keyOf = (object: { url: string }): { path: { key: string } } => ({
  path: { key: object.url.split('/').at(-2) as string },
});

/** Server and token of a sample program, from its environment. */
export const connected = (): Client =>
  connect(process.env.TENANTRY_URL as string, process.env.TENANTRY_TOKEN as string);
