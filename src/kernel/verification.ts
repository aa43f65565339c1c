/** Self-checks that are too expensive for production. */
export interface SelfChecks {
  /** Compares cached values with freshly computed ones. A difference is an error. */
  readonly caches: boolean;
  /** Runs each repeatable write twice and rolls back the first run, simulating a failed commit. */
  readonly repeatableWrites: boolean;
  /** Compares the context of each event with the declared keys of its type. A difference is an error. */
  readonly eventContexts: boolean;
}

/** The checks that are on in this process. */
export const selfChecks: { -readonly [name in keyof SelfChecks]: SelfChecks[name] } = {
  caches: false,
  repeatableWrites: false,
  eventContexts: false,
};

/** Switches checks on or off. */
export const setSelfChecks = (checks: Partial<SelfChecks>): void => void Object.assign(selfChecks, checks);

/** Throws if a cached value differs from a freshly computed one. */
export function verify(what: () => string, cached: () => unknown, make: () => unknown): void {
  if (!selfChecks.caches) return;
  const [was, is] = [cached(), make()].map((value) => JSON.stringify(value));
  if (was !== is) throw new Error(`${what()} is cached wrongly: ${was}, and would be ${is}`);
}
