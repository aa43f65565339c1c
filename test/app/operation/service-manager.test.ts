/** Notifications of the server to systemd (core.md 14.4). */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { serviceManager } from '../../../src/app/operation/service-manager.ts';
import { openLog } from '../../../src/kernel/log.ts';
import { eventually } from '../../support/eventually.ts';
import { nativeCache, Program } from '../../support/program.ts';

const test = suite('service manager');
const { log, close } = openLog('silent');
let program: Program;
let output: string;
let bin: string;

test.before.each(() => {
  program = new Program(nativeCache);
  output = join(program.folder, 'notifications');
  bin = join(program.folder, 'bin');
  mkdirSync(bin);
  // Replaces systemd's program. Writes the notifications to a file.
  const script = join(bin, 'systemd-notify');
  writeFileSync(script, `#!/bin/sh\necho "$* to $NOTIFY_SOCKET" >> '${output}'\n`);
  chmodSync(script, 0o755);
});
test.after.each(() => program.end());
test.after(() => {
  close();
});

const lines = (): string[] => (existsSync(output) ? readFileSync(output, 'utf8').split('\n').slice(0, -1) : []);
const env = (further: Record<string, string> = {}): Record<string, string> => ({
  PATH: `${bin}:${process.env.PATH}`,
  NOTIFY_SOCKET: '/run/notify',
  ...further,
});

test('notifies readiness, watchdog and end', async () => {
  const serving = await program.serve(['--ephemeral'], { env: env({ WATCHDOG_USEC: '100000' }) });
  await eventually('the watchdog hears', () => lines().filter((line) => line.startsWith('WATCHDOG')).length > 2);
  assert.is(await serving.stop(), 0);
  await eventually('it hears of the end', () => lines().at(-1) === 'STOPPING=1 to /run/notify');
  const [first, ...others] = lines();
  assert.is(first, 'READY=1 to /run/notify');
  assert.equal(new Set(others.slice(0, -1)), new Set(['WATCHDOG=1 to /run/notify']));
  assert.is(serving.errors(), '');
});

test('sends no watchdog messages for another process, and no notifications without a socket', async () => {
  const serving = await program.serve(['--ephemeral'], { env: env({ WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' }) });
  await eventually('it is ready', () => lines().length > 0);
  await fetch(`${serving.url}/api/version/`);
  assert.is(await serving.stop(), 0);
  await eventually('it has ended', () => lines().length > 1);
  assert.equal(lines(), ['READY=1 to /run/notify', 'STOPPING=1 to /run/notify']);
  assert.is(
    serviceManager({ WATCHDOG_USEC: '1000' }, log, () => true),
    undefined,
  );
});

test('stops watchdog messages when the timer of the server stops', async () => {
  const { PATH } = process.env;
  process.env.PATH = env().PATH;
  let isAlive = true;
  const manager = serviceManager({ NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '20000' }, log, () => isAlive);
  const before = process.env.NOTIFY_SOCKET;
  process.env.NOTIFY_SOCKET = '/run/notify';
  try {
    manager?.ready();
    await eventually('the watchdog hears', () => lines().length > 2);
    isAlive = false;
    let count = -1;
    // If no notification arrives for some turns, all earlier ones are complete.
    await eventually('nothing more is heard', async () => {
      const last = count;
      count = lines().length;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return count === last && count === lines().length;
    });
    manager?.stopping();
    await eventually('the end is notified', () => lines().at(-1) === 'STOPPING=1 to /run/notify');
  } finally {
    process.env.PATH = PATH;
    if (before === undefined) delete process.env.NOTIFY_SOCKET;
    else process.env.NOTIFY_SOCKET = before;
  }
});

test('logs once that the program is missing, and keeps serving', async () => {
  rmSync(bin, { recursive: true });
  mkdirSync(bin);
  const serving = await program.serve(['--ephemeral'], {
    env: { PATH: bin, NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '10000' },
  });
  await eventually('it says so', () => serving.errors().includes('systemd-notify'));
  assert.is((await fetch(`${serving.url}/api/version/`)).status, 200);
  assert.is(await serving.stop(), 0);
  const { time, ...line } = JSON.parse(serving.errors()) as Record<string, unknown>;
  assert.equal(
    [typeof time, line],
    [
      'string',
      {
        level: 40,
        reason: 'spawn systemd-notify ENOENT',
        msg: 'failed to notify the service manager by systemd-notify',
      },
    ],
  );
});

test.run();
