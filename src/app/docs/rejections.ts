import type { Endpoint, Method, Operation, Rejection } from '../../kernel/collection/endpoint.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

interface Described {
  readonly name: string;
  readonly description: string;
  readonly schema: 'Detail' | 'Errors';
  readonly example: unknown;
}

/** Every rejection: component name, reason and example body (core.md 1.3). */
const rejections: Readonly<Record<Rejection, Described>> = {
  400: {
    name: 'Invalid',
    description: 'A field, a parameter, or the request as a whole is not valid.',
    schema: 'Errors',
    example: { name: ['This field is required.'] },
  },
  401: {
    name: 'Unauthenticated',
    description: 'The token is missing or invalid, or the login failed.',
    schema: 'Errors',
    example: { detail: 'Invalid token.' },
  },
  403: {
    name: 'Forbidden',
    description: 'The caller lacks the right.',
    schema: 'Detail',
    example: { detail: 'You do not have permission to perform this action.' },
  },
  404: {
    name: 'NotFound',
    description: 'The object or page does not exist, or the caller cannot see it.',
    schema: 'Detail',
    example: { detail: 'Not found.' },
  },
  409: {
    name: 'Conflict',
    description: 'The state of an object or a quota does not allow the operation.',
    schema: 'Detail',
    example: { detail: 'One or more quotas were exceeded: nc_project_count quota limit: 5.0, requires 6.0 (Alice)' },
  },
  412: {
    name: 'Changed',
    description: 'The object has changed since the version in If-Match. Nothing was stored.',
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
    description: 'The server does not read this content type.',
    schema: 'Detail',
    example: { detail: 'Unsupported media type "text/plain" in request.' },
  },
  429: {
    name: 'TooMany',
    description: 'Too many requests; retry after the seconds in Retry-After.',
    schema: 'Detail',
    example: { detail: 'Too many requests. Try again later.' },
  },
  503: {
    name: 'Busy',
    description: 'The server is busy; retry after the seconds in Retry-After.',
    schema: 'Detail',
    example: { detail: 'Too many logins at once. Try again.' },
  },
};

const retryAfterHeader = (description: string): Json => ({
  'Retry-After': { description, schema: { type: 'integer', minimum: 1 } },
});

/** Headers by component name. */
const headers: Readonly<Record<string, Json>> = {
  Unauthenticated: retryAfterHeader('Seconds until a locked username may log in again.'),
  TooMany: retryAfterHeader('Seconds to wait.'),
  Busy: retryAfterHeader('Seconds to wait.'),
};

const failure: Described = {
  name: 'Failed',
  description: 'The server failed; its log has the details under this id.',
  schema: 'Detail',
  example: { detail: 'Internal server error.', request_id: '5f0c9a51e2b84c0b' },
};

/** Rejection responses as components of the document. */
export const rejectionComponents: Json = Object.fromEntries(
  [...Object.values(rejections), failure].map((described) => [described.name, responseOf(described)]),
);

/** Returns a response with the usual body or another one. */
function responseOf({ description, example, name, schema }: Described, other?: JsonSchema): Json {
  const usual = { $ref: `#/components/schemas/${schema}` };
  return {
    description,
    ...(headers[name] && { headers: headers[name] }),
    content: {
      'application/json': {
        schema: other ? { anyOf: [usual, other] } : usual,
        examples: { example: { value: example } },
      },
    },
  };
}

/** The schemas of the bodies of rejections. */
export const rejectionSchemas: Readonly<Record<string, JsonSchema>> = {
  Detail: {
    title: 'Detail',
    type: 'object',
    properties: {
      detail: { type: 'string' },
      request_id: { type: 'string' },
      methods: { type: 'array', items: { type: 'string' }, description: 'The ways to confirm the session.' },
    },
    required: ['detail'],
  },
  Errors: {
    title: 'Errors',
    type: 'object',
    description: 'Messages by field or parameter (`non_field_errors` for the whole request), or one `detail`.',
    // Generators fail unless declared members match this schema, too.
    additionalProperties: { anyOf: [{ type: 'array', items: {} }, { type: 'string' }] },
  },
};

/** Whether an operation checks If-Match: writes of an object, and its actions. */
export const isConditional = ({ open, path }: Endpoint, method: Method): boolean =>
  method !== 'GET' && !open && path.includes(':');

/** Returns the possible rejections of an operation by status. */
export function rejectionsOf(endpoint: Endpoint, method: Method, operation: Operation): Json {
  const possible: Readonly<Record<Rejection, boolean>> = {
    // Every path rejects an invalid Host.
    400: true,
    401: !endpoint.open,
    // An API key may lack the scope, or be used from the wrong network.
    403: !endpoint.open,
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
  const shapes: Readonly<Record<string, JsonSchema>> = operation.rejectionShapes ?? {};
  return {
    ...Object.fromEntries(
      Object.entries(rejections)
        .filter(([status]) => isPossible[status])
        .map(([status, described]) => [
          status,
          shapes[status] ? responseOf(described, shapes[status]) : { $ref: `#/components/responses/${described.name}` },
        ]),
    ),
    default: { $ref: '#/components/responses/Failed' },
  };
}
