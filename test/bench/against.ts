/**
 * This version beside another one, and API keys beside sessions.
 *
 *   npm run bench -- --against FILE                      changes, creations and reads; FILE is another dist/tenantry.mjs
 *   npm run bench -- --against FILE --only changes       … or only `creations`, or only `reads`
 *   npm run bench -- --only keys                         GET with an API key beside GET with a session
 *
 * Another version is built in a clone of its own: `git clone . ../before && cd ../before && git checkout COMMIT && npm run build`.
 * Prints a Markdown table. Each server fills its own database through the API, so the other version may be older than the
 * migrations. Two sides alternate in short rounds, which go first by turns; the ratios are those of neighbouring rounds.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compiled } from '../support/compiled.ts';
import { ask, type BenchRequest, numberMark } from './ask.ts';
import { creation, fresh } from './cases.ts';
import { type Load, processorSeconds, type Running, startLoad, startTenantry } from './processes.ts';
import { checked, median, row } from './report.ts';

export const kinds = ['changes', 'creations', 'reads'] as const;
type Kind = (typeof kinds)[number];

const connections = 16;
const rounds = 40;
const milliseconds = 150;
const warmupMilliseconds = 5000;
const customerCount = 20;
const projectsEach = 3;

/** A server with its test objects. */
interface Filled {
  readonly server: Running;
  readonly token: string;
  readonly customers: readonly string[];
  readonly projects: readonly string[];
}

/** A measured kind of request. */
interface Case {
  readonly kind: Kind;
  readonly title: string;
  readonly requests: (filled: Filled) => readonly BenchRequest[];
}

/** The compared sides, with the results of each round. */
interface Side {
  readonly server: Running;
  readonly requests: readonly BenchRequest[];
  readonly perSecond: number[];
  /** Microseconds of CPU time per request. */
  readonly processor: number[];
}

const post = (target: string, token: string, body: object): BenchRequest => ({
  method: 'POST',
  target,
  token,
  body: JSON.stringify(body),
});
const gets = (targets: readonly string[], token: string): BenchRequest[] =>
  targets.map((target) => ({ method: 'GET', target, token }));
const pages = ['/api/projects/', ...[2, 3, 4, 5, 6].map((page) => `/api/projects/?page=${page}`)];

const cases: readonly Case[] = [
  {
    kind: 'changes',
    title: 'PATCH project: name or description',
    requests: ({ projects, token }) =>
      projects.flatMap((target) =>
        ['name', 'description'].map((field) => ({
          method: 'PATCH' as const,
          target,
          token,
          body: JSON.stringify({ [field]: `Round ${numberMark}` }),
        })),
      ),
  },
  { kind: 'reads', title: 'GET one project, warm', requests: ({ projects, token }) => gets(projects, token) },
  {
    kind: 'reads',
    title: 'GET one project, fresh address',
    requests: ({ projects, token }) => fresh(gets(projects, token)),
  },
  { kind: 'reads', title: 'list 10 projects, warm', requests: ({ token }) => gets(pages, token) },
  { kind: 'reads', title: 'list 10 projects, fresh address', requests: ({ token }) => fresh(gets(pages, token)) },
  { kind: 'creations', title: 'create customer', requests: ({ token }) => [{ ...creation, token }] },
  {
    kind: 'creations',
    title: 'create project',
    requests: ({ customers, token }) =>
      customers.map((customer) =>
        post('/api/projects/', token, { name: `Project ${numberMark}`, description: 'The public website.', customer }),
      ),
  },
  {
    kind: 'creations',
    title: 'create user',
    requests: ({ token }) => [post('/api/users/', token, { username: `user.${numberMark}`, full_name: 'Aino Tamm' })],
  },
];

/** Compares this version with the bundle of another one. */
export async function compare(folder: string, bundle: string, other: string, only: Kind | undefined): Promise<string> {
  const filled: Filled[] = [];
  const load = startLoad(compiled(new URL('load.ts', import.meta.url)));
  try {
    for (const [name, program] of Object.entries({ this: bundle, other }))
      filled.push(await startFilled(join(folder, `against-${name}`), program));
    const lines: string[] = [];
    for (const { requests, title } of cases.filter(({ kind }) => only === undefined || kind === only)) {
      const sides = filled.map(
        (each): Side => ({ server: each.server, requests: requests(each), perSecond: [], processor: [] }),
      );
      lines.push(line(title, await alternate(load, sides), 0.9));
    }
    return tableOf(['Request', 'this /s', 'other /s', 'this, CPU µs', 'other, CPU µs'], lines);
  } finally {
    await Promise.all([load.stop(), ...filled.map(({ server }) => server.stop())]);
    for (const name of ['this', 'other']) rmSync(join(folder, `against-${name}`), { recursive: true, force: true });
  }
}

/** Compares GET with an API key with GET in a session, on the same server. */
export async function compareKeys(folder: string, bundle: string): Promise<string> {
  const data = join(folder, 'against-keys');
  const load = startLoad(compiled(new URL('load.ts', import.meta.url)));
  const filled = await startFilled(data, bundle);
  const { server } = filled;
  try {
    const created = await send(server, post('/api/api-keys/', filled.token, { name: 'Bench', scopes: ['*:read'] }));
    const { key } = created as { key: string };
    const lines: string[] = [];
    for (const { requests, title } of cases.filter(({ kind }) => kind === 'reads')) {
      const sides = [key, filled.token].map(
        (token): Side => ({ server, requests: requests({ ...filled, token }), perSecond: [], processor: [] }),
      );
      lines.push(line(title, await alternate(load, sides), 0.95));
    }
    return tableOf(['Request', 'API key /s', 'session /s', 'API key, CPU µs', 'session, CPU µs'], lines);
  } finally {
    await Promise.all([load.stop(), server.stop()]);
    rmSync(data, { recursive: true, force: true });
  }
}

/** Starts a server in a new folder, and creates customers and projects. */
async function startFilled(data: string, bundle: string): Promise<Filled> {
  rmSync(data, { recursive: true, force: true });
  const server = await startTenantry(bundle, data);
  const password = readFileSync(join(data, 'initial-password'), 'utf8').trim();
  const login = {
    method: 'POST',
    target: '/api-auth/password/',
    body: JSON.stringify({ username: 'admin', password }),
  };
  const { token } = (await send(server, login as BenchRequest)) as { token: string };
  const customers: string[] = [];
  const projects: string[] = [];
  const create = async (target: string, body: object): Promise<string> =>
    ((await send(server, post(target, token, body))) as { url: string }).url;
  for (let i = 0; i < customerCount; i++) {
    const customer = await create('/api/customers/', { name: `Customer ${i}` });
    customers.push(customer);
    for (let j = 0; j < projectsEach; j++)
      projects.push(new URL(await create('/api/projects/', { name: `Project ${i}-${j}`, customer })).pathname);
  }
  return { server, token, customers, projects };
}

async function send({ url }: Running, request: BenchRequest): Promise<unknown> {
  const { body, status } = await ask(url, request);
  if (status >= 300) throw new Error(`${request.method} ${request.target} returned ${status}: ${body}`);
  return JSON.parse(body);
}

/** Runs load against the sides alternately. */
async function alternate(load: Load, sides: readonly Side[]): Promise<readonly Side[]> {
  for (let round = 0; round <= rounds; round++)
    for (const { perSecond, processor, requests, server } of round % 2 === 0 ? sides : [...sides].reverse()) {
      const pid = server.process.pid as number;
      const before = processorSeconds(pid) ?? 0;
      const burst = { url: server.url, requests, connections };
      const measured = await load.run({ ...burst, milliseconds: round === 0 ? warmupMilliseconds : milliseconds });
      if (round === 0) continue;
      perSecond.push(measured.perSecond);
      processor.push((((processorSeconds(pid) ?? 0) - before) / measured.sent) * 1e6);
    }
  return sides;
}

/** Returns a line of the table: speeds, CPU times, and the median ratios. `target` is the minimum ratio of the CPU times. */
function line(title: string, [first, second]: readonly Side[], target: number): string {
  if (!first || !second) throw new Error('Two sides are compared');
  const ratio = (a: readonly number[], b: readonly number[]): number =>
    median(a.map((value, i) => value / (b[i] as number)));
  const cheaper = ratio(second.processor, first.processor);
  const whole = (values: readonly number[]): string => Math.round(median(values)).toLocaleString('en');
  return row([
    title,
    ...[first.perSecond, second.perSecond, first.processor, second.processor].map(whole),
    ratio(first.perSecond, second.perSecond).toFixed(2),
    cheaper.toFixed(2),
    checked({ text: `≥ ${target.toFixed(2)}`, met: cheaper >= target }),
  ]);
}

const tableOf = (head: readonly string[], lines: readonly string[]): string => {
  const cells = [...head, 'Ratio of speeds', 'Ratio of CPU times', 'Target of CPU'];
  return [row(cells), row(cells.map((_, i) => (i > 0 && i < cells.length - 1 ? '--:' : ':--'))), ...lines].join('\n');
};
