/**
 * Everything that machines do to a server, for long.
 *
 *   npm run chaos                      100 kills, 300 cuts of the power, 20 rounds with jumps of the clock: seven minutes
 *   npm run chaos -- --rounds 10       10 kills
 *   npm run chaos -- --only power      or: kill, clock
 *
 * Prints the figures; ends with a sentence and exit code 1 when something is not as it must be.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { jumpTheClock } from './clock-jumps.ts';
import { chaos } from './kill.ts';
import { losePower } from './power.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    cuts: { type: 'string', default: '300' },
    jumps: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
const program = [join(fileURLToPath(new URL('../..', import.meta.url)), 'dist/tenantry.mjs')];

const parts: Record<string, () => Promise<object>> = {
  kill: () => chaos(Number(values.rounds), program, (text) => void process.stderr.write(`${text}\n`)),
  power: async () => {
    const figures = await losePower(Number(values.cuts), 20_000, program);
    if (figures.losses + figures.damaged > 0)
      throw new Error(`Cuts of the power lost acknowledged writes: ${JSON.stringify(figures)}`);
    return figures;
  },
  clock: () => jumpTheClock(Number(values.jumps), program),
};

for (const [name, run] of Object.entries(parts)) {
  if (values.only !== undefined && values.only !== name) continue;
  const rows = Object.entries(await run()).map(([what, count]) => `| ${what} | ${count} |`);
  process.stdout.write(`${[`| ${name} | Count |`, '|---|---|', ...rows].join('\n')}\n\n`);
}
