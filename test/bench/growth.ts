import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Case, cases, further, type World } from './cases.ts';
import { dataFolder, type Load, type Running, startLoad, startTenantry } from './processes.ts';
import { judged, median, row } from './report.ts';
import { huge, medium, type Size, small } from './seed.ts';
import { readWorld, seeded, settleCrowd } from './worlds.ts';

const sizes = [small, medium, huge];
/** The same number of objects in every world: how many people work does not grow with what is there. */
const asked = 100;
/**
 * Many short ones: what else the machine does comes and goes within seconds, and a pair of rounds differs from the next by up to a
 * third.
 */
const rounds = 32;
const milliseconds = 500;
/** Rounds before those that only make warm. */
const warming = 2;

interface Grown {
  readonly size: Size;
  readonly world: World;
  readonly server: Running;
  /** Where what is asked for once goes on. */
  sent: number;
}

/**
 * What grows with a world: the speed of the same requests in worlds of several sizes, kept in `folder`, whose servers take turns in
 * each round, each with a copy inside `copies`.
 */
export async function run(
  folder: string,
  copies: string,
  bundle: string,
  program: (name: string) => string,
  tell: (text: string) => void,
): Promise<string> {
  const worlds: Grown[] = [];
  const load = startLoad(program('load'));
  const data = ({ customers }: Size): string => join(copies, `growth-${customers}`);
  try {
    for (const size of sizes) {
      const database = await seeded(folder, size, tell);
      const folderOfWorld = dataFolder(data(size), database);
      const copy = join(folderOfWorld, 'tenantry.db');
      settleCrowd(copy);
      const world = readWorld(copy, asked);
      worlds.push({ size, world, server: await startTenantry(bundle, folderOfWorld), sent: 0 });
    }
    const lines: string[] = [];
    for (const of of [...cases.filter(({ ofSmaller }) => ofSmaller !== undefined), ...further]) {
      tell(`${of.title} …`);
      lines.push(await line(of, worlds, load));
    }
    const head = [
      'Requests a second',
      ...sizes.map(({ name }) => `${name} customers`),
      'of 100',
      'Target of the largest',
    ];
    return [row(head), row(head.map((_, i) => (i === 0 ? ':--' : '--:'))), ...lines].join('\n');
  } finally {
    await Promise.all([load.stop(), ...worlds.map(({ server }) => server.stop())]);
    for (const size of sizes) rmSync(data(size), { recursive: true, force: true });
  }
}

async function line(of: Case, worlds: readonly Grown[], load: Load): Promise<string> {
  const speeds: number[][] = worlds.map(() => []);
  for (let round = 0; round < warming + rounds; round++) {
    const inTurn = [...worlds.entries()];
    // Whoever is asked first in a round is so in every second one.
    for (const [i, { server, world }] of round % 2 === 0 ? inTurn : inTurn.reverse()) {
      const { perSecond } = await load.run({
        url: server.url,
        requests: of.requests(world),
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
    ofSmaller === 0 ? '' : judged({ text: `≥ ${ofSmaller}`, met }),
  ]);
}

/** What two rounds came to together, one of each order: who is asked first in a round differs by a tenth from who is last. */
const inPairs = (speeds: readonly number[]): number[] =>
  speeds.flatMap((speed, i) => (i % 2 === 0 ? [speed + (speeds[i + 1] as number)] : []));
