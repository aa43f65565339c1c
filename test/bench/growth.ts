import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Case, cases, further, type Sample } from './cases.ts';
import { readSample, seeded, settleCrowd } from './databases.ts';
import { dataFolder, type Load, type Running, startLoad, startTenantry } from './processes.ts';
import { checked, median, row } from './report.ts';
import { huge, medium, type Size, small } from './seed.ts';

const sizes = [small, medium, huge];
/** The number of objects requested from each database. The number of active users does not grow with the data. */
const sampleSize = 100;
/** Many short rounds: other load on the machine varies within seconds, and two adjacent rounds differ by up to a third. */
const rounds = 32;
const milliseconds = 500;
/** Rounds of warm-up. */
const warming = 2;

interface Grown {
  readonly size: Size;
  readonly sample: Sample;
  readonly server: Running;
  /** Index of the next request, for cases that send each request once. */
  sent: number;
}

/**
 * Growth with the data: the speed of the same requests on databases of several sizes, stored in `folder`. Their servers alternate
 * in each round, each with a copy inside `copies`.
 */
export async function run(
  folder: string,
  copies: string,
  bundle: string,
  program: (name: string) => string,
  report: (text: string) => void,
): Promise<string> {
  const databases: Grown[] = [];
  const load = startLoad(program('load'));
  const data = ({ customers }: Size): string => join(copies, `growth-${customers}`);
  try {
    for (const size of sizes) {
      const database = await seeded(folder, size, report);
      const databaseFolder = dataFolder(data(size), database);
      const copy = join(databaseFolder, 'tenantry.db');
      settleCrowd(copy);
      const sample = readSample(copy, sampleSize);
      databases.push({ size, sample, server: await startTenantry(bundle, databaseFolder), sent: 0 });
    }
    const lines: string[] = [];
    for (const of of [...cases.filter(({ ofSmaller }) => ofSmaller !== undefined), ...further]) {
      report(`${of.title} …`);
      lines.push(await line(of, databases, load));
    }
    const head = [
      'Requests a second',
      ...sizes.map(({ name }) => `${name} customers`),
      'of 100',
      'Target of the largest',
    ];
    return [row(head), row(head.map((_, i) => (i === 0 ? ':--' : '--:'))), ...lines].join('\n');
  } finally {
    await Promise.all([load.stop(), ...databases.map(({ server }) => server.stop())]);
    for (const size of sizes) rmSync(data(size), { recursive: true, force: true });
  }
}

async function line(of: Case, databases: readonly Grown[], load: Load): Promise<string> {
  const speeds: number[][] = databases.map(() => []);
  for (let round = 0; round < warming + rounds; round++) {
    const order = [...databases.entries()];
    // Alternate the order, because the first in a round has an advantage.
    for (const [i, { server, sample }] of round % 2 === 0 ? order : order.reverse()) {
      const { perSecond } = await load.run({
        url: server.url,
        requests: of.requests(sample),
        connections: 64,
        milliseconds,
      });
      if (round >= warming) speeds[i]?.push(perSecond);
    }
  }
  const [first = [], ...others] = speeds.map(inPairs);
  const ratios = others.map((these) => median(these.map((speed, i) => speed / (first[i] as number))));
  const { ofSmaller = 0 } = of;
  const met = (ratios.at(-1) as number) >= ofSmaller;
  return row([
    of.title,
    ...speeds.map((these) => Math.round(median(these)).toLocaleString('en')),
    ratios.map((ratio) => ratio.toFixed(2)).join(', '),
    ofSmaller === 0 ? '' : checked({ text: `≥ ${ofSmaller}`, met }),
  ]);
}

/** The sum of two rounds of opposite order: the first in a round differs by a tenth from the last. */
const inPairs = (speeds: readonly number[]): number[] =>
  speeds.flatMap((speed, i) => (i % 2 === 0 ? [speed + (speeds[i + 1] as number)] : []));
