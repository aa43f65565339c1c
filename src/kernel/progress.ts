/**
 * How far long work is, for whoever waits for it at a terminal: one line there, which is written over and goes when the work
 * is done. A pipe gets none of it, nor does a program that embeds the server. There is one terminal in a process, hence one line.
 */

/** Milliseconds between two looks at how far it is. */
const between = 100;

/** What is written to. */
interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

let displayed: { readonly terminal: Terminal; at: number } | undefined;

/** Shows on a terminal what the work tells of itself; on anything else nothing. */
export async function showingProgress<T>(terminal: Terminal, work: () => Promise<T>): Promise<T> {
  if (!terminal.isTTY) return await work();
  displayed = { terminal, at: Number.NEGATIVE_INFINITY };
  try {
    return await work();
  } finally {
    displayed = undefined;
    terminal.write('\r\x1b[K');
  }
}

/** Tells that so much of a piece of work is done: a share of `whole`, or bytes where nobody knows of how many. */
export function reportProgress(what: string, done: number, whole?: number): void {
  if (displayed === undefined || performance.now() - displayed.at < between) return;
  displayed.at = performance.now();
  const far = whole === undefined ? `${(done / 1e6).toFixed(1)} MB` : percentOf(done, whole);
  displayed.terminal.write(`\r\x1b[K${what}: ${far}`);
}

/** Work done is less than all of it until it ends. */
const percentOf = (done: number, whole: number): string =>
  `${Math.min(99, Math.floor((done / Math.max(1, whole)) * 100))} %`;

/** The same while work goes on that tells nothing: `measure` says how much is done. */
export async function measuringProgress<T>(
  what: string,
  measure: () => readonly [done: number, whole: number | undefined],
  work: () => Promise<T>,
): Promise<T> {
  if (displayed === undefined) return await work();
  const report = (): void => reportProgress(what, ...measure());
  report();
  const timer = setInterval(report, between);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
