/** CPU time of processes, on Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU time in seconds of a process and of the children that it has waited for. */
export const cpuOfProcess = (pid: number | 'self'): number => cpuIn(statusOf(pid));

/** Returns the CPU time in seconds of all processes in a session: a browser does not wait for its page processes. */
export const cpuOfSession = (session: number): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statusOf(Number(pid)))
    .filter((fields) => fields[3] === String(session))
    .reduce((sum, fields) => sum + cpuIn(fields), 0);

/** Sums utime, stime, cutime and cstime, which count hundredths of a second. */
const cpuIn = (fields: readonly string[]): number =>
  fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);

/** Returns the fields after the name of a process; none if it has ended. */
function statusOf(pid: number | 'self'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}
