/** Measures servers in memory, as tests of applications use them. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { footprintTable, median } from './report.ts';

const meter = fileURLToPath(new URL('fixture-meter.mjs', import.meta.url));

interface Figures {
  readonly first: readonly number[];
  readonly create: readonly number[];
  readonly reset: readonly number[];
  readonly after: readonly number[];
  readonly restore: readonly number[];
  readonly together: readonly number[];
  readonly resident: readonly number[];
  readonly demo: readonly number[];
  readonly advance: readonly number[];
}

/** The figures of the built program as a table. */
export function run(bundle: string): string {
  const output = execFileSync(process.execPath, ['--expose-gc', meter, bundle], { encoding: 'utf8' });
  const { advance, after, create, demo, first, reset, resident, restore, together } = JSON.parse(output) as Figures;
  return footprintTable([
    { what: 'createServer, the first of a process', value: median(first), unit: 'ms' },
    { what: 'createServer, a later one', value: median(create), unit: 'ms', atMost: 10 },
    { what: 'reset with 1,000 customers created since', value: median(reset), unit: 'ms', atMost: 3 },
    { what: 'The first request after it', value: median(after), unit: 'ms' },
    { what: 'restore of a snapshot with 1,000 customers', value: median(restore), unit: 'ms' },
    { what: '100 servers at once, until all listen', value: median(together), unit: 'ms' },
    { what: 'Each of them, in resident memory', value: median(resident), unit: 'MiB', atMost: 2 },
    { what: 'createServer with the sample data', value: median(demo), unit: 'ms', atMost: 150 },
    { what: 'advance of the sample data by 30 days', value: median(advance), unit: 'ms', atMost: 1000 },
  ]);
}
