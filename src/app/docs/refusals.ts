import type { Endpoint, Method, Operation, Rejection } from '../../kernel/collection/endpoint.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

interface Described {
  readonly name: string;
  readonly description: string;
  readonly schema: 'Detail' | 'Errors';
  readonly example: unknown;
}

/** Every refusal: its name among the components, when it comes, and a body (core.md 1.3). */
const refusals: Readonly<Record<Rejection, Described>> = {
  400: {
    name: 'Invalid',
    description: 'A field, a parameter, or the request as a whole is not valid.',
    schema: 'Errors',
    example: { name: ['This field is required.'] },
  },
  401: {
    name: 'Unauthenticated',
    description: 'There is no valid token, or the login failed.',
    schema: 'Errors',
    example: { detail: 'Invalid token.' },
  },
  403: {
    name: 'Forbidden',
    description: 'The caller may not do this.',
    schema: 'Detail',
    example: { detail: 'You do not have permission to perform this action.' },
  },
  404: {
    name: 'NotFound',
    description: 'There is no such object or page, or the caller does not see it.',
    schema: 'Detail',
    example: { detail: 'Not found.' },
  },
  409: {
    name: 'Conflict',
    description: 'The state of an object, or a quota, does not allow it now.',
    schema: 'Detail',
    example: { detail: 'One or more quotas were exceeded: nc_project_count quota limit: 5.0, requires 6.0 (Alice)' },
  },
  412: {
    name: 'Changed',
    description: 'The object is not the one that If-Match names any more; nothing was done.',
    schema: 'Detail',
    example: { detail: 'The object has been changed since you read it.' },
  },
  413: {
    name: 'TooLarge',
    description: 'The body is too large.',
    schema: 'Detail',
    example: { detail: 'Request body is too large.' },
  },
  415: {
    name: 'UnsupportedType',
    description: 'The body has a content type that is not read.',
    schema: 'Detail',
    example: { detail: 'Unsupported media type "text/plain" in request.' },
  },
  429: {
    name: 'TooMany',
    description: 'Asked too often; Retry-After tells when to ask again.',
    schema: 'Detail',
    example: { detail: 'Too many requests. Try again later.' },
  },
  503: {
    name: 'Busy',
    description: 'Too much at once; Retry-After tells when to ask again.',
    schema: 'Detail',
    example: { detail: 'Too many logins at once. Try again.' },
  },
};

const wait = (description: string): Json => ({
  'Retry-After': { description, schema: { type: 'integer', minimum: 1 } },
});

/** Headers by the name of the component. */
const headers: Readonly<Record<string, Json>> = {
  Unauthenticated: wait('Seconds until a locked username may log in again.'),
  TooMany: wait('Seconds to wait.'),
  Busy: wait('Seconds to wait.'),
};

const failure: Described = {
  name: 'Failed',
  description: 'Something failed in the server; its log tells more under this id.',
  schema: 'Detail',
  example: { detail: 'Internal server error.', request_id: '5f0c9a51e2b84c0b' },
};

/** The answers to refused requests, as components of the document. */
export const refusalComponents: Json = Object.fromEntries(
  [...Object.values(refusals), failure].map(({ description, example, name, schema }) => [
    name,
    {
      description,
      ...(headers[name] && { headers: headers[name] }),
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${schema}` },
          examples: { example: { value: example } },
        },
      },
    },
  ]),
);

/** The schemas of the bodies of refusals. */
export const refusalSchemas: Readonly<Record<string, JsonSchema>> = {
  Detail: {
    title: 'Detail',
    type: 'object',
    properties: { detail: { type: 'string' }, request_id: { type: 'string' } },
    required: ['detail'],
  },
  Errors: {
    title: 'Errors',
    type: 'object',
    description: 'Messages by field or parameter, non_field_errors for the request as a whole; or one detail.',
    // A member named here would have to be one of them, too: generators make no sense of anything else.
    additionalProperties: { anyOf: [{ type: 'array', items: {} }, { type: 'string' }] },
  },
};

/** Whether an operation looks at If-Match: writes of objects, and actions below them. */
export const isConditional = ({ open, path }: Endpoint, method: Method): boolean =>
  method !== 'GET' && !open && path.includes(':');

/** The refusals that an operation can answer, by status. */
export function refusalsOf(endpoint: Endpoint, method: Method, operation: Operation): Json {
  const possible: Readonly<Record<Rejection, boolean>> = {
    // Also a request whose Host is not valid.
    400: true,
    401: !endpoint.open,
    403: method !== 'GET' && !endpoint.open,
    404: endpoint.path.includes(':') || operation.paginated === true,
    409: method !== 'GET' && !endpoint.open,
    412: isConditional(endpoint, method),
    413: operation.input !== undefined,
    415: operation.input !== undefined,
    429: false,
    503: operation.input !== undefined || operation.paginated === true,
    ...operation.rejections,
  };
  const isPossible: Readonly<Record<string, boolean>> = possible;
  return {
    ...Object.fromEntries(
      Object.entries(refusals)
        .filter(([status]) => isPossible[status])
        .map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]),
    ),
    default: { $ref: '#/components/responses/Failed' },
  };
}
