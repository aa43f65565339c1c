/** What the OpenAPI document of the server says: which lists there are, by what they are filtered, what they take. */
import { type Item, isItem, itemsIn, textOf } from './api.ts';
import { titleOf } from './words/words.ts';

export { titleOf };

/** One filter of a list. */
export interface Filter {
  readonly name: string;
  readonly help: string;
  readonly type: 'text' | 'number' | 'boolean' | 'choice';
  readonly choices: readonly string[];
  /** Whether it takes the link or the uuid of an object. */
  readonly isLink: boolean;
}

/** A list of the API with the objects in it. */
export interface Collection {
  /** The segment behind /api/. */
  readonly name: string;
  /** In the present language. */
  readonly title: string;
  readonly filters: readonly Filter[];
  readonly orderings: readonly string[];
  readonly isCreatedHere: boolean;
  /** Who may create, in words. */
  readonly creators: string;
  /** Whether its objects have pages. */
  readonly hasDetail: boolean;
  /** Last segments of the paths below an object: those that are lists, and those that are posted to. */
  readonly lists: readonly string[];
  readonly actions: readonly string[];
  /** Of links in bodies the list that what they lead to is in, by field. */
  readonly targets: Readonly<Record<string, string>>;
}

/** Parameters that the pages use by themselves. */
const ownParameters = new Set(['o', 'field', 'fields', 'page', 'page_size', 'named']);

/** The lists that a document describes, by name; those that `mayRead` refuses by what is said of who reads them are left out. */
export function collectionsOf(document: Item, mayRead: (readers: string) => boolean): ReadonlyMap<string, Collection> {
  const paths = memberOf(document, 'paths');
  const found = new Map<string, Collection>();
  for (const [path, methods] of Object.entries(paths)) {
    const [, name] = /^\/api\/([a-z0-9-]+)\/$/.exec(path) ?? [];
    const get = isItem(methods) ? memberOf(methods, 'get') : {};
    if (name === undefined || !isItem(methods) || !isPaginated(get) || !mayRead(textOf(get, 'description'))) continue;
    const detail = `/api/${name}/{key}/`;
    const below = (method: string, isWanted: (operation: Item) => boolean): string[] =>
      Object.entries(paths).flatMap(([child, its]) => {
        const [, segment] = child.startsWith(detail) ? (/^([a-z_]+)\/$/.exec(child.slice(detail.length)) ?? []) : [];
        return segment !== undefined && isItem(its) && its[method] && isWanted(memberOf(its, method)) ? [segment] : [];
      });
    const parameters = itemsIn(get.parameters);
    found.set(name, {
      name,
      get title() {
        return titleOf(name);
      },
      filters: parameters
        .filter((parameter) => !ownParameters.has(textOf(parameter, 'name')) && textOf(parameter, 'name') !== '')
        .map((parameter) => filterOf(document, parameter)),
      orderings: orderingsOf(parameters),
      isCreatedHere: methods.post !== undefined,
      creators: textOf(memberOf(methods, 'post'), 'description'),
      hasDetail: paths[detail] !== undefined,
      lists: below('get', (list) => isPaginated(list) && mayRead(textOf(list, 'description'))),
      actions: below('post', () => true),
      targets: { ...targetsOf(document, paths[detail], 'patch'), ...targetsOf(document, methods, 'post') },
    });
  }
  return found;
}

const memberOf = (item: Item, name: string): Item => {
  const member = item[name];
  return isItem(member) ? member : {};
};

/** A schema, or the one that it refers to. */
function followed(document: Item, schema: Item): Item {
  const reference = textOf(schema, '$ref');
  if (reference === '') return schema;
  return reference
    .slice(2)
    .split('/')
    .reduce((part: Item, name) => memberOf(part, name), document);
}

const isPaginated = (get: Item): boolean =>
  itemsIn(get.parameters).some((parameter) => textOf(parameter, '$ref').endsWith('/page'));

function filterOf(document: Item, parameter: Item): Filter {
  const schema = followed(document, memberOf(parameter, 'schema'));
  const items = followed(document, memberOf(schema, 'items'));
  const values = [schema.enum, items.enum].find(Array.isArray) ?? [];
  const choices = values.filter((value: unknown) => typeof value === 'string');
  const type = textOf(schema, 'type');
  return {
    name: textOf(parameter, 'name'),
    help: textOf(parameter, 'description'),
    type: choices.length > 0 ? 'choice' : type === 'boolean' ? 'boolean' : type === 'integer' ? 'number' : 'text',
    choices,
    isLink: schema.format === 'uri-reference' || textOf(schema, 'pattern').includes('A-F'),
  };
}

function orderingsOf(parameters: readonly Item[]): string[] {
  const items = memberOf(memberOf(parameters.find(({ name }) => name === 'o') ?? {}, 'schema'), 'items');
  return [items, ...itemsIn(items.anyOf)].flatMap(({ enum: names }) =>
    Array.isArray(names) ? names.filter((name) => typeof name === 'string' && !name.startsWith('-')) : [],
  );
}

/** Which list a link in a body leads into is told by the example of its field. */
function targetsOf(document: Item, methods: unknown, method: string): Record<string, string> {
  const body = memberOf(memberOf(isItem(methods) ? methods : {}, method), 'requestBody');
  const schema = followed(document, memberOf(memberOf(memberOf(body, 'content'), 'application/json'), 'schema'));
  return Object.fromEntries(
    Object.entries(memberOf(schema, 'properties')).flatMap(([name, property]) => {
      const examples = isItem(property) && property.format === 'uri-reference' ? property.examples : [];
      const [, list] = /\/api\/([a-z0-9-]+)\//.exec(Array.isArray(examples) ? String(examples[0]) : '') ?? [];
      return list === undefined ? [] : [[name, list]];
    }),
  );
}
