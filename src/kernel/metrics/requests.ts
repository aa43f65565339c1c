import { Histogram } from './histogram.ts';

/** Seconds. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10];

/** The methods that are told apart; whatever else clients think of is one more. */
const methods: readonly string[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'other'];
/** Above any status. */
const perMethod = 1000;

/** The requests of one route. */
interface RouteCounts {
  /** By method and status, as one number. */
  readonly answers: Map<number, number>;
  readonly durations: Histogram;
}

/**
 * Counts answered requests by the pattern of their path, of which there are as many as the program has, by method and status.
 * It is told of every request, so it makes no texts: they are made when somebody reads the counts.
 */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();

  /** `route` is empty for a path that leads nowhere, and for what was no request; `ms` are milliseconds. */
  add(route: string, method: string, status: number, ms: number): void {
    let counts = this.#routes.get(route);
    if (!counts) {
      counts = { answers: new Map(), durations: new Histogram(durations) };
      this.#routes.set(route, counts);
    }
    const known = methods.indexOf(method);
    const answer = (known < 0 ? methods.length - 1 : known) * perMethod + status;
    counts.answers.set(answer, (counts.answers.get(answer) ?? 0) + 1);
    counts.durations.observe(ms / 1000);
  }

  /** The answers so far. */
  answers(): { readonly route: string; readonly method: string; readonly status: string; readonly count: number }[] {
    return [...this.#routes].flatMap(([route, { answers }]) =>
      [...answers].map(([answer, count]) => ({
        route,
        method: methods[Math.floor(answer / perMethod)] ?? 'other',
        status: String(answer % perMethod),
        count,
      })),
    );
  }

  /** How long they took, in seconds, by route. */
  durations(): { readonly route: string; readonly durations: Histogram }[] {
    return [...this.#routes].map(([route, counts]) => ({ route, durations: counts.durations }));
  }
}
