/** CPU time of processes, on Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Seconds of CPU time of a process and of its children that it has waited for. */
export const cpuOfProcess = (pid: number | 'self'): number => cpuIn(statusOf(pid));

/** The same of all processes of a session: a browser does not wait for its pages. */
export const cpuOfSession = (session: number): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statusOf(Number(pid)))
    .filter((fields) => fields[3] === String(session))
    .reduce((sum, fields) => sum + cpuIn(fields), 0);

/** The fields utime, stime, cutime and cstime, in hundredths of a second. */
const cpuIn = (fields: readonly string[]): number =>
  fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);

/** The fields of a process after its name; none if it has ended. */
function statusOf(pid: number | 'self'): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}
