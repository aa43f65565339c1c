import type { Catalogue } from './catalogue.ts';
import { operationsOf } from './options.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** Operations that the simulator must fail. */
    readonly nextFailures: NextFailures;
  }
}

/**
 * Operations that must fail in the simulator at their next run, at a test's request: `create` of `DigitalOcean.Droplet`, or
 * `sync` and `ping` of the settings `DigitalOcean`.
 */
export class NextFailures {
  /** Messages by operation, next one first. */
  readonly #orders: Map<string, readonly string[]>;

  constructor(
    private readonly catalogue: Catalogue,
    before?: NextFailures,
  ) {
    this.#orders = new Map(before ? before.#orders : []);
  }

  /** Returns the unknown parameter and the broken rule; undefined if the operation exists. */
  rejection(kind: string, operation: string): readonly ['kind' | 'operation', string] | undefined {
    const [typeName = '', name] = kind.split('.', 2);
    const type = this.catalogue.types.find((known) => known.name === typeName);
    const isKnown =
      name === undefined || [...(type?.kinds ?? []), ...(type?.entities ?? [])].some((known) => known.name === name);
    if (!type || !isKnown) return ['kind', `there is no "${kind}"; there are: ${this.#kinds().join(', ')}`];
    const operations = operationsOf(type, name);
    if (operations.includes(operation)) return undefined;
    return ['operation', `${kind} has no "${operation}"; it has: ${operations.join(', ')}`];
  }

  /** Adds a failure with this message. */
  add(kind: string, operation: string, message: string): void {
    const key = `${kind} ${operation}`;
    this.#orders.set(key, [...(this.#orders.get(key) ?? []), message]);
  }

  /** Returns the message with which an operation must fail, and removes the request; undefined if it must not fail. */
  take(type: string, kind: string, operation: string): string | undefined {
    const key = `${kind === '' ? type : `${type}.${kind}`} ${operation}`;
    const [next, ...others] = this.#orders.get(key) ?? [];
    if (next !== undefined) this.#orders.set(key, others);
    return next;
  }

  #kinds(): string[] {
    return this.catalogue.types.flatMap(({ entities = [], kinds, name }) => [
      name,
      ...[...kinds, ...entities].map((kind) => `${name}.${kind.name}`),
    ]);
  }
}
