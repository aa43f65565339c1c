import type { Request } from '../access/request.ts';
import { json, type Reply } from '../http/reply.ts';
import type { KeyKind } from '../http/router.ts';
import type { Field, Fields } from './field.ts';
import type { Filters } from './filter.ts';
import type { JsonSchema } from './json-schema.ts';
import { isRequiredFor, isWritable, type Purpose } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The documented body of a request. */
export interface BodySpec {
  readonly fields: Fields;
  readonly purpose: Purpose;
  /** Name of its schema, if it has one. */
  readonly title?: string;
  /** A valid body; default: the required fields with their examples. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Accepted content types. Default: all of them. */
  readonly types?: readonly string[];
}

/** The response to a successful request. */
export interface Output {
  readonly status: number;
  /** Other success statuses with the same body. */
  readonly others?: readonly number[];
  readonly shape?: JsonSchema | undefined;
  /** Content types, if the response is not JSON. */
  readonly types?: readonly string[];
}

/** Statuses of error responses. */
export type Rejection = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 415 | 429 | 503;

/** One method of a path. */
export interface Operation {
  /** One sentence for the documentation. */
  readonly summary: string;
  /**
   * Responds to the request. A handler may run more than once for one request:
   * - GET runs again after each of its deferrable reads that the reader thread had to run (DeferredRead), so it writes nothing.
   *   Reads that may walk a large table use the deferrable methods of `db`; all others run immediately and never throw that.
   * - Every other method runs in one transaction, which commits only if this returns. It runs again when a write that shares
   *   the commit fails (BatchRolledBack), so it changes nothing outside the database, unless `isHandledOnce`.
   */
  handle(request: Request, prepared: unknown): Reply;
  /** Returns the cached response for the object in the path; undefined if `handle` must run. */
  readonly fromCache?: (request: Request) => Reply | undefined;
  /** Slow work outside the transaction. `handle` receives its result. Writes nothing. */
  readonly prepare?: (request: Request) => Promise<unknown>;
  /**
   * Whether a write must not be repeated, as happens if another write of the same commit fails: it changes state outside the
   * database, such as a count of calls, that cannot be rolled back.
   */
  readonly isHandledOnce?: boolean;
  /** Fields of the body, for the documentation. */
  readonly input?: BodySpec | undefined;
  /** The response to a success. */
  readonly output: Output;
  /** Other successful responses, each with a separate body. */
  readonly also?: readonly Output[];
  /** Error statuses that the kind of operation does not imply. `false` removes an implied status. */
  readonly rejections?: Readonly<Partial<Record<Rejection, boolean>>> | undefined;
  /** Schemas of unusual error bodies by status. */
  readonly rejectionShapes?: Readonly<Partial<Record<Rejection, JsonSchema>>>;
  readonly filters?: Filters | undefined;
  /** Additional request headers, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly orderings?: readonly string[] | undefined;
  readonly paginated?: boolean | undefined;
  /** Whether `field=` selects the keys of the response; default: of lists. */
  readonly selectable?: boolean | undefined;
  /** Whether it accepts any parameters and body members, because the client is another service that sends more than it reads. */
  readonly takesAnything?: boolean;
  /** Why a write has no audit record, such as a POST that only reads. Default: each change has one (audit.md 2). */
  readonly unaudited?: string;
  /** Whether it has an audit record although it changes nothing in the database. */
  readonly isAlwaysAudited?: boolean;
  /** Whether it logs a user in. Audit records exist only for complete logins and rejections with 401 and 429. */
  readonly isLogin?: boolean;
  /** Whether a GET changes something or must be recorded: it runs in a transaction and is not cached, like other methods. */
  readonly isWriting?: boolean;
  /** Whether API keys can use it from every address, whatever their `networks`. */
  readonly ignoresKeyNetworks?: boolean;
  /** Describes the permitted callers. */
  readonly allowedFor?: string | undefined;
}

/** A path of the API with its methods. */
export interface Endpoint {
  /** The path, with `:name` segments and a trailing slash. */
  readonly path: string;
  /** The meaning of `:key` in the path; default: uuid. */
  readonly key?: KeyKind;
  /** The name in OPTIONS, such as `Customer List`. */
  readonly name: string;
  /** The base of operation ids, if another endpoint has the same name. Default: the name. */
  readonly operationIdBase?: string;
  readonly description: string;
  /** Open endpoints need no token and ignore one. */
  readonly open?: boolean;
  /** Whether it is a page behind a link in a mail. The OpenAPI document omits it. */
  readonly isPage?: boolean;
  /** Whether it also serves requests without Authorization, which have no caller. Default: false. */
  readonly servesWithoutToken?: (request: Request) => boolean;
  /** Whether the log redacts the path, which may contain a secret; default: if a segment is called `:secret`. */
  readonly hidesPath?: boolean;
  /** Maximum body size in bytes; default: the setting, for open endpoints at most 64 KiB. */
  readonly bodyLimit?: number;
  /** Checks a request to an open endpoint before accepting a body of the size for authenticated callers. Throws. */
  readonly admit?: (request: Request) => void;
  readonly operations: Readonly<Partial<Record<Method, Operation>>>;
  /** Whether the path leads to an object that the caller can see; undefined for paths without an object. */
  readonly isVisible?: (request: Request) => boolean;
  /** Returns the caller's methods except GET, ignoring rights that depend on a body (core.md 1.10). Throws 404. */
  readonly permittedMethods?: (request: Request) => readonly Method[];
  /** Returns why every POST would be rejected now; undefined if it would not (core.md 1.10). Throws 404. */
  readonly denial?: (request: Request) => string | undefined;
  /** Returns the `actions` of OPTIONS, if the object is visible. Throws 404, and 401 if the path is disabled. */
  readonly actions?: (request: Request) => Readonly<Record<string, unknown>> | undefined;
  /** Returns the complete OPTIONS response, if it has a special format. Throws 404. */
  readonly metadata?: (request: Request) => Reply;
}

const methodOrder: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Whether an endpoint may serve a method. */
export const isMethod = (method: string): method is Method => methodOrder.some((known) => known === method);

/** Returns the Allow header of an endpoint (core.md 1.7). */
export function allowed(endpoint: Endpoint): string {
  const served = methodOrder.filter((method) => endpoint.operations[method]);
  return [...served, ...(endpoint.operations.GET ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** Returns the response to OPTIONS (core.md 1.10). */
export function metadata(endpoint: Endpoint, request: Request): Reply {
  if (endpoint.metadata) return endpoint.metadata(request);
  const actions = endpoint.actions?.(request);
  const body = {
    name: endpoint.name,
    description: endpoint.description,
    renders: ['application/json'],
    parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    ...(actions && Object.keys(actions).length > 0 ? { actions } : {}),
  };
  const permitted = endpoint.permittedMethods?.(request);
  const denial = endpoint.denial?.(request);
  return json(body, 200, {
    ...(permitted && { 'X-Permitted': permitted.join(', ') }),
    ...(denial !== undefined && { 'X-Refusal': denial }),
  });
}

/** Returns the metadata of a body's fields for this caller's OPTIONS. */
export function describeFields(fields: Fields, request: Request, purpose: Purpose): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, describeField(name, field, request, purpose)]),
  );
}

function describeField(name: string, field: Field, request: Request, purpose: Purpose): Record<string, unknown> {
  const writable = isWritable(field, request, purpose);
  return {
    type: field.type,
    required:
      writable && field.input !== undefined && isRequiredFor(field.input, purpose === 'change' ? 'replace' : purpose),
    read_only: !writable,
    label: field.label ?? labelOf(name),
    ...(field.help === undefined ? {} : { help_text: field.help }),
    ...(field.constraintsBy?.(request.config) ?? field.constraints),
  };
}

const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words === 'url' || words === 'uuid' ? words.toUpperCase() : words.charAt(0).toUpperCase() + words.slice(1);
};
