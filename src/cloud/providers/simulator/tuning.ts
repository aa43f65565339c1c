import type { PlainValues } from '../../catalogue/driver.ts';
import { parseFailures, parseLatencies } from '../../catalogue/options.ts';

const defaultLatencies = parseLatencies('create=3000,delete=2000,sync=1000,ping=0,*=1500') ?? new Map<string, number>();

/** Latency and failure probability of operations, from the options of the settings (providers.md 3.2). */
export class Tuning {
  readonly #latencies: ReadonlyMap<string, number>;
  readonly #failures: ReadonlyMap<string, number>;

  constructor({ simulator_failures: failures, simulator_latency: latencies }: PlainValues) {
    this.#latencies = parseIfPresent(latencies, parseLatencies) ?? new Map();
    this.#failures = parseIfPresent(failures, parseFailures) ?? new Map();
  }

  /** Duration of an operation in milliseconds. */
  latency(operation: string, kind: string): number {
    return this.configuredLatency(operation, kind) ?? chosen(defaultLatencies, operation, kind) ?? 0;
  }

  /** The configured latency; undefined if the default applies. */
  configuredLatency(operation: string, kind: string): number | undefined {
    return chosen(this.#latencies, operation, kind);
  }

  /** The failure probability of an operation; `vanish` must be configured by name. */
  failure(operation: string, kind: string): number {
    const choose = operation === 'vanish' ? named : chosen;
    return choose(this.#failures, operation, kind) ?? 0;
  }
}

const parseIfPresent = <T>(text: unknown, parse: (text: string) => T | undefined): T | undefined =>
  typeof text === 'string' ? parse(text) : undefined;

/** `<Kind>.<operation>` before `<operation>` before `<Kind>.*` before `*`. */
const chosen = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  named(values, operation, kind) ?? named(values, '*', kind);

const named = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  values.get(`${kind}.${operation}`) ?? values.get(operation);
