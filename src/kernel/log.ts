import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

/** The logger that requests are told to. */
export interface RequestLog extends Log {
  /**
   * The line of a request, by the JSON of its members: made by hand, as there are as many of them as requests, and pino takes
   * as long for one as the rest of an answer that is remembered.
   */
  readonly request: (members: string) => void;
}

/** So many characters of lines are handed over at a time, and what there is four times a second. */
const gathered = 65_536;
const flushedEvery = 250;

/**
 * The logger: one JSON object a line on stderr, so that stdout belongs to the command line. Lines are gathered here, as
 * each that is handed over by itself costs more than to write it; `close` writes what is left.
 */
export function openLog(level: string): { log: RequestLog; flush: () => void; close: () => void } {
  const stream = destination({ fd: 2, sync: false });
  let lines = '';
  const handOver = (): void => {
    if (lines === '') return;
    stream.write(lines);
    lines = '';
  };
  const flushSync = (): void => {
    handOver();
    stream.flushSync();
  };
  const write = (line: string): void => {
    lines += line;
    if (lines.length >= gathered) handOver();
  };
  const timestamp = timestamps();
  // pino writes what is fatal at once.
  const sink = { write, flushSync };
  const log = Object.assign(pino({ level, base: null, timestamp }, sink), {
    request: (members: string) => {
      if (log.isLevelEnabled('info')) write(`{"level":30${timestamp()},${members},"msg":"request"}\n`);
    },
  });
  const flush = (): void => {
    try {
      flushSync();
    } catch {
      // A closed or blocked stderr must not stop the service.
    }
  };
  const timer = setInterval(handOver, flushedEvery).unref();
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
