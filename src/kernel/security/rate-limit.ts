import { present } from '../present.ts';

/** The rate limits of the program by name. Each module adds its own beside the code that uses it (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface RateLimits {}

declare module '../app.ts' {
  interface App {
    readonly limits: RateLimits;
  }
}

/** Maximum number of keys; beyond it, the oldest are evicted. */
const storedKeys = 10_000;

/** Limits the calls of each key, such as a client's address, within a time span that starts with the first call. */
export class RateLimit {
  readonly #spans = new Map<string, { readonly since: number; count: number }>();

  /** `span` is in microseconds. */
  constructor(
    private readonly limit: number,
    private readonly span: number,
  ) {}

  /** Returns a copy with the same counts. */
  copy(): RateLimit {
    const copy = new RateLimit(this.limit, this.span);
    for (const [key, span] of this.#spans) copy.#spans.set(key, { ...span });
    return copy;
  }

  /** Returns the time in microseconds until the next call is allowed; undefined if it is allowed now. Does not count a call. */
  wait(key: string, now: number): number | undefined {
    const known = this.#spans.get(key);
    if (!known || known.count < this.limit || now < known.since || now >= known.since + this.span) return undefined;
    return known.since + this.span - now;
  }

  /** Counts a call. Returns undefined if it is allowed, otherwise the time, in microseconds, until the next one is. */
  denial(key: string, now: number): number | undefined {
    const known = this.#spans.get(key);
    if (!known || now < known.since || now >= known.since + this.span) {
      this.#begin(key, now);
      return undefined;
    }
    known.count++;
    return known.count > this.limit ? known.since + this.span - now : undefined;
  }

  /** Spans are ordered by their start, so the first ones end first. */
  #begin(key: string, now: number): void {
    this.#spans.delete(key);
    if (this.#spans.size >= storedKeys) this.#spans.delete(present(this.#spans.keys().next().value));
    this.#spans.set(key, { since: now, count: 1 });
  }
}
