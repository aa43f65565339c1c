interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: {
    readonly type?: string;
    readonly enum?: readonly string[];
    readonly items?: { readonly enum?: readonly string[] };
  };
}
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>;
}

/**
 * Returns the URLs of all reads in the OpenAPI document without path parameters: alone, with every filter (and a value that
 * exists), and in every order.
 */
export async function targetsOf(url: string, token: string): Promise<string[]> {
  const read = async (target: string): Promise<{ status: number; body: string }> => {
    const response = await fetch(url + target, { headers: { Authorization: `Token ${token}` }, redirect: 'manual' });
    return { status: response.status, body: await response.text() };
  };
  const { paths } = JSON.parse((await read('/docs/?format=openapi')).body) as Document;
  const targets: string[] = [];
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get || path.includes('{') || !path.startsWith('/api/') || path === '/api/events/stream/') continue;
    targets.push(path);
    const first = await read(`${path}?page_size=1`);
    if (first.status !== 200 || !first.body.startsWith('[')) continue;
    const [object = {}] = JSON.parse(first.body) as Record<string, unknown>[];
    for (const { in: place, name, schema } of get.parameters ?? []) {
      if (place !== 'query' || ['page', 'field'].includes(name)) continue;
      if (name === 'page_size') targets.push(`${path}?page_size=300`);
      else if (name === 'o') {
        for (const order of schema.items?.enum ?? schema.enum ?? [])
          targets.push(`${path}?o=${encodeURIComponent(order)}`);
      } else targets.push(`${path}?${name}=${encodeURIComponent(valueFor(name, schema, object))}`);
    }
  }
  return targets;
}

/** Returns the object's value for a filter, or else a value of the filter's type that matches few objects. */
function valueFor(name: string, { enum: words, type }: Parameter['schema'], object: Record<string, unknown>): string {
  const own = object[name] ?? object[name.replace(/_uuid$/, '')] ?? object[name.replace(/_exact$/, '')];
  if (typeof own === 'string' || typeof own === 'number' || typeof own === 'boolean') return String(own);
  if (words?.[0] !== undefined) return words[0];
  if (type === 'integer' || type === 'number') return '1';
  if (type === 'boolean') return 'true';
  return /uuid/.test(name) ? '00000000000040008000000000000000' : 'zz';
}
