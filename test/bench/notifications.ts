/**
 * Notifications: how soon mails about them reach the mail server while the service is busy.
 *
 *   npm run bench -- --only notifications      half a minute
 *
 * Prints a Markdown table. The server is the built program; load generator and mail server are separate processes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { compiled } from '../support/compiled.ts';
import { ask } from './ask.ts';
import { cases } from './cases.ts';
import { readSample, seeded } from './databases.ts';
import type { Arrivals } from './mail-receiver.ts';
import { dataFolder, type Running, startLoad, startTenantry } from './processes.ts';
import { median } from './report.ts';
import { small, tokenOf } from './seed.ts';

const perSecond = 20;
const seconds = 15;
const connections = 16;
/** The share of the mails that must arrive within the target. */
const share = 0.95;
const targetMs = 2000;

const staff = tokenOf('staff');

/** Measures the built program on a copy of the small database inside `folder`. */
export async function run(folder: string, bundle: string, show: (text: string) => void): Promise<string> {
  const database = await seeded(folder, small, show);
  const data = dataFolder(join(folder, 'notifications'), database);
  const mailServer = fork(compiled(new URL('mail-receiver.ts', import.meta.url)));
  const [{ port }] = (await once(mailServer, 'message')) as [{ port: number }];
  const server = await startTenantry(bundle, data, {
    TENANTRY_SMTP_URL: `smtp://127.0.0.1:${port}`,
    TENANTRY_EMAIL_FROM: 'tenantry@example.com',
    TENANTRY_NOTIFICATION_MAIL_LIMIT: String(perSecond * seconds),
  });
  const load = startLoad(compiled(new URL('load.ts', import.meta.url)));
  try {
    const scope = await createScope(server);
    const requests = cases.find(({ name }) => name === 'mixed-90')?.requests(readSample(database)) ?? [];
    const busy = load.run({ url: server.url, requests, connections, milliseconds: seconds * 1000 });
    show(`Opening ${perSecond * seconds} alerts beside the mixed load …`);
    const sent = await openAlerts(server, scope);
    const { perSecond: served } = await busy;
    const delays = await delaysOf(mailServer, sent);
    const late = delays[Math.floor(delays.length * share)] ?? Number.NaN;
    return [
      '| What | Measured | Target |',
      '|---|---|---|',
      `| Requests beside it, 10 % of them writes | ${served.toFixed(0)}/s | |`,
      `| Cause to the mail server at ${perSecond} notifications/s, p50 | ${median(delays).toFixed(0)} ms | |`,
      `| … p95 | ${late.toFixed(0)} ms | ≤ ${targetMs} ms |`,
    ].join('\n');
  } finally {
    await server.stop();
    await load.stop();
    mailServer.kill();
    await once(mailServer, 'exit');
    rmSync(data, { recursive: true });
  }
}

async function create({ url }: Running, target: string, fields: object): Promise<string> {
  const response = await ask(url, { method: 'POST', target, token: staff, body: JSON.stringify(fields) });
  if (response.status !== 201) throw new Error(`POST ${target} returned ${response.status}: ${response.body}`);
  return (JSON.parse(response.body) as { url: string }).url;
}

/** Creates a customer with an owner who receives mails. */
async function createScope(server: Running): Promise<string> {
  const customer = await create(server, '/api/customers/', { name: 'Acme' });
  const user = await create(server, '/api/users/', { username: 'reader', email: 'reader@example.com' });
  await create(server, '/api/customer-permissions/', { customer, user, role: 'owner' });
  return customer;
}

/** Opens alerts at a constant rate; returns the send time of each request, in milliseconds since 1970. */
async function openAlerts(server: Running, scope: string): Promise<readonly number[]> {
  const started = performance.now();
  const sent: number[] = [];
  const responses: Promise<string>[] = [];
  for (let i = 0; i < perSecond * seconds; i++) {
    await pause(Math.max(0, started + (i * 1000) / perSecond - performance.now()));
    sent.push(performance.timeOrigin + performance.now());
    const message = `Alert ${i}`;
    responses.push(
      create(server, '/api/alerts/', { scope, alert_type: message, message: `${message}.`, severity: 'Error' }),
    );
  }
  await Promise.all(responses);
  return sent;
}

/** Returns the sorted milliseconds from each request to its mail. Throws if a mail does not arrive. */
async function delaysOf(mailServer: ChildProcess, sent: readonly number[]): Promise<readonly number[]> {
  for (let attempt = 0; ; attempt++) {
    mailServer.send('report');
    const [arrivals] = (await once(mailServer, 'message')) as [Arrivals];
    if (arrivals.length === sent.length)
      return arrivals.map(([number, at]) => at - (sent[number] as number)).sort((a, b) => a - b);
    if (attempt === 30) throw new Error(`Only ${arrivals.length} of ${sent.length} mails arrived`);
    await pause(500);
  }
}
