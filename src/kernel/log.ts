import { openSync } from 'node:fs';
import { destination, type Logger, pino } from 'pino';
import { errorOf } from './present.ts';

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

/** Bytes of lines that are kept while a file cannot be written to; further ones are dropped. */
const mostKept = 16 * 1024 * 1024;

/** What writes lines to the end of a file, or to stderr. Throws with a sentence when the file cannot be opened. */
function streamTo(file: string | null): ReturnType<typeof destination> {
  // Less than this it keeps until it is told to write, so that nothing is under way when the process ends.
  const options = { sync: false, minLength: 16_000 };
  if (file === null) return destination({ ...options, fd: 2 });
  try {
    const stream = destination({ ...options, fd: openSync(file, 'a', 0o640), maxLength: mostKept });
    // A full disk must not stop the service; the lines are written when there is room.
    return stream.on('error', () => undefined);
  } catch (error) {
    throw new Error(`cannot open the log file: ${errorOf(error).message}`, { cause: error });
  }
}

/**
 * The logger: one JSON object a line on stderr, so that stdout belongs to the command line, or in a file. Lines are gathered
 * here, as each that is handed over by itself costs more than to write it; `close` writes what is left. `reopen` goes on in a
 * new file where the old one has got another name, or throws with a sentence and goes on in the old one.
 */
export function openLog(
  level: string,
  file: string | null = null,
): { log: RequestLog; close: () => void; reopen: () => void } {
  let stream = streamTo(file);
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
  const write = (line: string): void => {
    lines += line;
    if (lines.length >= gathered) flush();
  };
  const timestamp = timestamps();
  const finish = (): void => {
    try {
      handOver();
      stream.flushSync();
    } catch {
      // A closed or blocked stderr must not stop the service.
    }
  };
  // pino writes what is fatal at once.
  const sink = { write, flushSync: finish };
  const log = Object.assign(pino({ level, base: null, timestamp }, sink), {
    request: (members: string) => {
      if (log.isLevelEnabled('info')) write(`{"level":30${timestamp()},${members},"msg":"request"}\n`);
    },
  });
  const timer = setInterval(flush, flushedEvery).unref();
  if (open.size === 0) process.on('exit', finishAll);
  open.add(finish);
  const close = (): void => {
    clearInterval(timer);
    finish();
    open.delete(finish);
    if (open.size === 0) process.off('exit', finishAll);
  };
  const reopen = (): void => {
    if (file === null) return;
    const next = streamTo(file);
    handOver();
    // Writes what it has, and closes the file.
    stream.end();
    stream = next;
  };
  return { log, close, reopen };
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
