import { median } from '../report.ts';

/** A figure of a page in src/decisions: the same work as the program does it, and without the trick. */
export interface Comparison {
  /** The page, without `.md`. */
  readonly page: string;
  readonly what: string;
  readonly unit: string;
  /** Whether larger figures are better, such as rates; otherwise smaller ones are. */
  readonly isRate?: boolean;
  readonly decision: number;
  readonly without: number;
}

/** Makes the comparisons of one file inside `folder`, which is empty. */
export type Measure = (folder: string) => Promise<readonly Comparison[]>;

/** The medians of two pieces of work that take turns, so that whatever else the machine does concerns both. Each answers its figure. */
export async function alternate(
  rounds: number,
  decision: () => number | Promise<number>,
  without: () => number | Promise<number>,
): Promise<Pick<Comparison, 'decision' | 'without'>> {
  const figures = { decision: [] as number[], without: [] as number[] };
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const pair = { decision: await decision(), without: await without() };
    if (round === 0) continue;
    figures.decision.push(pair.decision);
    figures.without.push(pair.without);
  }
  return { decision: median(figures.decision), without: median(figures.without) };
}

/** Microseconds of processor that the process has used: unlike the time, it does not tell how busy the machine was. */
export function used(): number {
  const { system, user } = process.cpuUsage();
  return user + system;
}

/** Microseconds of processor that each of `times` calls takes. */
export function microsecondsEach(times: number, work: (i: number) => unknown): number {
  const started = used();
  for (let i = 0; i < times; i++) work(i);
  return (used() - started) / times;
}

/** The next turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** All comparisons as Markdown. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ isRate, decision, page, unit, what, without }) => {
    const times = isRate ? decision / without : without / decision;
    return `| ${page} | ${what} | ${written(decision)} ${unit} | ${written(without)} ${unit} | ${times.toFixed(times < 10 ? 2 : 0)} × |`;
  });
  return ['| Decision | What | As it is | Without | Better by |', '| :-- | :-- | --: | --: | --: |', ...rows].join(
    '\n',
  );
}

const written = (value: number): string =>
  value < 100 ? value.toFixed(value < 10 ? 2 : 1) : Math.round(value).toLocaleString('en');
