/**
 * The routing table. Of itty-router, only the compilation of paths to regular expressions is used; a custom loop finds the
 * matching one. See src/decisions/router.md.
 */
import { Router as IttyRouter } from 'itty-router';
import { once } from '../memoised.ts';
import { present } from '../present.ts';

/** A path found in the routing table, with the values of its `:name` segments. */
export interface Match<Endpoint> {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** The meaning of `:key` in a path; for `text` the handler responds 404 to every caller if the object does not exist. */
export type KeyKind = 'uuid' | 'pk' | 'text';

/** A path with anything else as its key does not exist (core.md 1.1). */
export const keyPatterns: Readonly<Record<KeyKind, RegExp>> = { uuid: /^[0-9a-f]{32}$/i, pk: /^\d{1,15}$/, text: /./ };

/** A list and the endpoints below its path, created on the first request to one of them. */
export interface LateEndpoints<Endpoint> {
  /** The path of the list. */
  readonly path: string;
  readonly endpoints: () => readonly Endpoint[];
}

/** Endpoints with the path prefix of a list, created once. */
export const late = <Endpoint>(path: string, make: () => readonly Endpoint[]): LateEndpoints<Endpoint> => ({
  path,
  endpoints: once(make),
});

/** Segments with a separate path, or with several meanings. */
export type Part<Endpoint extends { readonly path: string }> = Endpoint | LateEndpoints<Endpoint>;

/** The endpoints of a part. */
export const endpointsOf = <Endpoint extends { readonly path: string }>(part: Part<Endpoint>): readonly Endpoint[] =>
  'endpoints' in part ? part.endpoints() : [part];

interface Route<Endpoint> {
  readonly endpoint: Endpoint;
  readonly key: RegExp;
  readonly pattern: RegExp;
}

/**
 * A map of the first path segments leads to a few patterns, which are tried in insertion order. Each endpoint is created on first
 * use, because a start needs only a few of the hundreds.
 */
export class Router<Endpoint extends { readonly path: string; readonly key?: KeyKind }> {
  readonly #parts = new Map<string, Part<Endpoint>[]>();
  readonly #routes = new Map<string, readonly Route<Endpoint>[]>();

  constructor(parts: readonly Part<Endpoint>[] = []) {
    for (const part of parts) this.add(part);
  }

  /** Adds an endpoint under its `path`, such as `/api/keys/:uuid/`, or several under that of their list. */
  add(part: Part<Endpoint>): void {
    const segment = firstSegments(part.path);
    const existing = this.#parts.get(segment);
    if (existing) existing.push(part);
    else this.#parts.set(segment, [part]);
    this.#routes.delete(segment);
  }

  /** Finds the endpoint of a path (with its trailing slash); undefined if there is none. */
  find(path: string): Match<Endpoint> | undefined {
    const segment = firstSegments(path);
    const routes = this.#routes.get(segment) ?? this.#make(segment);
    if (!routes) return undefined;
    for (const { endpoint, key, pattern } of routes) {
      const match = pattern.exec(path);
      if (match && (match.groups?.key === undefined || key.test(match.groups.key)))
        return { endpoint, params: match.groups ?? none };
    }
    return undefined;
  }

  /** Returns the endpoint that is declared with a path, which has `:name` segments. */
  declared(path: string): Endpoint | undefined {
    const segment = firstSegments(path);
    const routes = this.#routes.get(segment) ?? this.#make(segment);
    return routes?.find(({ endpoint }) => endpoint.path === path)?.endpoint;
  }

  #make(segment: string): readonly Route<Endpoint>[] | undefined {
    const routes = this.#parts
      .get(segment)
      ?.flatMap(endpointsOf)
      .map((endpoint): Route<Endpoint> => {
        const { key = 'uuid', path } = endpoint;
        if (firstSegments(path) !== segment) throw new Error(`${path} is not below ${segment}`);
        return { endpoint, key: keyPatterns[key], pattern: patternOf(path) };
      });
    if (routes) this.#routes.set(segment, routes);
    return routes;
  }
}

/** Returns the regular expression that itty-router makes of a path, with a group for each `:name`; it ends with exactly one slash. */
function patternOf(path: string): RegExp {
  const { routes } = IttyRouter().all(path, () => undefined);
  const [, pattern] = present(routes[0]);
  // itty-router ends its patterns with any number of slashes; a path here ends with one.
  return new RegExp(pattern.source.replace(/\\\/\*\$$/, '/$'));
}

const none: Readonly<Record<string, string>> = {};

/** Returns the common prefix of all paths of a collection: `/api/keys/` for `/api/keys/0a…/`. */
function firstSegments(path: string): string {
  const second = path.indexOf('/', 1);
  const third = second < 0 ? -1 : path.indexOf('/', second + 1);
  return third < 0 ? path : path.slice(0, third + 1);
}
