import type { Json } from '../support/fixture.ts';
import type { VendorRequest, VendorResponse } from './server.ts';

/* Routing for stand-ins of vendors with JSON APIs. */

/** A request with its route. */
export interface RestCall {
  readonly request: VendorRequest;
  /** The values of placeholders in the route, such as `:id`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The body; undefined without one. */
  readonly json: Json;
}

export interface RestResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The document; absent for an empty body. */
  readonly json?: unknown;
}

/** A rejection in the vendor's form. */
export class RestRejection extends Error {
  constructor(
    readonly status: number,
    readonly json: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(JSON.stringify(json));
  }
}

/** Handlers of routes such as `GET /groups/:id`. They throw a RestRejection. */
export type RestRoutes = Readonly<Record<string, (call: RestCall) => RestResponse>>;

/** Finds the route of a request. A segment that starts with a colon matches any value. */
export class RestTable {
  readonly #routes: readonly {
    readonly name: string;
    readonly pattern: RegExp;
    readonly run: (call: RestCall) => RestResponse;
  }[];

  /** `base` is the common prefix of the routes. */
  constructor(routes: RestRoutes, base = '') {
    this.#routes = Object.entries(routes).map(([name, run]) => {
      const [method = '', path = ''] = name.split(' ');
      const places = path.replace(/[.?]/g, '\\$&').replace(/:(\w+)/g, '(?<$1>[^/]+)');
      return { name, run, pattern: new RegExp(`^${method} ${base}${places}$`) };
    });
  }

  /** Returns the name of a request's route, for faults and tests. */
  nameOf(request: VendorRequest): string {
    return this.#find(request)?.name ?? line(request);
  }

  /** Responds to a request: `unknown` for an unknown route, `unreadable` for an unreadable body. */
  response(
    request: VendorRequest,
    {
      before,
      unknown,
      unreadable,
    }: { before?: (call: RestCall) => void; unknown: RestRejection; unreadable: RestRejection },
  ): VendorResponse {
    try {
      const route = this.#find(request);
      const call: RestCall = {
        request,
        params: route?.params ?? {},
        query: new URL(request.target, 'http://x').searchParams,
        json: parsed(request, unreadable),
      };
      before?.(call);
      if (!route) throw unknown;
      return toResponse(route.run(call));
    } catch (error) {
      if (!(error instanceof RestRejection)) throw error;
      return toResponse(error);
    }
  }

  #find(request: VendorRequest) {
    for (const { name, pattern, run } of this.#routes) {
      const groups = pattern.exec(line(request))?.groups;
      if (groups || pattern.test(line(request)))
        return {
          name,
          run,
          params: Object.fromEntries(
            Object.entries(groups ?? {}).map(([key, text]) => [key, decodeURIComponent(text)]),
          ),
        };
    }
    return undefined;
  }
}

const line = ({ method, target }: VendorRequest): string => `${method} ${target.split('?')[0]}`;

function parsed({ headers, text }: VendorRequest, unreadable: RestRejection): Json {
  if (text === '' || !/json/.test(headers['content-type'] ?? '')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable;
  }
}

/** Serialises a response. */
export const toResponse = ({ headers = {}, json, status = 200 }: RestResponse): VendorResponse => ({
  status,
  headers: { ...(json !== undefined && { 'Content-Type': 'application/json' }), ...headers },
  text: json === undefined ? '' : JSON.stringify(json),
});

/** Returns the unknown and the missing names in a body or a query. */
export function checkNames(
  input: Readonly<Record<string, unknown>>,
  { optional = [], required = [] }: { readonly required?: readonly string[]; readonly optional?: readonly string[] },
): { readonly unknown: readonly string[]; readonly missing: readonly string[] } {
  const known = new Set([...required, ...optional]);
  return {
    unknown: Object.keys(input).filter((name) => !known.has(name)),
    missing: required.filter((name) => input[name] === undefined || input[name] === null || input[name] === ''),
  };
}

/** Returns user and password of Basic authentication; empty without it. */
export function basicCredentials({ headers }: VendorRequest): readonly [user: string, password: string] {
  const [, encoded = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return [user, password];
}
