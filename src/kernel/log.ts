import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * The logger: one JSON object a line on stderr, so that stdout belongs to the command line. Lines are gathered and
 * written a few times a second; `flushSync` on the stream writes what is left at shutdown.
 */
export function openLog(level: string): { log: Log; flush: () => void; close: () => void } {
  const stream = destination({ fd: 2, sync: false, minLength: 16_000 });
  const log = pino({ level, base: null, timestamp: timestamps() }, stream);
  const flush = (): void => {
    try {
      stream.flushSync();
    } catch {
      // A closed or blocked stderr must not stop the service.
    }
  };
  const timer = setInterval(() => stream.flush(), 250).unref();
  const close = (): void => {
    clearInterval(timer);
    flush();
  };
  return { log, flush, close };
}

/** Writes the present time, once for all lines of a millisecond. */
function timestamps(): () => string {
  let [at, text] = [Number.NaN, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
}
