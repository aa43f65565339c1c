import { destination, type Logger, pino } from 'pino';

export type Log = Logger;

/** The logger that requests are told to. */
export interface RequestLog extends Log {
  /**
   * The line of a request, by the JSON of its members: there are as many of them as requests. See
   * src/decisions/lines-of-requests.md.
   */
  readonly request: (members: string) => void;
}

/** So many characters of lines are handed over at a time, and what there is four times a second. */
const gathered = 12_000;
const flushedEvery = 250;

/**
 * The logger: one JSON object a line on stderr, so that stdout belongs to the command line. Lines are gathered here, as
 * each that is handed over by itself costs more than to write it; `close` writes what is left.
 */
export function openLog(level: string): { log: RequestLog; close: () => void } {
  // Less than this it keeps until it is told to write, so that nothing is under way when the process ends.
  const stream = destination({ fd: 2, sync: false, minLength: 16_000 });
  let lines = '';
  const handOver = (): void => {
    stream.write(lines);
    lines = '';
  };
  const flush = (): void => {
    if (lines === '') return;
    handOver();
    stream.flush();
  };
  const flushSync = (): void => {
    handOver();
    stream.flushSync();
  };
  const write = (line: string): void => {
    lines += line;
    if (lines.length >= gathered) flush();
  };
  const timestamp = timestamps();
  // pino writes what is fatal at once.
  const sink = { write, flushSync };
  const log = Object.assign(pino({ level, base: null, timestamp }, sink), {
    request: (members: string) => {
      if (log.isLevelEnabled('info')) write(`{"level":30${timestamp()},${members},"msg":"request"}\n`);
    },
  });
  const finish = (): void => {
    try {
      flushSync();
    } catch {
      // A closed or blocked stderr must not stop the service.
    }
  };
  const timer = setInterval(flush, flushedEvery).unref();
  if (open.size === 0) process.on('exit', finishAll);
  open.add(finish);
  const close = (): void => {
    clearInterval(timer);
    finish();
    open.delete(finish);
    if (open.size === 0) process.off('exit', finishAll);
  };
  return { log, close };
}

/** What writes the rest of each logger that has not been closed: an error may end the process before that. */
const open = new Set<() => void>();
const finishAll = (): void => {
  for (const finish of open) finish();
};

/** Writes the present time, once for all lines of a millisecond. */
function timestamps(): () => string {
  let [at, text] = [Number.NaN, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
}
