/** Resources that the test files of a shard share until it ends. */

const cleanups: (() => Promise<void>)[] = [];

/** Registers a function that runs before the shard ends. */
export const addCleanup = (ending: () => Promise<void>): void => void cleanups.push(ending);

/** Runs the registered functions. */
export const runCleanups = async (): Promise<void> => void (await Promise.all(cleanups.map((ending) => ending())));

/** CPU time of processes that outlive a test file: command hosts in `seconds`, the browser in `ofBrowser`. */
export const otherCpu = { seconds: 0, browserSeconds: (): number => 0 };
