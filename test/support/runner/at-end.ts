/** What tests of several files share until their process ends. */

const endings: (() => Promise<void>)[] = [];

/** Adds what to do before the process of the runner ends. */
export const atEnd = (ending: () => Promise<void>): void => void endings.push(ending);

/** Ends what tests share. */
export const endShared = async (): Promise<void> => void (await Promise.all(endings.map((ending) => ending())));

/** CPU time of processes that run longer than a test file, for the figures of the file: of commands, and of browsers. */
export const otherCpu = { seconds: 0, ofBrowser: (): number => 0 };
