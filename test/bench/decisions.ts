/**
 * The gain of each page of src/decisions: the program beside the same work without the optimisation, in alternating rounds.
 *
 *   npm run bench -- --only decisions              all of them, about two minutes
 *   npm run bench -- --only decisions:storage      one file of test/bench/decisions
 *
 * Prints a Markdown table. Ratios hold on a busy machine; absolute figures do not.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { comparisonTable, type Measure } from './decisions/comparison.ts';
import { lease } from './decisions/lease.ts';
import { lines } from './decisions/lines.ts';
import { log } from './decisions/log.ts';
import { network } from './decisions/network.ts';
import { responses } from './decisions/responses.ts';
import { start } from './decisions/start.ts';
import { storage } from './decisions/storage.ts';

/** By file name. */
export const measures: Readonly<Record<string, Measure>> = { storage, log, responses, lines, start, network, lease };

/** Measures the comparisons of these files in `folder`. */
export async function run(folder: string, names: readonly string[], report: (text: string) => void): Promise<string> {
  const comparisons = [];
  for (const name of names) {
    const own = join(folder, `decisions-${name}`);
    rmSync(own, { recursive: true, force: true });
    mkdirSync(own, { recursive: true });
    report(`Decisions: ${name} …`);
    comparisons.push(...(await (measures[name] as Measure)(own)));
    rmSync(own, { recursive: true });
  }
  return comparisonTable(comparisons);
}
