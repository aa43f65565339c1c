import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Gives this process the lowest priority, so that a server on the same machine goes first. On Linux, a priority is that of one
 * thread, and Node.js has started some already, such as those that compress.
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
