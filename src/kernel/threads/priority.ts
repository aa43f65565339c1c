import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Gives this process the lowest priority, so that a server on the same machine takes precedence. On Linux, priorities belong to
 * threads, and Node.js has already started some, such as those for compression.
 */
export function lowerPriority(): void {
  const { PRIORITY_LOW: low } = constants.priority;
  setPriority(low);
  for (const thread of threads()) {
    try {
      setPriority(thread, low);
    } catch {
      // The thread has ended.
    }
  }
}

/** Returns the ids of the threads of this process; none where the kernel does not list them. */
function threads(): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}
