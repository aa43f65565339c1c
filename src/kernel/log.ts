import { type Logger, pino } from 'pino';
import { LineFile } from './line-file.ts';

declare module './app.ts' {
  interface App {
    readonly log: Log;
  }
}

export type Log = Logger;

/** Characters to collect before a write, and milliseconds between writes. See src/decisions/output.md. */
const maxCollected = 12_000;
const flushIntervalMs = 250;

/**
 * Opens the logger: one JSON object per line, in a file or on stderr, because stdout belongs to the command line. `close` flushes
 * buffered lines. `reopen` continues in a new file after log rotation has renamed the old one. If it cannot be opened, `reopen`
 * throws a readable error and keeps the old file.
 */
export function openLog(
  level: string,
  file: string | null = null,
): { log: Log; close: () => void; reopen: () => void } {
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
    if (lines.length >= maxCollected) flush();
  };
  const timestamp = timestamps();
  const finish = (): void => {
    const text = lines;
    lines = '';
    output.writeNow(text);
  };
  // pino calls flushSync after a fatal line.
  const sink = { write, flushSync: finish };
  const log = pino({ level, base: null, timestamp }, sink);
  const timer = setInterval(flush, flushIntervalMs).unref();
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

/** The `finish` of each logger that is not closed: an error may end the process before `close`. */
const open = new Set<() => void>();
const finishAll = (): void => {
  for (const finish of open) finish();
};

/** Returns the time member of a line, formatted once per millisecond. */
function timestamps(): () => string {
  let [at, text] = [Number.NaN, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
}
