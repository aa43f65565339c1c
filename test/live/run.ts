/**
 * What needs more than Node.js: vendors' own clients and services from Debian packages.
 *
 *   npm run live                every part below
 *   npm run live -- amazon      one part; several may be named. Needs python3-boto3
 *
 * Prints a line a step with its seconds, and as its last line "N passed, N failed"; ends with exit code 1 when any failed.
 */
import { parseArgs } from 'node:util';
import { amazon } from './amazon/part.ts';
import { Steps } from './steps.ts';

/** A line a part. */
const clouds: Readonly<Record<string, (steps: Steps) => Promise<void>>> = { amazon };

const { positionals } = parseArgs({ allowPositionals: true });
const steps = new Steps();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(clouds)) {
    const live = clouds[name];
    if (live === undefined) throw new Error(`There is no ${name}; known: ${Object.keys(clouds).join(', ')}`);
    await live(steps);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
}
process.stdout.write(`${steps.sum}\n`);
if (steps.hasFailed) process.exitCode = 1;
