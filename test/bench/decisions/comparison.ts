import { median } from '../report.ts';

/** A figure of a page in src/decisions: the same work with and without the decision. */
export interface Comparison {
  /** The page, without `.md`. */
  readonly page: string;
  readonly what: string;
  readonly unit: string;
  /** Whether larger figures are better, as with rates; default: smaller ones. */
  readonly isRate?: boolean;
  readonly decision: number;
  readonly without: number;
}

/** Measures the comparisons of one file in the empty folder `folder`. */
export type Measure = (folder: string) => Promise<readonly Comparison[]>;

/** Returns the medians of two measurements in alternating rounds, so that other load affects both. */
export async function alternate(
  rounds: number,
  decision: () => number | Promise<number>,
  without: () => number | Promise<number>,
): Promise<Pick<Comparison, 'decision' | 'without'>> {
  const figures = { decision: [] as number[], without: [] as number[] };
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    const pair = { decision: await decision(), without: await without() };
    if (round === 0) continue;
    figures.decision.push(pair.decision);
    figures.without.push(pair.without);
  }
  return { decision: median(figures.decision), without: median(figures.without) };
}

/** Returns the CPU time of the process in microseconds, which other load on the machine does not affect. */
export function used(): number {
  const { system, user } = process.cpuUsage();
  return user + system;
}

/** Microseconds of CPU time of each of `times` calls. */
export function microsecondsEach(times: number, work: (i: number) => unknown): number {
  const started = used();
  for (let i = 0; i < times; i++) work(i);
  return (used() - started) / times;
}

/** Waits for the next turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Formats all comparisons as Markdown. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ isRate, decision, page, unit, what, without }) => {
    const times = isRate ? decision / without : without / decision;
    return `| ${page} | ${what} | ${written(decision)} ${unit} | ${written(without)} ${unit} | ${times.toFixed(times < 10 ? 2 : 0)} × |`;
  });
  return ['| Decision | What | With | Without | Ratio |', '| :-- | :-- | --: | --: | --: |', ...rows].join('\n');
}

const written = (value: number): string =>
  value < 100 ? value.toFixed(value < 10 ? 2 : 1) : Math.round(value).toLocaleString('en');
