/** Measures the gain of writing log lines together. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiled } from '../../support/compiled.ts';
import { alternate, type Measure } from './comparison.ts';

const program = compiled(new URL('lines-writer.ts', import.meta.url));
const rounds = 7;

/** Ways to write a line, as `lines-writer.ts` knows them. */
export type Way = 'gathered' | 'one by one';

export const lines: Measure = async () => [
  {
    page: 'log-lines',
    what: 'A log line, gathered, against writing each alone',
    unit: 'µs',
    ...(await alternate(
      rounds,
      () => microseconds('gathered'),
      () => microseconds('one by one'),
    )),
  },
];

/** Microseconds of processor that a line takes, in a process whose log is thrown away. */
async function microseconds(way: Way): Promise<number> {
  const child = spawn(process.execPath, [program, way], { stdio: ['ignore', 'pipe', 'ignore'] });
  let reports = '';
  child.stdout.on('data', (chunk: Buffer) => (reports += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Writing lines ended with ${code}`);
  return Number(reports);
}
