import { present } from '../present.ts';

/** The rate limits of the program by name. Each module that has one adds it beside the code that asks it (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface RateLimits {}

declare module '../app.ts' {
  interface App {
    readonly limits: RateLimits;
  }
}

/** Maximum number of keys; beyond it, the oldest are evicted. */
const storedKeys = 10_000;

/** Lets each key, such as a client's address, through so many times in a span of time that begins with the first. */
export class RateLimit {
  readonly #spans = new Map<string, { readonly since: number; count: number }>();

  /** `span` is in microseconds. */
  constructor(
    private readonly limit: number,
    private readonly span: number,
  ) {}

  /** Another one that has counted the same. */
  copy(): RateLimit {
    const copy = new RateLimit(this.limit, this.span);
    for (const [key, span] of this.#spans) copy.#spans.set(key, { ...span });
    return copy;
  }

  /** How long, in microseconds, until another call is let through; undefined when it is now. Counts nothing. */
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

  /** Spans stand in the order in which they began: the first ones end first. */
  #begin(key: string, now: number): void {
    this.#spans.delete(key);
    if (this.#spans.size >= storedKeys) this.#spans.delete(present(this.#spans.keys().next().value));
    this.#spans.set(key, { since: now, count: 1 });
  }
}
