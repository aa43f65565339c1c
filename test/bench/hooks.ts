/**
 * Hooks: what twenty of them cost the write that causes an event, and how soon and how fast events are delivered.
 *
 *   npm run bench -- --only hooks      half a minute
 *
 * Prints a Markdown table. The server is the built program; load generator and receiver are separate processes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compiled } from '../support/compiled.ts';
import { ask, numberMark } from './ask.ts';
import { dataFolder, type Running, startLoad, startTenantry } from './processes.ts';
import type { Deliveries } from './receiver.ts';
import { seed, seedDigest, small, tokenOf } from './seed.ts';

const hooks = 20;
const connections = 16;
const rounds = 5;
const roundMilliseconds = 2000;
/** Events per second in the measurement of latency; each goes to every hook. */
const constantRate = 60;
const constantSeconds = 5;
const burst = 500;

/** The destination of deliveries. */
interface Receiver {
  readonly url: string;
  readonly report: () => Promise<Deliveries>;
  readonly stop: () => Promise<void>;
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Measures the built program on a copy of the small database inside `folder`. */
export async function run(folder: string, bundle: string, show: (text: string) => void): Promise<string> {
  const database = join(folder, `small-${seedDigest()}.db`);
  await seed(database, small);
  const data = dataFolder(join(folder, 'hooks'), database);
  const receiver = await startReceiver();
  process.env.TENANTRY_HOOKS_ALLOWED_NETWORKS = '127.0.0.0/8';
  const server = await startTenantry(bundle, data);
  try {
    const created = await createHooks(server, receiver.url);
    show(`Creating customers with and without ${hooks} hooks …`);
    const { share, plain, hooked, delivered } = await creating(server, receiver, created);
    show('Latency …');
    const constant = await deliverAtConstantRate(server, receiver);
    show('A burst …');
    const drained = await bursting(server, receiver);
    return [
      '| What | Measured | Target |',
      '|---|---|---|',
      `| Creating customers without hooks | ${plain.toFixed(0)}/s | |`,
      `| … with ${hooks} matching hooks, while ${delivered.toFixed(0)} deliveries/s are made | ${hooked.toFixed(0)}/s, ${(100 * share).toFixed(0)} % | ≥ 50 % |`,
      `| Commit to first attempt at ${(constant.count / constant.seconds).toFixed(0)} deliveries/s, p50 | ${constant.p50.toFixed(0)} ms | |`,
      `| … p95 | ${constant.p95.toFixed(0)} ms | ≤ 250 ms |`,
      `| Deliveries of ${burst} events to ${hooks} hooks | ${(drained.count / drained.seconds).toFixed(0)}/s | ≥ 1,000/s |`,
    ].join('\n');
  } finally {
    await server.stop();
    await receiver.stop();
    rmSync(data, { recursive: true });
  }
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(compiled(new URL('receiver.ts', import.meta.url)));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    report: async () => {
      child.send('report');
      return ((await once(child, 'message')) as [Deliveries])[0];
    },
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

const staff = tokenOf('staff');

async function createHooks({ url }: Running, destination: string): Promise<string[]> {
  const body = JSON.stringify({
    destination_url: destination,
    event_groups: ['customers'],
    event_types: ['custom_notification'],
    is_active: false,
  });
  const created: string[] = [];
  for (let i = 0; i < hooks; i++) {
    const response = await ask(url, { method: 'POST', target: '/api/hooks-web/', token: staff, body });
    if (response.status !== 201) throw new Error(`Creating a hook returned ${response.status}: ${response.body}`);
    created.push(`/api/hooks-web/${(JSON.parse(response.body) as { uuid: string }).uuid}/`);
  }
  return created;
}

async function setActive({ url }: Running, created: readonly string[], is_active: boolean): Promise<void> {
  for (const target of created)
    await ask(url, { method: 'PATCH', target, token: staff, body: JSON.stringify({ is_active }) });
}

/** Alternate rounds without and with hooks, so that the ratio holds on a busy machine. */
async function creating(
  server: Running,
  receiver: Receiver,
  created: readonly string[],
): Promise<{ plain: number; hooked: number; delivered: number; share: number }> {
  const load = startLoad(compiled(new URL('load.ts', import.meta.url)));
  const requests = [
    {
      method: 'POST' as const,
      target: '/api/customers/',
      token: staff,
      body: JSON.stringify({ name: `Customer ${numberMark}` }),
    },
  ];
  const measure = async (isHooked: boolean): Promise<number> => {
    await setActive(server, created, isHooked);
    return (await load.run({ url: server.url, requests, connections, milliseconds: roundMilliseconds })).perSecond;
  };
  await measure(false);
  const plain: number[] = [];
  const hooked: number[] = [];
  const delivered: number[] = [];
  for (let round = 0; round < rounds; round++) {
    plain.push(await measure(false));
    await receiver.report();
    hooked.push(await measure(true));
    const { count, seconds } = await receiver.report();
    delivered.push(count / seconds);
  }
  await load.stop();
  // Cancels pending deliveries, so that the next measurement starts with an empty outbox.
  await setActive(server, created, false);
  await setActive(server, created, true);
  await pause(500);
  await receiver.report();
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    plain: sum(plain) / rounds,
    hooked: sum(hooked) / rounds,
    delivered: sum(delivered) / rounds,
    share: sum(hooked) / sum(plain),
  };
}

const notify = ({ url }: Running): Promise<unknown> =>
  ask(url, {
    method: 'POST',
    target: '/api/events/',
    token: staff,
    body: '{"level":"info","message":"Something happened"}',
  });

/** Records events at a constant rate of slightly more than a thousand deliveries per second. */
async function deliverAtConstantRate(server: Running, receiver: Receiver): Promise<Deliveries> {
  const started = performance.now();
  for (let i = 0; i < constantRate * constantSeconds; i++) {
    await pause(Math.max(0, started + (i * 1000) / constantRate - performance.now()));
    void notify(server);
  }
  await pause(1000);
  return receiver.report();
}

/** Records many events at once. */
async function bursting(server: Running, receiver: Receiver): Promise<Deliveries> {
  await Promise.all(Array.from({ length: burst }, () => notify(server)));
  const total: Deliveries[] = [];
  let count = 0;
  while (count < burst * hooks) {
    await pause(500);
    const part = await receiver.report();
    if (part.count === 0) throw new Error(`Only ${count} of ${burst * hooks} deliveries came`);
    total.push(part);
    count += part.count;
  }
  // Reports are consecutive, so the gap between two of them is only the time between two deliveries.
  return { count, seconds: total.reduce((sum, { seconds }) => sum + seconds, 0), p50: Number.NaN, p95: Number.NaN };
}
