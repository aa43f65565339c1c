import type { Versions } from '../../src/kernel/cache/versions.ts';

/** Counts how often a database clears all caches: after rollbacks and writes of other processes. */
export function invalidationsOf({ versions }: { readonly versions: Versions }): () => number {
  const { changedAll } = versions;
  let count = 0;
  versions.changedAll = () => {
    count++;
    changedAll.call(versions);
  };
  return () => count;
}
