/**
 * The routing table. itty-router compiles the paths to regular expressions, and nothing else of it is used: finding the
 * expression that matches is a loop of our own. See src/decisions/router.md.
 */
import { Router as IttyRouter } from 'itty-router';
import { present } from '../present.ts';

/** A path found in the routing table, with the values of its `:name` segments. */
export interface Match<Endpoint> {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** What `:key` stands for in a path; behind `text` the handler answers that there is no such object, to anybody. */
export type KeyKind = 'uuid' | 'pk' | 'text';

/** A path with anything else in the place of its key does not exist (core.md 1.1). */
export const keyPatterns: Readonly<Record<KeyKind, RegExp>> = { uuid: /^[0-9a-f]{32}$/i, pk: /^\d{1,15}$/, text: /./ };

interface Route<Endpoint> {
  readonly endpoint: Endpoint;
  readonly key: RegExp;
  /** Made when it is first tried: of hundreds a start needs one. */
  pattern?: RegExp;
}

/** A map on the first segments of paths stands in front; the few patterns behind it are tried in the order they were added. */
export class Router<Endpoint extends { readonly path: string; readonly key?: KeyKind }> {
  readonly endpoints: Endpoint[] = [];
  readonly #bySegment = new Map<string, Route<Endpoint>[]>();

  /** Adds an endpoint under its `path`, such as `/api/keys/:uuid/`. */
  add(endpoint: Endpoint): void {
    const route: Route<Endpoint> = { endpoint, key: keyPatterns[endpoint.key ?? 'uuid'] };
    const segment = firstSegments(endpoint.path);
    const present = this.#bySegment.get(segment);
    if (present) present.push(route);
    else this.#bySegment.set(segment, [route]);
    this.endpoints.push(endpoint);
  }

  /** Finds the endpoint of a path (with its trailing slash); undefined when there is none. */
  find(path: string): Match<Endpoint> | undefined {
    const routes = this.#bySegment.get(firstSegments(path));
    if (!routes) return undefined;
    for (const route of routes) {
      const { endpoint, key } = route;
      route.pattern ??= patternOf(endpoint.path);
      const match = route.pattern.exec(path);
      if (match && (match.groups?.key === undefined || key.test(match.groups.key)))
        return { endpoint, params: match.groups ?? none };
    }
    return undefined;
  }
}

/** The regular expression that itty-router makes of a path, with a group for each `:name`; anchored to one slash at its end. */
function patternOf(path: string): RegExp {
  const { routes } = IttyRouter().all(path, () => undefined);
  const [, pattern] = present(routes[0]);
  // itty-router ends its patterns with any number of slashes; a path here ends with one.
  return new RegExp(pattern.source.replace(/\\\/\*\$$/, '/$'));
}

const none: Readonly<Record<string, string>> = {};

/** `/api/keys/` of `/api/keys/0a…/`: what every path of a collection has in common. */
function firstSegments(path: string): string {
  const second = path.indexOf('/', 1);
  const third = second < 0 ? -1 : path.indexOf('/', second + 1);
  return third < 0 ? path : path.slice(0, third + 1);
}
