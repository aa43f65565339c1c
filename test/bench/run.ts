/**
 * The benchmark: Tenantry as built, the peer (the straightforward implementation) and bare node:http sending the same bytes.
 *
 *   npm run bench                    everything, about ten minutes; the large database and the long log are created once
 *   npm run bench -- --quick         the small database alone, short bursts, no log
 *   npm run bench -- --only create   one case, `cases` for all of them, or `start` for start-up time, memory and size, `fixture` for servers in memory, `hooks`, `notifications`, `backups`, `events`, `resources`, `sync`, `console`,
 *                                    or `decisions`: the gain of each page of src/decisions
 *   npm run bench -- --only growth   growth with the data: 100, 10,000 and 1,000,000 customers; the largest takes about ten
 *                                    gigabytes, twice, and half an hour on the first run
 *   npm run bench -- --only hold     for how long the event loop is blocked with much data; copies of ten and eight gigabytes, an
 *                                    hour on the first run; `--size` makes the log of events smaller
 *   … growth|hold --copies DIR       the folder of the copies: in memory, as /dev/shm, where a machine soon evicts file contents
 *   npm run bench -- --only keys     GET with an API key beside GET with a session
 *   npm run bench -- --against FILE  this version beside another one, whose dist/tenantry.mjs is FILE: changes, creations and
 *                                    reads, or `--only` one of them
 *   npm run bench -- --only events --size 10000000       a larger log than two million events
 *   npm run bench -- --only resources --size 200000      more resources than 100,000
 *   npm run bench -- --only decisions:log   … those of test/bench/decisions/log.ts
 *
 * Prints Markdown tables on stdout and progress on stderr. Servers alternate within a round, so that ratios hold on a busy
 * machine.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { compare, compareKeys, kinds } from './against.ts';
import { run as measureBackups } from './backups.ts';
import { agreed, type Case, cases, type Sample } from './cases.ts';
import { run as measureConsole } from './console.ts';
import { readSample, seeded } from './databases.ts';
import { run as measureDecisions, measures } from './decisions.ts';
import { run as measureEvents } from './events.ts';
import { run as measureFixture } from './fixture.ts';
import { run as measureGrowth } from './growth.ts';
import { run as measureHold } from './hold.ts';
import { run as measureHooks } from './hooks.ts';
import { run as measureNotifications } from './notifications.ts';
import {
  type Bare,
  dataFolder,
  type Load,
  processorSeconds,
  type Running,
  startBare,
  startLoad,
  startPeer,
  startTenantry,
} from './processes.ts';
import { type Result, type Round, shortTable, table } from './report.ts';
import { run as measureResources } from './resources.ts';
import { large, type Size, small } from './seed.ts';
import { run as measureStarts } from './start.ts';
import { run as measureSync } from './sync.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const bundle = join(project, 'dist/tenantry.mjs');
const folder = join(project, 'dist/bench');
const connections = 64;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    size: { type: 'string' },
    against: { type: 'string' },
    copies: { type: 'string', default: folder },
  },
});
const decisions = Object.keys(measures);
const names = [
  ...cases.map(({ name }) => name),
  ...[
    'cases',
    'start',
    'fixture',
    'hooks',
    'notifications',
    'backups',
    'events',
    'resources',
    'sync',
    'console',
    'growth',
    'hold',
    'keys',
    'decisions',
  ],
  ...decisions.map((name) => `decisions:${name}`),
];
const pace = options.quick
  ? { rounds: 3, milliseconds: 500, warmup: 500 }
  : { rounds: 5, milliseconds: 1000, warmup: 1500 };
const sizes = options.quick ? [small] : [small, large];

const report = (text: string): void => void process.stderr.write(`${text}\n`);

/** A database with the three servers that serve it. */
interface Arena {
  readonly size: Size;
  readonly sample: Sample;
  readonly tenantry: Running;
  readonly peer: Running;
  readonly bare: Bare;
}

/** The programs that run beside Tenantry, compiled in advance, so that loading them is not measured. */
async function compile(): Promise<(name: string) => string> {
  await build({
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    entryPoints: { peer: 'peer/server.ts', bare: 'bare.ts', load: 'load.ts' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'warning',
  });
  return (name) => join(folder, `${name}.mjs`);
}

async function openArena(size: Size, program: (name: string) => string): Promise<Arena> {
  const database = await seeded(folder, size, report);
  const data = (server: string): string => dataFolder(join(folder, `${server}-${size.customers}`), database);
  const [tenantry, peer, bare] = await Promise.all([
    startTenantry(bundle, data('tenantry')),
    startPeer(program('peer'), data('peer')),
    startBare(program('bare')),
  ]);
  return { size, sample: readSample(database), tenantry, peer, bare };
}

/** One case on every database: first the responses are compared, then the servers alternate. */
async function measure(of: Case, arenas: readonly Arena[], load: Load): Promise<Result[]> {
  const runs = arenas.flatMap((arena) =>
    (['tenantry', 'peer', 'bare'] as const).map((server) => ({ arena, server, rounds: [] as Round[], sent: 0 })),
  );
  for (const { bare, peer, tenantry, sample } of arenas)
    await bare.teach(await agreed(of, sample, [tenantry.url, peer.url]));
  for (let round = 0; round <= pace.rounds; round++) {
    for (const run of runs) {
      const { arena, server, rounds } = run;
      const milliseconds = round === 0 ? pace.warmup : pace.milliseconds;
      const pid = arena[server].process.pid as number;
      const before = processorSeconds(pid);
      const measured = await load.run({
        url: arena[server].url,
        requests: of.requests(arena.sample),
        ...(of.isOnce && { from: run.sent }),
        connections,
        milliseconds,
      });
      run.sent += measured.sent;
      const used = before === undefined ? undefined : (processorSeconds(pid) as number) - before;
      if (round > 0) rounds.push({ ...measured, processor: used && (used / measured.sent) * 1e6 });
    }
  }
  if (runs.length === 0) return [];
  const busiest = Math.max(...runs.flatMap(({ rounds }) => rounds.map((measured) => measured.load)));
  report(`${of.title}: measured; the load generator used up to ${Math.round(busiest * 100)} % of a core`);
  return arenas.map((arena) => {
    const of3 = (name: 'tenantry' | 'peer' | 'bare'): Round[] =>
      runs.find((run) => run.arena === arena && run.server === name)?.rounds as Round[];
    return { of, size: arena.size, tenantry: of3('tenantry'), peer: of3('peer'), bare: of3('bare') };
  });
}

async function measureCases(chosen: readonly Case[]): Promise<Result[]> {
  const program = await compile();
  const arenas: Arena[] = [];
  const load = startLoad(program('load'));
  try {
    for (const size of sizes) arenas.push(await openArena(size, program));
    const results: Result[] = [];
    for (const of of chosen)
      results.push(...(await measure(of, of.isOnce ? arenas.filter(({ size }) => size !== small) : arenas, load)));
    return results;
  } finally {
    await Promise.all([
      load.stop(),
      ...arenas.flatMap(({ bare, peer, tenantry }) => [tenantry.stop(), peer.stop(), bare.stop()]),
    ]);
    for (const { size } of arenas)
      for (const server of ['tenantry', 'peer'])
        rmSync(join(folder, `${server}-${size.customers}`), { recursive: true });
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n\n`);
if (options.against !== undefined) {
  const kind = kinds.find((name) => name === options.only);
  if (options.only !== undefined && kind === undefined) {
    report(`--against compares ${kinds.join(', ')}, but not "${options.only}".`);
    process.exit(2);
  }
  mkdirSync(folder, { recursive: true });
  print(await compare(folder, bundle, options.against, kind));
  process.exit();
}
if (options.only !== undefined && !names.includes(options.only)) {
  report(`Unknown case "${options.only}"; known: ${names.join(', ')}.`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const isAsked = (name: string): boolean => options.only === undefined || options.only === name;
const chosen = cases.filter(({ name }) => isAsked(name) || options.only === 'cases');
print(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${connections} connections, ${pace.rounds} rounds of ${pace.milliseconds} ms.`,
);
if (isAsked('start')) print(await measureStarts(folder, bundle, report));
if (isAsked('fixture')) print(measureFixture(bundle));
if (chosen.length > 0) {
  const results = await measureCases(chosen);
  print(table(results));
  print(`For the manual:\n\n${shortTable(results)}`);
}
if (isAsked('keys')) print(await compareKeys(folder, bundle));
if (isAsked('hooks')) print(await measureHooks(folder, bundle, report));
if (isAsked('notifications')) print(await measureNotifications(folder, bundle, report));
if (isAsked('backups') && !options.quick) print(await measureBackups(folder, bundle, report));
const count = options.size === undefined ? undefined : Number(options.size);
if (isAsked('events') && !options.quick) print(await measureEvents(folder, report, count));
if (isAsked('resources') && !options.quick) print(await measureResources(folder, report, count));
if (isAsked('sync') && (!options.quick || options.only === 'sync')) print(await measureSync(folder, bundle, report));
if (isAsked('console') && (!options.quick || options.only === 'console')) print(await measureConsole(folder, bundle));
// Takes too long and too much space for a complete run.
if (options.only === 'growth') print(await measureGrowth(folder, options.copies, bundle, await compile(), report));
if (options.only === 'hold') print(await measureHold(folder, options.copies, bundle, report, count));
const compared = decisions.filter((name) => isAsked('decisions') || isAsked(`decisions:${name}`));
if (compared.length > 0 && !options.quick) print(await measureDecisions(folder, compared, report));
