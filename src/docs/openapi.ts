import { toJsonSchema } from '@valibot/to-json-schema';
import type { Endpoint, Method, Operation } from '../collection/endpoint.ts';
import type { Field, Fields, Input } from '../collection/field.ts';
import type { Filter } from '../collection/filter.ts';
import type { Purpose } from '../collection/validate.ts';
import { version } from './root.ts';

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI 3.1 document of these endpoints; the same for every caller. */
export function openApi(endpoints: readonly Endpoint[]): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const parameters = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => keyParameter(endpoint, name as string));
    const operations = Object.entries(endpoint.operations).map(([method, operation]) => [method.toLowerCase(), describe(endpoint, method as Method, operation)]);
    // A path that takes no method, such as the import of a type that imports nothing, is nothing to call.
    if (operations.length === 0) continue;
    paths[endpoint.path.replace(/:(\w+)/g, '{$1}')] = { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tenantry',
      version,
      summary: 'Organisations and the cloud resources they use.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The word Token, a blank, and a token from POST /api-auth/password/.' },
      },
      schemas: {
        Detail: { type: 'object', properties: { detail: { type: 'string' } }, required: ['detail'] },
        Errors: { type: 'object', description: 'Messages by field or parameter; non_field_errors for the whole request.', additionalProperties: true },
      },
    },
  };
}

const keyParameter = ({ key }: Endpoint, name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema: key === 'pk' ? { type: 'integer' } : { type: 'string', pattern: '^[0-9A-Fa-f]{32}$' },
});

function describe(endpoint: Endpoint, method: Method, operation: Operation): Json {
  const { filters = {}, orderings = [], output = { status: 200 } } = operation;
  const parameters = [
    ...Object.entries(filters).map(([name, filter]) => filterParameter(name, filter)),
    ...(operation.paginated ? pageParameters : []),
    ...(orderings.length > 0 ? [orderParameter(orderings)] : []),
  ];
  return {
    operationId: operationId(endpoint, method),
    summary: operation.summary,
    ...(operation.who && { description: `Who may call it: ${operation.who}` }),
    tags: [endpoint.path.split('/')[2] || 'docs'],
    ...(endpoint.open && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.input && {
      requestBody: {
        content: Object.fromEntries(
          ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => [type, { schema: bodySchema(operation.input as NonNullable<Operation['input']>) }]),
        ),
      },
    }),
    responses: {
      [String(output.status)]: {
        description: output.status === 204 ? 'Done.' : 'Success.',
        ...(output.shape && { content: { 'application/json': { schema: output.shape } } }),
      },
      ...failures(endpoint, method),
    },
  };
}

/** `get_customers__one__users`: two underscores stand for a slash, one for a dash, so that no two are alike. */
const operationId = (endpoint: Endpoint, method: Method): string => {
  const segments = endpoint.path.replace(/^\/api\//, '').replace(/:\w+/g, 'one').split('/').filter((segment) => segment !== '');
  return `${method.toLowerCase()}_${segments.map((segment) => segment.replace(/\W+/g, '_')).join('__') || 'root'}`;
};

const failure = (description: string, schema: string): Json => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

function failures(endpoint: Endpoint, method: Method): Record<string, Json> {
  return {
    ...(method === 'GET' ? {} : { 400: failure('A field, or the request as a whole, is not valid.', 'Errors') }),
    ...(endpoint.open && method === 'GET' ? {} : { 401: failure('No valid token, or a failed login.', 'Detail') }),
    ...(method === 'GET' ? {} : { 403: failure('The caller may not do this.', 'Detail') }),
    ...(endpoint.path.includes(':') ? { 404: failure('There is no such object, or the caller does not see it.', 'Detail') } : {}),
    ...(method === 'GET' ? {} : { 409: failure('The state of the object or a quota does not allow it.', 'Detail') }),
  };
}

const typeOfFilter: Readonly<Record<Filter['type'], Json>> = {
  string: { type: 'string' },
  uuid: { type: 'string', format: 'uuid' },
  boolean: { type: 'boolean' },
  flag: { type: 'string' },
  datetime: { type: 'string', format: 'date-time' },
  link: { type: 'string', format: 'uri-reference' },
  integer: { type: 'integer' },
};

const filterParameter = (name: string, filter: Filter): Json => ({ name, in: 'query', description: filter.help, schema: typeOfFilter[filter.type] });

const pageParameters: readonly Json[] = [
  { name: 'page', in: 'query', description: 'Number of the page, from 1, or `last`.', schema: { type: 'string', default: '1' } },
  { name: 'page_size', in: 'query', description: 'Objects a page.', schema: { type: 'integer', minimum: 1, maximum: 300, default: 10 } },
];

const orderParameter = (orderings: readonly string[]): Json => ({
  name: 'o',
  in: 'query',
  description: `Order: a list of ${orderings.join(', ')}; a leading minus turns it around.`,
  schema: { type: 'array', items: { type: 'string', enum: orderings.flatMap((name) => [name, `-${name}`]) } },
  style: 'form',
  explode: false,
});

function bodySchema({ fields, purpose }: { fields: Fields; purpose: Purpose }): Json {
  const accepted = Object.entries(fields).filter(([, { input }]) => input && (purpose === 'create' ? input.create : input.update !== false));
  const required = accepted.filter(([, { input }]) => purpose !== 'change' && (input as Input<unknown>).required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(accepted.map(([name, field]) => [name, inputSchema(field)])),
    ...(required.length > 0 && { required }),
  };
}

function inputSchema(field: Field): Json {
  const { $schema: _, ...schema } = toJsonSchema((field.input as Input<unknown>).schema, {
    errorMode: 'ignore',
    target: 'draft-2020-12',
  });
  const choices = field.facts.choices as readonly { value: string }[] | undefined;
  return {
    ...schema,
    ...(field.help && { description: field.help }),
    ...(choices && choices.length > 0 && { enum: ['', ...choices.map(({ value }) => value)] }),
  };
}
