/**
 * The event log at full size: pages, counts and searches while events are recorded, and the cost of recording and removing
 * an event.
 *
 *   npm run bench -- --only events      the first run creates the log: a minute or two and about 1.5 GB
 *
 * Prints a Markdown table. An event is recorded before each request, so that no count comes from the cache.
 */

import { closeSync, constants, copyFileSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type Server } from 'tenantry';
import { customerContext } from '../../src/activity/events/context.ts';
import { record } from '../../src/activity/events/record.ts';
import { housekeeping } from '../../src/app/compose/housekeeping.ts';
import { systemContext } from '../../src/kernel/access/context.ts';
import type { App } from '../../src/kernel/app.ts';
import { day } from '../../src/kernel/clock.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import type { Task } from '../../src/kernel/jobs/timer.ts';
import { ask } from './ask.ts';
import { deepPage, events, logFile, rareWord, seedLog, size } from './events-seed.ts';
import { type Person, tokenOf } from './seed.ts';

/** A figure with its maximum. */
interface Figure {
  readonly what: string;
  readonly value: number;
  /** The median, if `value` is the maximum. */
  readonly median?: number;
  readonly unit: string;
  readonly atMost: number;
}

interface Question {
  readonly what: string;
  readonly target: string;
  readonly atMost: number;
}

const questionsAbout = (count: number): readonly Question[] => [
  { what: 'First page', target: '/api/events/', atMost: 25 },
  { what: 'Count', target: '/api/events/count/', atMost: 50 },
  { what: 'Search for a rare word', target: `/api/events/?search=${rareWord}`, atMost: 50 },
  { what: `Page ${deepPage(count).toLocaleString('en')}`, target: `/api/events/?page=${deepPage(count)}`, atMost: 150 },
];

/** Measures everything on a copy of the log in `folder`. */
export async function run(folder: string, report: (text: string) => void, count = events): Promise<string> {
  const log = logFile(folder, count);
  report(`The log of ${count.toLocaleString('en')} events of ${size.name} customers …`);
  await seedLog(log, count);
  const data = join(folder, 'events');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  copyToDisk(log, join(data, 'tenantry.db'));
  const server = await createServer({ data, port: 0, log_level: 'silent', event_streams_per_user: streams });
  try {
    const figures = [];
    for (const person of ['staff', 'owner'] as const) {
      for (const question of questionsAbout(count))
        figures.push(await requests(server.url, server.app, question, person));
    }
    report('Recording …');
    figures.push(...(await recording(server.app)));
    figures.push(...(await indexing(server.app)));
    report('Streaming …');
    figures.push(...(await streaming(server)));
    report('Removing …');
    figures.push(...(await removing(server.app)));
    return table(figures);
  } finally {
    await server.close();
    rmSync(data, { recursive: true });
  }
}

/** Copies a file and waits until both are on disk: otherwise the measured commits would wait for them. */
function copyToDisk(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  for (const path of [from, to]) {
    const file = openSync(path, 'r+');
    fsyncSync(file);
    closeSync(file);
  }
}

/** The 99th percentile of the response times of a question. */
async function requests(url: string, app: App, { atMost, target, what }: Question, person: Person): Promise<Figure> {
  const rounds = 200;
  const milliseconds: number[] = [];
  for (let i = 0; i < rounds; i++) {
    happen(app, 1);
    app.db.commit();
    const started = performance.now();
    const { status } = await ask(url, { method: 'GET', target, token: tokenOf(person) });
    milliseconds.push(performance.now() - started);
    if (status !== 200) throw new Error(`${target} returned ${status}`);
  }
  return {
    what: `${what} as ${person}, p99`,
    value: quantile(milliseconds, 0.99),
    median: quantile(milliseconds, 0.5),
    unit: 'ms',
    atMost,
  };
}

/** Updates customers, and records events if requested. */
function happen(app: App, times: number, isReported = true): void {
  const { db } = app;
  for (let i = 0; i < times; i++) {
    happened += 7919;
    const id = 1 + (happened % size.customers);
    const customer = db.get<{ uuid: string; name: string; abbreviation: string; contact_details: string }>(
      sql`SELECT * FROM customer WHERE id = ${id}`,
    );
    db.write(() => {
      db.update('customer', id, { phone_number: String(happened) });
      if (customer && isReported) record(systemContext(app), 'customer_update_succeeded', customerContext(customer));
    });
  }
}
let happened = 0;

/** The cost of recording an event in a write, alone and in a commit shared by 16 writes. */
async function recording(app: App): Promise<Figure[]> {
  const together = 16;
  const rounds = 400;
  const spent = async (isReported: boolean): Promise<{ work: number; commit: number }> => {
    const started = performance.now();
    happen(app, together, isReported);
    const worked = performance.now();
    app.db.commit();
    const committed = performance.now();
    // Yields a turn of the event loop, as between requests, so that listeners of the log run.
    await sleep(0);
    return { work: worked - started, commit: committed - worked };
  };
  const pairs: { subscribed: Awaited<ReturnType<typeof spent>>; untold: Awaited<ReturnType<typeof spent>> }[] = [];
  for (let i = 0; i < rounds; i++) pairs.push({ subscribed: await spent(true), untold: await spent(false) });
  const microseconds = (of: 'work' | 'commit'): number =>
    (1000 / together) *
    (quantile(
      pairs.map(({ subscribed }) => subscribed[of]),
      0.5,
    ) -
      quantile(
        pairs.map(({ untold }) => untold[of]),
        0.5,
      ));
  return [
    { what: 'Recording an event, of the write', value: microseconds('work'), unit: 'µs', atMost: 40 },
    {
      what: `Recording an event, of the commit that ${together} writes share`,
      value: microseconds('commit'),
      unit: 'µs',
      atMost: 40,
    },
  ];
}

/** The number of open event streams in the measurement of their cost. */
const streams = 100;

/** The cost of a write with events, without streams and with many streams that receive them. */
async function streaming({ app, url }: Server): Promise<Figure[]> {
  const token = tokenOf('staff');
  const rounds = 300;
  const writes = async (): Promise<number> => {
    const milliseconds: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const started = performance.now();
      const body = JSON.stringify({ level: 'info', message: `Streamed ${i}` });
      const { status } = await ask(url, { method: 'POST', target: '/api/events/', token, body });
      milliseconds.push(performance.now() - started);
      if (status >= 300) throw new Error(`an event returned ${status}`);
    }
    return quantile(milliseconds, 0.5);
  };
  const without = await writes();
  const leaving = new AbortController();
  const headers = { Authorization: `Token ${token}` };
  const ends = [];
  for (let i = 0; i < streams; i++) {
    const { body } = await fetch(`${url}/api/events/stream/`, { headers, signal: leaving.signal });
    ends.push(body?.pipeTo(new WritableStream()).catch(() => undefined));
  }
  if (app.eventStreams.size !== streams) throw new Error(`${app.eventStreams.size} streams are open`);
  const beside = await writes();
  leaving.abort();
  await Promise.all(ends);
  return [
    { what: 'Recording an event by the API, no stream open', value: without, unit: 'ms', atMost: 5 },
    { what: `The same with ${streams} streams that receive it`, value: beside, unit: 'ms', atMost: 15 },
  ];
}

/** Milliseconds of each run of a task, with the usual pauses of its timer between them. */
class Measured {
  readonly taken: number[] = [];
  readonly #task: Task;

  constructor(
    private readonly app: App,
    name: string,
  ) {
    this.#task = housekeeping(app.catalogue).find((task) => task.name === name) as Task;
  }

  /** Returns whether more work is left. */
  async run(): Promise<boolean> {
    const context = systemContext(this.app);
    const started = performance.now();
    const isMore = this.#task.run(context) === true;
    this.app.db.commit();
    this.taken.push(performance.now() - started);
    await sleep(10);
    await this.app.db.checkpointed();
    return isMore;
  }

  figure(what: string, part = 1): Figure {
    return { what, value: quantile(this.taken, part), median: quantile(this.taken, 0.5), unit: 'ms', atMost: 20 };
  }
}

/** The cost of indexing words of events later, and the longest step, which blocks the writer. */
async function indexing(app: App): Promise<Figure[]> {
  // Synchronously, so that the timer indexes nothing meanwhile.
  happen(app, 6400);
  app.db.commit();
  const events = app.db.value<number>(
    sql`SELECT (SELECT max(id) FROM event) - (SELECT max(rowid) FROM event_words)`,
  ) as number;
  const steps = new Measured(app, 'index events');
  while (await steps.run());
  const sum = steps.taken.reduce((total, time) => total + time, 0);
  return [
    { what: 'Indexing the words of an event, with the commit', value: (1000 * sum) / events, unit: 'µs', atMost: 40 },
    steps.figure('A step of entering words, the longest'),
  ];
}

/** The longest step of the removal of old events, which blocks the writer. */
async function removing(app: App): Promise<Figure[]> {
  const steps = new Measured({ ...app, config: { ...app.config, events_retention: day } }, 'remove old events');
  const oldest = (): number | undefined => app.db.value<number>(sql`SELECT min(id) FROM event`);
  const before = oldest();
  // A small log needs fewer steps.
  for (let i = 0; i < 2000 && (await steps.run()); i++);
  if (oldest() === before) throw new Error('There was nothing to remove');
  const what = 'A step of the removal of old events';
  return [steps.figure(`${what}, p99.9`, 0.999), steps.figure(`${what}, the longest`)];
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number;
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ atMost, median, unit, value, what }) =>
      `| ${what} | ${median === undefined ? '' : `${median.toFixed(1)} ${unit}`} | ${value.toFixed(1)} ${unit} | ≤ ${atMost} ${unit} ${value <= atMost ? '✓' : '✗ missed'} |`,
  );
  return ['| Figure | Median | Measured | Target |', '| :-- | --: | --: | :-- |', ...rows].join('\n');
}
