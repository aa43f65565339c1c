/** Checks that the program makes of itself, which cost too much for production. */
export interface SelfChecks {
  /** Compares whatever comes from a cache with a fresh value; a difference is an error. */
  readonly caches: boolean;
  /** Runs each write that may be run again twice, and takes the first run back, as a commit does that others have failed. */
  readonly repeatableWrites: boolean;
  /** Compares the context of each event with the keys that its type declares; a difference is an error. */
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

/** Throws when a cached value is not what would be made now. */
export function verify(what: () => string, cached: () => unknown, make: () => unknown): void {
  if (!selfChecks.caches) return;
  const [was, is] = [cached(), make()].map((value) => JSON.stringify(value));
  if (was !== is) throw new Error(`${what()} is cached wrongly: ${was}, and would be ${is}`);
}
