/**
 * Progress of long work for a user at a terminal: one line, which is overwritten and disappears when the work
 * is done. A pipe gets none of it, nor does a program that embeds the server. There is one terminal in a process, hence one line.
 */

/** Milliseconds between two looks at how far it is. */
const intervalMs = 100;

/** The output stream. */
interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

let displayed: { readonly terminal: Terminal; at: number } | undefined;

/** Shows the progress of the work on a terminal; on anything else nothing. */
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

/** Reports the finished part of a piece of work: a share of `whole`, or bytes of an unknown total. */
export function reportProgress(what: string, done: number, whole?: number): void {
  if (displayed === undefined || performance.now() - displayed.at < intervalMs) return;
  displayed.at = performance.now();
  const far = whole === undefined ? `${(done / 1e6).toFixed(1)} MB` : percentOf(done, whole);
  displayed.terminal.write(`\r\x1b[K${what}: ${far}`);
}

/** Work done is less than all of it until it ends. */
const percentOf = (done: number, whole: number): string =>
  `${Math.min(99, Math.floor((done / Math.max(1, whole)) * 100))} %`;

/** The same while work runs that reports nothing: `measure` returns the finished part. */
export async function measuringProgress<T>(
  what: string,
  measure: () => readonly [done: number, whole: number | undefined],
  work: () => Promise<T>,
): Promise<T> {
  if (displayed === undefined) return await work();
  const report = (): void => reportProgress(what, ...measure());
  report();
  const timer = setInterval(report, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
