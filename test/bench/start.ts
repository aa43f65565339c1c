/** Measures starts of the built program: until it is ready, and until the first response, with memory and size. */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from './databases.ts';
import { dataFolder, measureNode, measureReady, measureStart } from './processes.ts';
import { footprintTable, median } from './report.ts';
import { small, tokenOf } from './seed.ts';

/** Enough for a median: single starts differ by a third. */
const startsMeasured = 25;

/** The figures of a bundle as a table. */
export async function run(folder: string, bundle: string, report: (text: string) => void): Promise<string> {
  const data = dataFolder(join(folder, 'start'), await seeded(folder, small, report));
  const empty = join(folder, 'start-new');
  const newFolder = (): string => {
    rmSync(empty, { recursive: true, force: true });
    mkdirSync(empty);
    return empty;
  };
  const kinds: Readonly<Record<string, () => readonly string[]>> = {
    'in memory': () => ['--ephemeral'],
    'with sample data in memory': () => ['--ephemeral', '--demo'],
    'in a new folder': () => ['--data', newFolder()],
    'in a folder with data': () => ['--data', data],
  };
  // The first start unpacks the native modules, and stores its code a second later.
  await measureStart(bundle, data, tokenOf('staff'));
  const starts: Awaited<ReturnType<typeof measureStart>>[] = [];
  const nodes: number[] = [];
  const ready = Object.keys(kinds).map((): number[] => []);
  const processor = Object.keys(kinds).map((): number[] => []);
  for (let i = 0; i < startsMeasured; i++) {
    nodes.push(await measureNode());
    starts.push(await measureStart(bundle, data, tokenOf('staff')));
    for (const [kind, words] of Object.values(kinds).entries()) {
      const { milliseconds, processorMilliseconds } = await measureReady(bundle, words());
      ready[kind]?.push(milliseconds);
      if (processorMilliseconds !== undefined) processor[kind]?.push(processorMilliseconds);
    }
  }
  for (const each of [data, empty]) rmSync(each, { recursive: true });
  const memory = starts.map(({ megabytes }) => megabytes).filter((megabytes) => megabytes !== undefined);
  const beyond = starts.map(({ milliseconds }, i) => milliseconds - (nodes[i] as number));
  const medianOf = (values: readonly number[] = []): number | undefined =>
    values.length > 0 ? median(values) : undefined;
  return footprintTable([
    { what: `Node.js alone, median of ${startsMeasured}`, value: median(nodes), unit: 'ms' },
    { what: 'Start to the first 200, beyond that', value: median(beyond), unit: 'ms', atMost: 90 },
    ...Object.keys(kinds).flatMap((kind, i) => [
      {
        what: `Start until it is ready, ${kind}`,
        value: medianOf(ready[i]),
        unit: 'ms',
        ...(kind.startsWith('with sample data') && { atMost: 300 }),
      },
      { what: `The same in CPU time`, value: medianOf(processor[i]), unit: 'ms' },
    ]),
    { what: 'Resident memory when idle', value: medianOf(memory), unit: 'MB', atMost: 110 },
    { what: 'Size of dist/tenantry.mjs', value: statSync(bundle).size / 1e6, unit: 'MB', atMost: 4.6 },
  ]);
}
