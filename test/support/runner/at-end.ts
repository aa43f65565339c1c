/** Resources that the test files of a shard share until it ends. */

const endings: (() => Promise<void>)[] = [];

/** Registers a function that runs before the shard ends. */
export const atEnd = (ending: () => Promise<void>): void => void endings.push(ending);

/** Runs the registered functions. */
export const endShared = async (): Promise<void> => void (await Promise.all(endings.map((ending) => ending())));

/** CPU time of processes that outlive a test file: command hosts in `seconds`, the browser in `ofBrowser`. */
export const otherCpu = { seconds: 0, ofBrowser: (): number => 0 };
