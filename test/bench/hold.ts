/**
 * How long the event loop is blocked with much data: a million customers, a log of ten million events, 200,000 resources. The
 * server is the built program. Each round starts with a write, so that no count comes from the cache.
 *
 *   npm run bench -- --only hold                      all three; copies of 10 and 8 GB, half an hour on the first run
 *   npm run bench -- --only hold --size 2000000       a smaller log
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createServer } from 'tenantry';
import { targetsOf } from '../support/targets.ts';
import { ask } from './ask.ts';
import { seeded } from './databases.ts';
import { deepPage, logFile, rareWord, seedLog } from './events-seed.ts';
import { dataFolder } from './processes.ts';
import { checked, median, row } from './report.ts';
import { fill, size as placesOfResources } from './resources.ts';
import { huge, type Person, seed, seedDigest, tokenOf } from './seed.ts';

/** Maximum time in milliseconds for which the event loop may be blocked. */
const target = 20;
const rounds = 5;
/** Number of servers on which slow lists are measured again. */
const others = 3;
/** Milliseconds without requests, to measure the machine alone. */
const rest = 10_000;
const usualLog = 10_000_000;
const resources = 200_000;

interface Figure {
  readonly what: string;
  /** Milliseconds until the response. */
  readonly durations: readonly number[];
  /** Milliseconds for which the event loop was blocked. */
  readonly held: readonly number[];
  /** The same for requests above the target, measured again on other servers: the median, or the maximum of several requests. */
  readonly again?: number | undefined;
  /** Whether it measures the machine without requests. It has no target. */
  readonly isControl?: boolean;
}

/** Requests by description, sent as these users. */
interface Questions {
  readonly people: readonly Person[];
  readonly requests: readonly (readonly [what: string, target: string])[];
}

const ofCustomers: Questions = {
  people: ['staff', 'owner'],
  requests: [
    ['Customers, first page', '/api/customers/'],
    ['Customers, page of 300', '/api/customers/?page_size=300'],
    ['Customers, page 5,000', '/api/customers/?page=5000'],
    ['Customers, last page', '/api/customers/?page=last'],
    ['Customers by a part of the name', '/api/customers/?name=Rail%2000#'],
    ['Customers in the order of their names', '/api/customers/?o=name'],
    ['Projects, first page', '/api/projects/'],
    ['Projects by a part of the name', '/api/projects/?name=house%20100#'],
    ['Users, first page', '/api/users/'],
    ['Users by a part of the name', '/api/users/?full_name=Tam'],
  ],
};
const ofEvents = (count: number): Questions => ({
  people: ['staff', 'owner'],
  requests: [
    ['Events, first page', '/api/events/'],
    ['Events, page of 300', '/api/events/?page_size=300'],
    [`Events, page ${deepPage(count).toLocaleString('en')}`, `/api/events/?page=${deepPage(count)}`],
    ['Events, last page', '/api/events/?page=last'],
    ['Events, search for a rare word', `/api/events/?search=${rareWord}`],
    ['Events, search for a frequent word', '/api/events/?search=customer'],
    ['Events of one type', '/api/events/?event_type=role_granted'],
    ['Events of a type, counted', '/api/events/count/?event_type=role_granted'],
    [
      'Events of any user, counted at 100 points',
      '/api/events/count/history/?start=1577836800&end=1587836800&points_count=100',
    ],
    [
      'Events of a search, counted at 100 points',
      '/api/events/count/history/?start=1577836800&end=1587836800&points_count=100&search=customer',
    ],
  ],
});
const ofResources: Questions = {
  people: ['staff', 'owner'],
  requests: [
    ['Resources, first page', '/api/resources/'],
    ['Resources, page of 300', '/api/resources/?page_size=300'],
    ['Resources, page 5,000', '/api/resources/?page=5000'],
    ['Resources by tag', '/api/resources/?tag=team:7'],
    ['Resources by a part of the name', '/api/resources/?name=source-1#'],
    ['Resources in the order of their SLA', '/api/resources/?o=-actual_sla'],
    ['Resources, counted', '/api/resources/count/'],
  ],
};

/** Measures every database inside `folder`, each with a copy inside `copies`; `events` is the length of the log. */
export async function run(
  folder: string,
  copies: string,
  bundle: string,
  report: (text: string) => void,
  events = usualLog,
): Promise<string> {
  const figures: Figure[] = [];
  const measure = async (database: string, questions: Questions): Promise<void> => {
    const data = dataFolder(join(copies, 'hold'), database);
    // The keys for the secrets of a database, if it has any.
    if (existsSync(keyOf(database))) copyFileSync(keyOf(database), join(data, 'secret.key'));
    try {
      figures.push(...(await measured(data, bundle, questions, report)));
    } finally {
      rmSync(data, { recursive: true });
    }
  };
  report('A million customers …');
  await measure(await seeded(folder, huge, report), ofCustomers);
  report(`${events.toLocaleString('en')} events …`);
  const log = logFile(folder, events);
  await seedLog(log, events);
  await measure(log, ofEvents(events));
  report(`${resources.toLocaleString('en')} resources …`);
  await measure(await resourcesFile(folder), ofResources);
  return table(figures);
}

const keyOf = (database: string): string => `${database}.key`;

/** Returns the database with many resources. Creates it if it is missing. */
async function resourcesFile(folder: string): Promise<string> {
  const file = join(folder, `resources-${resources}-${seedDigest()}.db`);
  if (existsSync(file)) return file;
  const places = join(folder, `resources-${seedDigest()}.db`);
  await seed(places, placesOfResources);
  const data = dataFolder(`${file}.partial`, places);
  const server = await createServer({ data, port: 0, log_level: 'silent' });
  fill(server.app, resources);
  await server.close();
  renameSync(join(data, 'secret.key'), keyOf(file));
  renameSync(join(data, 'tenantry.db'), file);
  rmSync(data, { recursive: true });
  return file;
}

/** A request with its measurements. */
interface Measured {
  readonly path: string;
  readonly person: Person;
  readonly durations: number[];
  readonly held: number[];
}

/**
 * Measures requests to a server with this data: first none, then the questions in rounds, then each list once with each of its
 * parameters. Requests that blocked the event loop for too long run again on other servers, and their median counts: work of
 * the server repeats itself, work of other processes does not.
 */
export async function measured(
  data: string,
  bundle: string,
  { requests, people }: Questions,
  report: (text: string) => void,
): Promise<Figure[]> {
  const questions = requests.flatMap(([what, path]) =>
    people.map((person) => ({ what: `${what}, as ${person}`, ...newMeasurement({ path, person }) })),
  );
  const walked: Measured[] = [];
  let idle = 0;
  await serving(data, bundle, async (server) => {
    await heldBy(server);
    await new Promise((resolve) => setTimeout(resolve, rest));
    idle = await heldBy(server);
    await sendInRounds(server, questions);
    for (const person of people)
      for (const path of await targetsOf(server.url, tokenOf(person))) {
        const one = newMeasurement({ path, person });
        await sendOnce(server, one);
        walked.push(one);
        if (isHeld(one)) report(describeHold(one));
      }
  });
  const slowOnes = (all: readonly Measured[]): Measured[] => all.filter(isHeld).map(newMeasurement);
  const [questionsAgain, walkedAgain] = [slowOnes(questions), slowOnes(walked)];
  if (questionsAgain.length > 0) await serving(data, bundle, (server) => sendInRounds(server, questionsAgain));
  // Use a new server for each, because responses are cached.
  for (let i = 0; i < others && walkedAgain.length > 0; i++)
    await serving(data, bundle, async (server) => {
      for (const one of walkedAgain) await sendOnce(server, one);
    });
  for (const { held, path, person } of walkedAgain)
    report(`again: ${path} as ${person}: held ${held.map((each) => each.toFixed(1)).join(', ')} ms`);
  const worst = walked.reduce((a, b) => (worstOf(b) > worstOf(a) ? b : a));
  return [
    { what: `Nothing for ${rest / 1000} s`, durations: [], held: [idle], isControl: true },
    ...questions.map((question) => {
      const again = questionsAgain.find(({ path, person }) => path === question.path && person === question.person);
      return { ...question, again: again && median(again.held) };
    }),
    {
      what: `Every list, by each filter and order: ${walked.length} requests; the worst: ${worst.path} as ${worst.person}`,
      durations: walked.flatMap(({ durations }) => durations),
      held: walked.flatMap(({ held }) => held),
      again: walkedAgain.length === 0 ? undefined : Math.max(...walkedAgain.map(({ held }) => median(held))),
    },
  ];
}

const newMeasurement = ({ path, person }: Pick<Measured, 'path' | 'person'>): Measured => ({
  path,
  person,
  durations: [],
  held: [],
});

const worstOf = ({ held }: Pick<Figure, 'held'>): number => Math.max(...held);
const isHeld = (read: Measured): boolean => worstOf(read) > target;

const describeHold = ({ durations, held, path, person }: Measured): string =>
  `${path} as ${person}: held ${Math.max(...held).toFixed(1)} ms, response in ${Math.max(...durations).toFixed(0)} ms`;

/** Serves this data with the built program while `work` runs. */
async function serving(data: string, bundle: string, work: (server: Metered) => Promise<void>): Promise<void> {
  const process_ = fork(bundle, ['serve', '--port', '0', '--data', data, '--log-level', 'warn'], {
    execArgv: ['--require', fileURLToPath(new URL('hold-meter.cjs', import.meta.url))],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const [line] = (await once(process_.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString().split('\n')[0] ?? '') as { url: string };
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await work({ url, process: process_ });
  } finally {
    process_.kill('SIGTERM');
    if (process_.exitCode === null) await once(process_, 'exit');
  }
}

/** Sends each request once per round, with a write before each round. */
async function sendInRounds(server: Metered, questions: readonly Measured[]): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await write(server, round);
    for (const question of questions) await sendOnce(server, question, question.path.replace('#', String(round)));
  }
}

interface Metered {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Returns the milliseconds for which the event loop was blocked since the last call. */
async function heldBy({ process: child }: Metered): Promise<number> {
  child.send('held');
  const [{ heldAtMost }] = (await once(child, 'message')) as [{ heldAtMost: number }];
  return heldAtMost;
}

/** Sends one request, to another path if given, and stores its measurements. */
async function sendOnce(server: Metered, { durations, held, path, person }: Measured, target = path): Promise<void> {
  await heldBy(server);
  const started = performance.now();
  const { body, status } = await ask(server.url, { method: 'GET', target, token: tokenOf(person) });
  durations.push(performance.now() - started);
  if (status >= 500 && status !== 503) throw new Error(`${target} returned ${status}: ${body}`);
  held.push(await heldBy(server));
}

/** Creates a customer with its events, which invalidates cached counts. */
async function write(server: Metered, round: number): Promise<void> {
  const { body, status } = await ask(server.url, {
    method: 'POST',
    target: '/api/customers/',
    token: tokenOf('staff'),
    body: JSON.stringify({ name: `Held ${round}` }),
  });
  if (status !== 201) throw new Error(`creating a customer returned ${status}: ${body}`);
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ again, durations, held, isControl, what }) =>
    row([
      what,
      isControl ? '' : `${median(durations).toFixed(1)} / ${Math.max(...durations).toFixed(1)} ms`,
      `${worstOf({ held }).toFixed(1)} ms`,
      again === undefined ? '' : `${again.toFixed(1)} ms`,
      isControl ? '' : checked({ text: `≤ ${target} ms`, met: (again ?? worstOf({ held })) <= target }),
    ]),
  );
  const head = ['Request', 'Response time, median / worst', 'Loop blocked at most', 'Above target, repeated', 'Target'];
  return [row(head), row([':--', '--:', '--:', '--:', ':--']), ...rows].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , kind, data = '', bundle = ''] = process.argv;
  const questions = { customers: ofCustomers, events: ofEvents(usualLog), resources: ofResources }[String(kind)];
  if (!questions) throw new Error('customers, events or resources');
  console.log(table(await measured(data, bundle, questions, (text) => process.stderr.write(`${text}\n`))));
}
