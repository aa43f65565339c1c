import { Counts, Histogram } from './counts.ts';

/** Seconds. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10];

/** Methods with a separate label; all others share one. */
const methods: readonly string[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'other'];
/** Above any status. */
const perMethod = 1000;

/** The requests of one route. */
interface RouteCounts {
  /** By method and status, as one number. */
  readonly responses: Map<number, number>;
  seconds: number;
}

/**
 * Counts requests by path pattern, method and status. The patterns are those of the program, so their number is bounded.
 * Called for every request, so it builds no strings: those are built when the counts are read.
 */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  /** Durations in seconds, by method. */
  readonly durations: ReadonlyMap<string, Histogram> = new Map(methods.map((name) => [name, new Histogram(durations)]));
  readonly #durations = [...this.durations.values()];

  /** `route` is empty for an unknown path, and for input that was not a request; `ms` is in milliseconds. */
  add(route: string, method: string, status: number, ms: number): void {
    let counts = this.#routes.get(route);
    if (!counts) {
      counts = { responses: new Map(), seconds: 0 };
      this.#routes.set(route, counts);
    }
    const known = methods.indexOf(method);
    const index = known < 0 ? methods.length - 1 : known;
    const response = index * perMethod + status;
    counts.responses.set(response, (counts.responses.get(response) ?? 0) + 1);
    counts.seconds += ms / 1000;
    this.#durations[index]?.observe(ms / 1000);
  }

  /** Response counts. */
  responses(): { readonly route: string; readonly method: string; readonly status: string; readonly count: number }[] {
    return [...this.#routes].flatMap(([route, { responses }]) =>
      [...responses].map(([response, count]) => ({
        route,
        method: methods[Math.floor(response / perMethod)] ?? 'other',
        status: String(response % perMethod),
        count,
      })),
    );
  }

  /** Total duration of the responses of each route, in seconds. */
  seconds(): { readonly route: string; readonly seconds: number }[] {
    return [...this.#routes].map(([route, { seconds }]) => ({ route, seconds }));
  }
}

declare module '../app.ts' {
  interface App {
    readonly metrics: Metrics;
  }
}

/** Hits and misses of a cache. */
export class CacheCounts {
  hits = 0;
  misses = 0;
}

/** Counters of a running server for its operator. The code that counts does not depend on the reader. */
export class Metrics {
  readonly requests = new RequestCounts();
  readonly caches = {
    responses: new CacheCounts(),
    representations: new CacheCounts(),
    tokens: new CacheCounts(),
  } as const;
  /** Rejected attempts to log in, by reason. */
  readonly rejectedLogins = new Counts<[reason: 'credentials' | 'locked' | 'saml' | 'oidc']>();
  /** By outcome. */
  readonly mails = new Counts<[result: 'sent' | 'skipped' | 'failed']>();
  /** Delivery attempts of outboxes. */
  readonly deliveries = new Counts<[outbox: string, result: 'delivered' | 'skipped' | 'failed']>();
  /** Calls of drivers by the type of the provider, and those that failed by the class of the error. */
  readonly providerCalls = new Counts<[provider: string]>();
  readonly providerFailures = new Counts<[provider: string, error: string]>();
}
