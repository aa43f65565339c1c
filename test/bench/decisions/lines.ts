/** Measures the gain of writing log lines together. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiled } from '../../support/compiled.ts';
import { alternate, type Measure } from './comparison.ts';

const program = compiled(new URL('lines-writer.ts', import.meta.url));
const rounds = 7;

/** Ways to write a line, as named in `lines-writer.ts`. */
export type Way = 'gathered' | 'one by one';

export const lines: Measure = async () => [
  {
    page: 'output',
    what: 'A log line, batched, against separate writes',
    unit: 'µs',
    ...(await alternate(
      rounds,
      () => microseconds('gathered'),
      () => microseconds('one by one'),
    )),
  },
];

/** Microseconds of CPU time per line, in a process whose log is discarded. */
async function microseconds(way: Way): Promise<number> {
  const child = spawn(process.execPath, [program, way], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Writing lines ended with ${code}`);
  return Number(output);
}
