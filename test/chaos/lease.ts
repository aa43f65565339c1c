/** The lease of two servers: in simulated time, and with built servers. */
import { setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { leaseRound } from '../support/lease-simulation.ts';
import { ObjectStore } from '../support/object-store.ts';
import { nativeCache, Program } from '../support/program.ts';
import { LeasePair, niceness, type Scenario, scenarios, type TakeOver } from './lease-pair.ts';
import { requireEnded } from './observer.ts';
import type { Given, Part } from './part.ts';

/** Number of concurrent pairs, which mostly wait. */
const maxPairs = 12;
/** Maximum seconds from a fault until the object store has given the lease to the other server. */
const maxTakeOver = 45;

export const lease: Part = async ({ report, rounds }) => {
  let takeOvers = 0;
  for (let seed = 1; seed <= 2 * rounds; seed++) takeOvers += (await leaseRound(seed)) - 1;
  report(`lease: ${2 * rounds} simulated rounds`);
  return {
    'simulated rounds': 2 * rounds,
    'simulated take-overs': takeOvers,
    'simulated writes in overlapping terms': 0,
    ...(await withServers(2 * rounds, report)),
  };
};

/** Runs rounds with built servers. Throws a readable error when a check fails. */
async function withServers(rounds: number, report: Given['report']): Promise<object> {
  const store = await ObjectStore.start();
  const program = new Program(nativeCache);
  const pairs: LeasePair[] = [];
  const taken: TakeOver[] = [];
  const delay = monitorEventLoopDelay();
  delay.enable();
  setPriority(-niceness);
  try {
    const add = ['user', 'add', 'admin', '--staff', '--data', 'data'];
    requireEnded(await program.run(add), add);
    const token = (await program.run(['token', 'admin', '--data', 'data'])).stdout.trim();
    const names = Object.keys(scenarios) as Scenario[];
    let begun = 0;
    const run = async (number: number): Promise<void> => {
      const pair = new LeasePair({ store, key: String(number), data: `${program.folder}/data`, token });
      pairs.push(pair);
      try {
        await pair.open();
        while (begun < rounds) {
          const scenario = names[begun++ % names.length] as Scenario;
          const takeOver = await pair.round(scenario);
          if (takeOver) taken.push(takeOver);
          report(`lease: ${begun} rounds; ${scenario}: ${takeOver ? takeOver.written.toFixed(1) : 'kept'}`);
        }
      } finally {
        await pair.end();
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: Math.min(maxPairs, rounds) }, (_, i) => run(i)));
    const figures = {
      ...figuresOf(pairs, taken, begun),
      'maximum delay of the observer in ms': Math.round(delay.max / 1e6),
    };
    requireFigures(figures, pairs, taken, ended);
    return figures;
  } finally {
    delay.disable();
    await store.close();
    await program.end();
  }
}

const sum = (pairs: readonly LeasePair[], count: (pair: LeasePair) => number): number =>
  pairs.reduce((all, pair) => all + count(pair), 0);
const overlapsOf = (pairs: readonly LeasePair[]): LeasePair['overlaps'] => pairs.flatMap(({ overlaps }) => overlaps);

function figuresOf(pairs: readonly LeasePair[], taken: readonly TakeOver[], rounds: number): Record<string, number> {
  const waited = taken.filter(({ scenario }) => isTimed(scenario));
  const quantile = (key: 'acquired' | 'written', share: number): number => {
    const seconds = waited.map((one) => one[key]).sort((a, b) => a - b);
    return Math.round(10 * (seconds[Math.floor(share * (seconds.length - 1))] ?? 0)) / 10;
  };
  return {
    rounds,
    'take-overs': taken.length,
    'acknowledged writes': sum(pairs, ({ acknowledged }) => acknowledged.length),
    'rejected writes': sum(pairs, ({ rejected }) => rejected),
    'writes acknowledged outside of the term of their server': overlapsOf(pairs).length,
    'seconds to the acquisition, median': quantile('acquired', 0.5),
    'seconds to the acquisition, maximum': quantile('acquired', 1),
    'seconds to the first write, median': quantile('written', 0.5),
    'seconds to the first write, maximum': quantile('written', 1),
  };
}

/** Whether the holder neither released nor renewed the lease, which may happen when its requests are late. */
const isTimed = (scenario: Scenario): boolean => scenario !== 'released' && scenario !== 'late';

/** Throws a readable error when a check has failed. */
function requireFigures(
  figures: object,
  pairs: readonly LeasePair[],
  taken: readonly TakeOver[],
  ended: readonly PromiseSettledResult<void>[],
): void {
  const text = JSON.stringify(figures);
  const overlaps = overlapsOf(pairs);
  if (overlaps.length > 0)
    throw new Error(`Writes were acknowledged in overlapping terms: ${text} ${JSON.stringify(overlaps)}`);
  const [unexpected] = pairs.flatMap((pair) => pair.unexpected);
  if (unexpected !== undefined) throw new Error(`A write returned ${unexpected}: ${text}`);
  for (const one of ended)
    if (one.status === 'rejected') throw new Error(`A round failed: ${text}`, { cause: one.reason });
  if (taken.some(({ acquired, scenario }) => isTimed(scenario) && acquired > maxTakeOver))
    throw new Error(`A take-over took too long: ${text}`);
}
