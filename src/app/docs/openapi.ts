import { type WebhookSpec, webhookHeaders, webhookSpecs } from '../../activity/hooks/webhook-schemas.ts';
import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { version } from '../../kernel/app.ts';
import type { BodySpec, Endpoint, Method, Operation, Output } from '../../kernel/collection/endpoint.ts';
import type { Filter } from '../../kernel/collection/filter.ts';
import { exampleUuid, type JsonSchema } from '../../kernel/collection/json-schema.ts';
import type { Config } from '../../kernel/config/config.ts';
import { namesOf, present } from '../../kernel/present.ts';
import { type RequiredScopes, requiredScopes } from '../scopes/required-scopes.ts';
import { operationIds } from './operation-ids.ts';
import { isConditional, rejectionComponents, rejectionSchemas, rejectionsOf } from './rejections.ts';
import { bareListShape, bodyExample, bodyShape, Schemas } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The title of the document. */
export const title = 'Tenantry';

/** Returns the prefix of all paths: the path of base_url, where a proxy may serve the API. */
export const serverPath = ({ base_url: base }: Pick<Config, 'base_url'>): string =>
  base === null ? '/' : new URL(base).pathname;

/** Builds the OpenAPI 3.1 document of endpoints. It is the same for every caller. Paths are relative to `server`. */
export function openApi(endpoints: readonly Endpoint[], catalogue: Catalogue, server = '/'): Json {
  const schemas = new Schemas();
  for (const shape of Object.values(rejectionSchemas)) schemas.refer(shape);
  // A path may have no operations, such as the import path of a type without imports.
  const served = endpoints.filter(({ isPage, operations }) => !isPage && Object.keys(operations).length > 0);
  const idOf = operationIds(served);
  const linksOf = responseLinks(served, idOf);
  const pathItem = (endpoint: Endpoint): Json => {
    const keys = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => keyParameter(endpoint, name));
    const operations = namesOf(endpoint.operations).map((method) => [
      method.toLowerCase(),
      describe(
        endpoint,
        method,
        present(endpoint.operations[method]),
        schemas,
        idOf(endpoint, method),
        linksOf(endpoint),
        requiredScopes(catalogue, endpoint, method),
      ),
    ]);
    return { ...(keys.length > 0 && { parameters: keys }), ...Object.fromEntries(operations) };
  };
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      summary: 'Organisations and the cloud resources they use.',
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server, description: 'This server.' }],
    security: [{ token: [] }],
    tags: tagsOf(served),
    paths: Object.fromEntries(served.map((endpoint) => [documentedPath(endpoint), pathItem(endpoint)])),
    webhooks: Object.fromEntries(webhookSpecs.map((spec) => [spec.name, { post: describeWebhook(spec, schemas) }])),
    components: {
      securitySchemes,
      parameters: Object.fromEntries(
        [...fieldParameters, ...pageParameters, matchParameter, ...webhookParameters].map((parameter) => [
          parameter.name,
          parameter,
        ]),
      ),
      headers: listHeaders,
      responses: rejectionComponents,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const about = [
  'The [manual](manual/tour/) describes deployment, setup, use and testing.',
  'Responses are JSON; request bodies are JSON, forms or multipart forms. Log in with `POST /api-auth/password/` and send `Authorization: Token …` with every other request.',
  'Objects refer to each other by `url`. Lists are paginated: the `Link` header has the links of the other pages, `X-Result-Count` the number of objects.',
  '`OPTIONS` returns the metadata of a path: its fields and the actions that the caller may perform. `HEAD` works wherever `GET` does. Objects and lists have an `ETag`, which `If-Match` compares. The header `X-Ignored` lists names that the operation does not know.',
].join('\n\n');

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token from POST /api-auth/password/. In the header, the word Token means the same as Bearer.',
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key from POST /api/api-keys/ with the scopes of the operation.',
  },
};

/** Returns the OpenAPI links of 201 responses, which lead to every operation on the created object. */
function responseLinks(
  endpoints: readonly Endpoint[],
  idOf: (endpoint: Endpoint, method: Method) => string,
): (endpoint: Endpoint) => Json {
  const byCollection = new Map<string, Record<string, unknown>>();
  for (const endpoint of endpoints) {
    // Operations with a second key need values that the response lacks.
    const [, collection, rest] = /^([^:]+):key\/([^:]*)$/.exec(endpoint.path) ?? [];
    if (collection === undefined || rest === undefined) continue;
    const links = byCollection.get(collection) ?? {};
    byCollection.set(collection, links);
    const key = `$response.body#/${endpoint.key === 'pk' ? 'pk' : 'uuid'}`;
    for (const method of namesOf(endpoint.operations)) {
      const operationId = idOf(endpoint, method);
      links[operationId] = { operationId, parameters: { key } };
    }
  }
  return ({ path }) => byCollection.get(path) ?? {};
}

/** Converts `:name` in a path to `{name}`. */
const documentedPath = ({ path }: Pick<Endpoint, 'path'>): string => path.replace(/:(\w+)/g, '{$1}');

const tagOf = ({ path }: Endpoint): string => {
  const [first = '', second = ''] = path.split('/').filter((segment) => segment !== '');
  return first === 'api' && second !== '' ? second : first || 'api';
};

/** Returns a tag for every collection, with the description of its first endpoint. */
function tagsOf(endpoints: readonly Endpoint[]): readonly Json[] {
  const descriptions = new Map([...endpoints].reverse().map((endpoint) => [tagOf(endpoint), endpoint.description]));
  const own: Readonly<Record<string, string>> = { api: 'The API as a whole.', 'api-auth': 'Logging in and out.' };
  return [...descriptions]
    .map(([name, description]) => ({ name, description: own[name] ?? description }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const keyParameter = ({ key }: Endpoint, name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema:
    key === 'pk'
      ? { type: 'integer', examples: [1] }
      : { type: 'string', pattern: '^[0-9A-Fa-f]{32}$', examples: [exampleUuid(name)] },
});

function describe(
  endpoint: Endpoint,
  method: Method,
  operation: Operation,
  schemas: Schemas,
  operationId: string,
  links: Json,
  scopes: RequiredScopes,
): Json {
  const {
    also = [],
    filters = {},
    headers = {},
    input,
    orderings = [],
    output,
    paginated,
    selectable,
    summary,
    allowedFor,
    unaudited,
  } = operation;
  const parameters = [
    ...Object.entries(filters).map(([name, filter]) => filterParameter(name, filter)),
    ...(orderings.length > 0 ? [orderParameter(orderings)] : []),
    ...((selectable ?? paginated) ? fieldParameters.map(toReference) : []),
    ...(paginated ? pageParameters.map(toReference) : []),
    ...(isConditional(endpoint, method) ? [toReference(matchParameter)] : []),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId,
    summary,
    ...(allowedFor !== undefined && { description: `Who may call it: ${allowedFor}` }),
    tags: [tagOf(endpoint)],
    ...securityOf(endpoint, scopes),
    ...(unaudited !== undefined && { 'x-audit': 'none', 'x-audit-reason': unaudited }),
    ...(parameters.length > 0 && { parameters }),
    ...(input && { requestBody: requestBody(input, schemas) }),
    responses: {
      ...Object.fromEntries(
        [output, ...also].flatMap((one) =>
          [one.status, ...(one.others ?? [])].map((status) => [
            status,
            success(operation, one, status, schemas, links),
          ]),
        ),
      ),
      ...rejectionsOf(endpoint, method, operation),
    },
  };
}

/** Returns the security requirement: none for open operations, otherwise a token or an API key with the scopes. */
const securityOf = ({ open, servesWithoutToken }: Endpoint, scopes: RequiredScopes): Json => {
  const keyed = scopes === 'closed' ? [] : [{ apiKey: scopes === 'none' ? [] : scopes }];
  return {
    security: open ? [] : [{ token: [] }, ...keyed, ...(servesWithoutToken ? [{}] : [])],
    'x-scope': typeof scopes === 'string' ? scopes : scopes.join(' '),
  };
};

const webhookParameters = Object.entries(webhookHeaders).map(([name, { help, shape }]) => ({
  name,
  in: 'header',
  description: help,
  required: true,
  schema: shape,
}));

/** Describes a request that the server sends to web hooks. Receivers respond with any 2xx status (events.md 5.5). */
const describeWebhook = ({ body, isNeverEmitted, name, summary }: WebhookSpec, schemas: Schemas): Json => ({
  operationId: `receive${name.replace(/(?:^|[_.])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
  summary,
  tags: ['hooks-web'],
  security: [],
  ...(isNeverEmitted && { 'x-never-emitted': true }),
  parameters: webhookParameters.map(toReference),
  requestBody: { required: true, content: { 'application/json': { schema: schemas.refer(body) } } },
  responses: {
    '2XX': { description: 'The message was received. The body is ignored.' },
    410: { description: 'The receiver no longer exists. The hook is disabled.' },
    default: { description: 'The attempt failed and is repeated.' },
  },
});

/** The content types of bodies. */
const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

function requestBody(input: BodySpec, schemas: Schemas): Json {
  const shape = bodyShape(input);
  const schema = schemas.refer(shape);
  const list = bareListShape(input);
  const [first, ...others] = input.types ?? bodyTypes;
  return {
    ...(shape.required !== undefined && { required: true }),
    content: {
      [present(first)]: {
        schema: list ? { oneOf: [schema, schemas.refer(list)] } : schema,
        ...(first === bodyTypes[0] && { examples: { example: { value: bodyExample(input) } } }),
      },
      ...Object.fromEntries(others.map((type) => [type, { schema }])),
    },
  };
}

function success(
  { output, paginated, input }: Operation,
  one: Output,
  status: number,
  schemas: Schemas,
  links: Json,
): Json {
  const { shape, types } = one;
  const isCreation = status === 201 && input !== undefined && one === output;
  const content = status !== 302 &&
    (shape || types) && {
      ...(shape && { 'application/json': { schema: schemas.refer(shape) } }),
      ...Object.fromEntries(
        (types ?? []).map((type) => [type, { schema: { type: 'string', contentMediaType: type } }]),
      ),
    };
  const headers = {
    ...(status === 302 && { Location: { $ref: '#/components/headers/Location' } }),
    ...(isCreation && { Location: { $ref: '#/components/headers/Location' } }),
    ...(paginated && {
      Link: { $ref: '#/components/headers/Link' },
      'X-Result-Count': { $ref: '#/components/headers/X-Result-Count' },
    }),
  };
  return {
    description: descriptions[status] ?? 'Success.',
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(content && { content }),
    ...(isCreation && Object.keys(links).length > 0 && { links }),
  };
}

const descriptions: Readonly<Record<number, string>> = {
  201: 'Created.',
  202: 'Accepted. The server runs the operation later.',
  204: 'Done.',
  302: 'Redirected.',
};

const listHeaders: Json = {
  Link: { description: 'The first, previous, next and last page (RFC 8288).', schema: { type: 'string' } },
  Location: {
    description: 'The link of the object, or the target of the redirect.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  'X-Result-Count': { description: 'Number of objects on all pages.', schema: { type: 'integer', minimum: 0 } },
};

const pageParameters = [
  {
    name: 'page',
    in: 'query',
    description: 'Number of the page, from 1, or `last`.',
    schema: { type: 'string', default: '1' },
  },
  {
    name: 'page_size',
    in: 'query',
    description: 'Objects per page; larger values count as the maximum.',
    schema: { type: 'integer', minimum: 1, maximum: 300, default: 10 },
  },
] as const;

const matchParameter = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag of the object when it was read; the response is 412 if the object has changed since.',
  schema: { type: 'string' },
} as const;

const toReference = ({ name }: { readonly name: string }): Json => ({ $ref: `#/components/parameters/${name}` });

const fieldParameters = ['field', 'fields'].map((name) => ({
  name,
  in: 'query',
  description: 'A member to include in the response. If any is named, all others are omitted, even required ones.',
  schema: { type: 'array', items: { type: 'string' } },
  style: 'form',
  explode: true,
}));

const typeOfFilter: Readonly<Record<Filter['type'], JsonSchema>> = {
  string: { type: 'string' },
  uuid: { type: 'string', pattern: '^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$' },
  boolean: { type: 'boolean' },
  flag: { type: 'string' },
  datetime: { type: 'string', format: 'date-time' },
  link: { type: 'string', format: 'uri-reference' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  named: { type: 'object', additionalProperties: { type: 'string' } },
};

/** Returns the OpenAPI parameter of a filter. */
const filterParameter = (name: string, { help, repeatable, required, type }: Filter): JsonSchema => ({
  name,
  in: 'query',
  description: help,
  ...(required && { required }),
  ...(type === 'flag' && { allowEmptyValue: true }),
  ...(repeatable
    ? { schema: { type: 'array', items: typeOfFilter[type] }, style: 'form', explode: true }
    : { schema: typeOfFilter[type] }),
});

/** Returns the schema of an ordering. A trailing `*` matches any name. */
function orderItem(orderings: readonly string[]): JsonSchema {
  const known = orderings.filter((name) => !name.endsWith('*'));
  const prefixes = orderings.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const names = { type: 'string', enum: known.flatMap((name) => [name, `-${name}`]) };
  return prefixes.length === 0 ? names : { anyOf: [names, { type: 'string', pattern: `^-?(${prefixes.join('|')})` }] };
}

const orderParameter = (orderings: readonly string[]): Json => ({
  name: 'o',
  in: 'query',
  description: `Order: a list of ${orderings.join(', ')}; a leading minus reverses it.`,
  schema: { type: 'array', items: orderItem(orderings) },
  style: 'form',
  explode: false,
});
