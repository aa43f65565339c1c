import type { PlainValues } from '../../catalogue/driver.ts';
import { parseFailures, parseLatencies } from '../../catalogue/options.ts';

const defaultLatencies = parseLatencies('create=3000,delete=2000,sync=1000,ping=0,*=1500') ?? new Map<string, number>();

/** How long operations take, and how likely they fail, as the options of the settings say (providers.md 3.2). */
export class Tuning {
  readonly #latencies: ReadonlyMap<string, number>;
  readonly #failures: ReadonlyMap<string, number>;

  constructor({ simulator_failures: failures, simulator_latency: latencies }: PlainValues) {
    this.#latencies = given(latencies, parseLatencies) ?? new Map();
    this.#failures = given(failures, parseFailures) ?? new Map();
  }

  /** Milliseconds that an operation takes. */
  latency(operation: string, kind: string): number {
    return this.askedLatency(operation, kind) ?? chosen(defaultLatencies, operation, kind) ?? 0;
  }

  /** Those that the options name; undefined where they leave it to the defaults. */
  askedLatency(operation: string, kind: string): number | undefined {
    return chosen(this.#latencies, operation, kind);
  }

  /** The probability that an operation fails; objects vanish only where that is asked for by name. */
  failure(operation: string, kind: string): number {
    const choose = operation === 'vanish' ? named : chosen;
    return choose(this.#failures, operation, kind) ?? 0;
  }
}

const given = <T>(text: unknown, parse: (text: string) => T | undefined): T | undefined =>
  typeof text === 'string' ? parse(text) : undefined;

/** `<Kind>.<operation>` before `<operation>` before `<Kind>.*` before `*`. */
const chosen = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  named(values, operation, kind) ?? named(values, '*', kind);

const named = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  values.get(`${kind}.${operation}`) ?? values.get(operation);
