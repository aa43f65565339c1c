import { type Logger, pino } from 'pino';
import { LineFile } from './line-file.ts';

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
 * The logger: one JSON object a line on stderr, so that stdout belongs to the command line, or in a file. Lines are gathered
 * here, as each that is handed over by itself costs more than to write it; `close` writes what is left. `reopen` goes on in a
 * new file where the old one has got another name, or throws with a sentence and goes on in the old one.
 */
export function openLog(
  level: string,
  file: string | null = null,
): { log: RequestLog; close: () => void; reopen: () => void } {
  let output = new LineFile(file);
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const text = lines;
    lines = '';
    output.write(text);
  };
  const write = (line: string): void => {
    lines += line;
    if (lines.length >= gathered) flush();
  };
  const timestamp = timestamps();
  const finish = (): void => {
    const text = lines;
    lines = '';
    output.writeNow(text);
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
    const next = new LineFile(file);
    flush();
    output.end();
    output = next;
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
