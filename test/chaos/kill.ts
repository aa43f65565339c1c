/**
 * Kills the server repeatedly while clients write and a webhook receiver fails at random, and checks that nothing is
 * lost.
 *
 * After each start every acknowledged write exists. At the end each has its event, each hook received each event at least once
 * under one webhook-id, and the first attempts of a hook were in the order of the events. Prints the figures; ends with an
 * error and exit code 1 otherwise.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServer, type Server, type ServerOptions, settableClock } from 'tenantry';
import { sql } from '../../src/kernel/db/sql.ts';
import { type Behaviour, type Received, Receiver } from '../support/receiver.ts';

/** The results of the rounds. */
export interface Figures {
  readonly rounds: number;
  /** Acknowledged writes, and those without a response because of a kill. */
  readonly writes: number;
  readonly unanswered: number;
  readonly events: number;
  readonly deliveries: number;
  /** Requests that the receiver got. Duplicates are requests for events that it had already accepted. */
  readonly requests: number;
  readonly duplicates: number;
}

const project = fileURLToPath(new URL('../..', import.meta.url));
const hooks = 3;
const writers = 4;
/** Bounds of the random duration of a round, in milliseconds. */
const shortest = 50;
const longest = 800;
/** Share of requests that the receiver fails, and share of late responses. */
const failing = 0.15;
const slow = 0.1;
/** Share of writes followed by a search. */
const searching = 0.2;

/** Runs the rounds with the program that this command starts. Throws a readable error when data is lost. */
export async function chaos(
  rounds: number,
  program: readonly string[],
  report: (text: string) => void = () => undefined,
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-chaos-'));
  const receiver = await Receiver.start();
  const diary = new Diary();
  receiver.behaviour = (received) => diary.note(received, randomBehaviour());
  const written: string[] = [];
  let unanswered = 0;
  let token = '';
  try {
    for (let round = 1; round <= rounds; round++) {
      const server = await startServer(program, folder);
      if (round === 1) {
        token = await login(server.url, folder);
        await createHooks(server.url, token, receiver.url);
      }
      await requirePresent(server.url, token, written.slice(-writers * 20));
      unanswered += await writeUntilKilled(server, token, written);
      report(`round ${round}: ${written.length} writes acknowledged, ${diary.requests} requests received`);
    }
    receiver.behaviour = (received) => diary.note(received, 200);
    const { deliveries, events } = await examine(folder, diary, written);
    return {
      rounds,
      writes: written.length,
      unanswered,
      events,
      deliveries,
      requests: diary.requests,
      duplicates: diary.duplicates,
    };
  } finally {
    await receiver.close();
    rmSync(folder, { recursive: true });
  }
}

/** The faults of a receiver. */
export async function randomBehaviour(): Promise<Behaviour> {
  if (Math.random() < slow) await pause(50 * Math.random());
  return Math.random() >= failing ? 200 : Math.random() < 0.5 ? 500 : 'reset';
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Requests that the receiver got. */
export class Diary {
  /** By hook, the webhook-ids in the order of first arrival. */
  readonly first = new Map<string, string[]>();
  readonly accepted = new Set<string>();
  requests = 0;
  duplicates = 0;
  readonly #seen = new Set<string>();

  async note({ headers, path }: Received, reply: Behaviour | Promise<Behaviour>): Promise<Behaviour> {
    const id = headers['webhook-id'] as string;
    this.requests++;
    if (!this.#seen.has(id)) {
      this.#seen.add(id);
      const ids = this.first.get(path);
      if (ids) ids.push(id);
      else this.first.set(path, [id]);
    }
    if (this.accepted.has(id)) this.duplicates++;
    const behaviour = await reply;
    if (behaviour === 200) this.accepted.add(id);
    return behaviour;
  }
}

interface Running {
  readonly url: string;
  readonly process: ChildProcess;
}

const network = '127.0.0.0/8';

/** Starts a server on a folder, with additional arguments and variables. */
export async function startServer(
  program: readonly string[],
  folder: string,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const silent = ['--port', '0', '--data', folder, '--log-level', 'silent'];
  const options = [...silent, '--hooks-allowed-networks', network, ...words];
  const child = spawn(process.execPath, [...program, 'serve', ...options], {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout }))
    return { url: (JSON.parse(line) as { url: string }).url, process: child };
  throw new Error(`The server does not start: exit code ${child.exitCode}`);
}

export async function ask(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Token ${token}` }) };
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

export async function login(url: string, folder: string): Promise<string> {
  const password = readFileSync(join(folder, 'initial-password'), 'utf8').trim();
  const { body } = await ask(url, '', 'POST', '/api-auth/password/', { username: 'admin', password });
  return (body as { token: string }).token;
}

export async function createHooks(url: string, token: string, receiver: string): Promise<void> {
  for (let i = 0; i < hooks; i++) {
    const { status } = await ask(url, token, 'POST', '/api/hooks-web/', {
      destination_url: `${receiver}/${i}`,
      event_types: ['customer_creation_succeeded'],
    });
    if (status !== 201) throw new Error(`Creating a hook returned ${status}`);
  }
}

/** Throws unless all of these customers exist and a search finds the words of all events. */
export async function requirePresent(url: string, token: string, customers: readonly string[]): Promise<void> {
  for (const uuid of customers) {
    const { status } = await ask(url, token, 'GET', `/api/customers/${uuid}/`);
    if (status !== 200)
      throw new Error(`The customer ${uuid}, which was acknowledged, returns ${status} after a restart`);
  }
  const count = async (search: string): Promise<number> =>
    (
      (await ask(url, token, 'GET', `/api/events/count/?event_type=customer_creation_succeeded&search=${search}`))
        .body as { count: number }
    ).count;
  const [recorded, matches] = [await count(''), await count(words)];
  if (recorded < customers.length || recorded !== matches)
    throw new Error(`Of ${recorded} events a search finds ${matches} after a restart`);
}

/** Returns the message of the event of each customer. */
const words = 'customer+customer+has+been+created';

/** Creates customers until the server is killed at the end of `meanwhile`. Returns the number of writes without a response. */
export const writeUntilKilled = (
  server: Running,
  token: string,
  written: string[],
  meanwhile?: () => Promise<void>,
): Promise<number> =>
  repeatUntilKilled(
    server,
    async (url) => {
      const { body, status } = await ask(url, token, 'POST', '/api/customers/', { name: 'Customer' });
      if (status !== 201) throw new Error(`A write returned ${status}: ${JSON.stringify(body)}`);
      written.push((body as { uuid: string }).uuid);
      // A search indexes words, so that a kill may interrupt the indexing, too.
      if (Math.random() < searching) await ask(url, token, 'GET', `/api/events/count/?search=${words}`);
    },
    meanwhile,
  );

/**
 * Several clients repeat `work` until the server is killed, at the end of `meanwhile` or at a random moment. Returns the number
 * of interrupted clients.
 */
export async function repeatUntilKilled(
  { process: server, url }: Running,
  work: (url: string) => Promise<void>,
  meanwhile = () => pause(shortest + (longest - shortest) * Math.random()),
): Promise<number> {
  let isKilled = false;
  const repeat = async (): Promise<void> => {
    while (!isKilled) await work(url);
  };
  const clients = Array.from({ length: writers }, () =>
    repeat().then(
      () => 0,
      (error: Error) => {
        if (!isKilled) throw error;
        return 1;
      },
    ),
  );
  await meanwhile();
  isKilled = true;
  server.kill('SIGKILL');
  if (server.signalCode === null) await once(server, 'exit');
  return (await Promise.all(clients)).reduce((sum, lost) => sum + lost, 0);
}

/** Delivers everything on a clock that runs ahead, then compares recorded events with received ones. */
export const examine = (
  folder: string,
  diary: Diary,
  written: readonly string[],
): Promise<{ events: number; deliveries: number }> =>
  withServerAhead(folder, { hooks_allowed_networks: [network] }, (server) => compare(server, diary, written));

/** Serves a folder on a clock that runs 36 hours ahead until all pending work is done; returns the result of `check`. */
export async function withServerAhead<T>(
  folder: string,
  settings: ServerOptions,
  check: (server: Server) => T,
): Promise<T> {
  const clock = settableClock();
  const server = await createServer({ data: folder, port: 0, log_level: 'silent', clock, ...settings });
  try {
    for (let hour = 0; hour < 36; hour++) {
      clock.advance(3600);
      server.tick();
      await server.settled();
    }
    return check(server);
  } finally {
    await server.close();
  }
}

function compare(
  { app: { db } }: Server,
  diary: Diary,
  written: readonly string[],
): { events: number; deliveries: number } {
  const customers = new Set(db.values<string>(sql`SELECT uuid FROM customer`));
  const log = db.values<string>(
    sql`SELECT context ->> 'customer_uuid' FROM event WHERE type = 'customer_creation_succeeded'`,
  );
  const logged = new Set(log);
  if (log.length !== logged.size) throw new Error(`${logged.size} customers were created by ${log.length} events`);
  for (const uuid of written) {
    if (!customers.has(uuid)) throw new Error(`The customer ${uuid}, which was acknowledged, is lost`);
    if (!logged.has(uuid)) throw new Error(`The customer ${uuid} has no event`);
  }
  if (customers.size !== logged.size) throw new Error(`${customers.size} customers have ${logged.size} events`);
  for (const [index, hook] of db.values<number>(sql`SELECT id FROM hook ORDER BY id`).entries()) {
    const queued = db.all<{ uuid: string; status: string }>(
      sql`SELECT uuid, status FROM delivery WHERE hook_id = ${hook} ORDER BY id`,
    );
    if (queued.length !== logged.size)
      throw new Error(`${logged.size} events have ${queued.length} deliveries to the hook ${index}`);
    const missing = queued.find(({ status, uuid }) => status !== 'delivered' || !diary.accepted.has(uuid));
    if (missing)
      throw new Error(
        `The delivery ${missing.uuid} is ${missing.status}, and was ${diary.accepted.has(missing.uuid) ? '' : 'not '}accepted`,
      );
    const came = diary.first.get(`/${index}`) ?? [];
    const astray = queued.findIndex(({ uuid }, i) => uuid !== came[i]);
    if (astray >= 0 || came.length !== queued.length)
      throw new Error(`The first attempts of the hook ${index} are out of order at ${astray}`);
  }
  return { events: logged.size, deliveries: logged.size * hooks };
}
