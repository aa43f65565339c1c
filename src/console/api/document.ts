/** Parses the OpenAPI document: lists, their filters, and the fields of request bodies. */

import { titleOf } from '../i18n/words.ts';
import { type Item, isItem, itemsIn, textOf } from './api.ts';

export { titleOf };

/** One filter of a list. */
export interface Filter {
  readonly name: string;
  readonly help: string;
  readonly type: 'text' | 'number' | 'boolean' | 'choice';
  readonly choices: readonly string[];
  /** Whether its value is a link or uuid of an object. */
  readonly isLink: boolean;
}

/** A member of list items in a request body. A list of plain values has one member without a name. */
export interface ItemMember {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  /** The list of the linked object. */
  readonly list: string;
}

/** A list of the API and its objects. */
export interface Collection {
  /** The path segment after /api/. */
  readonly name: string;
  /** In the current language. */
  readonly title: string;
  readonly filters: readonly Filter[];
  readonly orderings: readonly string[];
  readonly isCreatable: boolean;
  /** The users who may create objects, as the document describes them. */
  readonly creators: string;
  /** Whether its objects have pages. */
  readonly hasDetail: boolean;
  /** Last path segments of lists below an object, and of actions by POST. */
  readonly lists: readonly string[];
  readonly actions: readonly string[];
  /** Target lists of links, by their names in request bodies. */
  readonly targets: Readonly<Record<string, string>>;
  /** Members of list items, by the name of the list in the request bodies of the object and its actions. */
  readonly items: Readonly<Record<string, readonly ItemMember[]>>;
}

/** Parameters that the console sets itself. */
const ownParameters = new Set(['o', 'field', 'fields', 'page', 'page_size', 'named']);

/** Returns the lists of a document by name. Omits lists whose documented readers `mayRead` rejects. */
export function collectionsOf(document: Item, mayRead: (readers: string) => boolean): ReadonlyMap<string, Collection> {
  const paths = memberOf(document, 'paths');
  const lists = new Map<string, Collection>();
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
    lists.set(name, {
      name,
      get title() {
        return titleOf(name);
      },
      filters: parameters
        .filter((parameter) => !ownParameters.has(textOf(parameter, 'name')) && textOf(parameter, 'name') !== '')
        .map((parameter) => filterOf(document, parameter)),
      orderings: orderingsOf(parameters),
      // API keys are created on the page of their owner, which explains the scopes.
      isCreatable: methods.post !== undefined && name !== 'api-keys',
      creators: textOf(memberOf(methods, 'post'), 'description'),
      hasDetail: paths[detail] !== undefined,
      lists: below('get', (list) => isPaginated(list) && mayRead(textOf(list, 'description'))),
      actions: below('post', () => true),
      targets: { ...targetsOf(document, paths[detail], 'patch'), ...targetsOf(document, methods, 'post') },
      items: Object.fromEntries(
        Object.entries(paths)
          .filter(([child]) => child === path || child.startsWith(detail))
          .flatMap(([, its]) => ['patch', 'post'].flatMap((method) => itemsOfBody(document, its, method))),
      ),
    });
  }
  return lists;
}

const memberOf = (item: Item, name: string): Item => {
  const member = item[name];
  return isItem(member) ? member : {};
};

/** Resolves a schema reference. */
function resolveSchema(document: Item, schema: Item): Item {
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
  const schema = resolveSchema(document, memberOf(parameter, 'schema'));
  const items = resolveSchema(document, memberOf(schema, 'items'));
  const values = [schema.enum, items.enum].find(Array.isArray) ?? [];
  const choices = values.filter((value: unknown) => typeof value === 'string');
  const type = textOf(schema, 'type');
  return {
    name: textOf(parameter, 'name'),
    help: textOf(parameter, 'description'),
    type:
      choices.length > 0
        ? 'choice'
        : type === 'boolean'
          ? 'boolean'
          : /^(integer|number)$/.test(type)
            ? 'number'
            : 'text',
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

/** Returns the members of the request body of a method, by name. */
function bodyOf(document: Item, methods: unknown, method: string): Item {
  const body = memberOf(memberOf(isItem(methods) ? methods : {}, method), 'requestBody');
  const schema = resolveSchema(document, memberOf(memberOf(memberOf(body, 'content'), 'application/json'), 'schema'));
  // If a body may be a list or an object, the object contains the list.
  const form = [schema, ...itemsIn(schema.oneOf)].find(({ properties }) => isItem(properties)) ?? {};
  return memberOf(form, 'properties');
}

/** Returns the list that a link points into, from its example. */
function listOfLink(property: unknown): string | undefined {
  if (!isItem(property) || !/^uri/.test(textOf(property, 'format'))) return undefined;
  return /\/api\/([a-z0-9-]+)\//.exec(Array.isArray(property.examples) ? String(property.examples[0]) : '')?.[1];
}

const targetsOf = (document: Item, methods: unknown, method: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(bodyOf(document, methods, method)).flatMap(([name, property]) => {
      const list = listOfLink(property);
      return list === undefined ? [] : [[name, list]];
    }),
  );

/** Returns the members of list items in a body, except for lists with a fixed set of values. */
function itemsOfBody(document: Item, methods: unknown, method: string): [string, readonly ItemMember[]][] {
  return Object.entries(bodyOf(document, methods, method)).flatMap(([name, property]) => {
    const schema = resolveSchema(document, isItem(property) ? property : {});
    const item = resolveSchema(document, memberOf(schema, 'items'));
    if (schema.type !== 'array' || Array.isArray(item.enum)) return [];
    const required = Array.isArray(item.required) ? item.required : [];
    const members = Object.entries(memberOf(item, 'properties')).map(([key, member]) =>
      memberOfItem(key, resolveSchema(document, isItem(member) ? member : {}), required.includes(key)),
    );
    return [[name, members.length > 0 ? members : [memberOfItem('', item, true)]]];
  });
}

const memberOfItem = (name: string, schema: Item, isRequired: boolean): ItemMember => ({
  name,
  type: textOf(schema, 'type'),
  isRequired,
  choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
  list: listOfLink(schema) ?? '',
});
