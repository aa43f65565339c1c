import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../support/eventually.ts';
import type { Json } from '../support/fixture.ts';
import { nativeCache, Program, type Serving } from '../support/program.ts';
import { ProgramClock } from '../support/program-clock.ts';

const test = suite('clock jumps');
const day = 86_400;
/** Seconds until a missing event counts as a failure. */
const timeout = 30;
let program: Program;
let clock: ProgramClock;
let serving: Serving;

test.before.each(async () => {
  program = new Program(nativeCache);
  clock = new ProgramClock(program.folder);
  serving = await program.serve(['--events-retention', '10d'], { env: clock.env });
});
test.after.each(() => program.end());

const until = (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => eventually(what, isSo, timeout);

/** Sends requests as a user who has just logged in. */
async function ask(method: string, path: string, body?: object): Promise<Json> {
  const token = (await program.run(['token', 'admin'], { env: clock.env })).stdout.trim();
  const response = await fetch(serving.url + path, {
    method,
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, String(response.status));
  return response.json();
}
const count = async (): Promise<number> =>
  (await ask('GET', '/api/events/count/?event_type=custom_notification')).count;
const warnings = (): string[] =>
  serving
    .errors()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.startsWith('the clock'))
    .map(({ jump_seconds: jump, level, msg }) => `${level} ${Math.round(jump / day)} ${msg}`);
const doctor = (...words: string[]): Promise<unknown> => program.run(['doctor', ...words], { env: clock.env });
const healthy = { code: 0, stdout: 'no problems\n', stderr: '' };
const command = '`tenantry doctor --accept-clock --data data`';

test('warns once, deletes nothing, and lets the operator accept the clock beside the server', async () => {
  await ask('POST', '/api/events/', { level: 'info', message: 'Retained' });
  assert.equal(await doctor(), healthy);
  clock.set(30 * day);
  await until('a warning', () => warnings().length > 0);
  // The worker takes one job per second, after other due work.
  const { url } = await ask('POST', '/api/service-settings/', { name: 'Later', type: 'JIRA' });
  const state = async (): Promise<string> => (await ask('GET', new URL(url).pathname)).state;
  await until('a job is taken', async () => (await state()) !== 'Creation Scheduled');
  assert.equal(await count(), 1);
  assert.equal(warnings(), [
    `40 30 the clock has moved 720 hours ahead while the server was running: expired data is not removed until the server has run for a day, or until ${command}`,
  ]);
  assert.equal(await doctor(), {
    code: 0,
    stdout: `the clock has moved 720 hours ahead: expired data is not removed until a server has run for another 24 hours, or until ${command}\n`,
    stderr: '',
  });
  assert.equal(await doctor('--accept-clock'), healthy);
  await until('the event goes', async () => (await count()) === 0);
  assert.is(warnings().length, 1);
  assert.equal(await doctor(), healthy);
});

test('notices at the next start that the clock was set back, and extends no token', async () => {
  const token = (await program.run(['token', 'admin'], { env: clock.env })).stdout.trim();
  const headers = { Authorization: `Token ${token}` };
  const status = async (): Promise<number> => (await fetch(`${serving.url}/api/`, { headers })).status;
  assert.is(await status(), 200);
  // The last use of the token is ten days ahead of the clock, and its lifetime is an hour.
  assert.is(await serving.stop(), 0);
  clock.set(-10 * day);
  serving = await program.serve([], { env: clock.env });
  assert.is(await status(), 200);
  await until('a warning', () => warnings().length > 0);
  assert.match(
    warnings()[0] as string,
    /^40 -10 the clock has moved 240 hours back since it was last seen: expired data/,
  );
  clock.set(-10 * day + 2 * 3600);
  await until('the token expires', async () => (await status()) === 401);
});

test('accepts the clock of a folder that is not served beforehand', async () => {
  await ask('POST', '/api/events/', { level: 'info', message: 'Old' });
  assert.is(await serving.stop(), 0);
  clock.set(30 * day);
  assert.equal(await doctor('--accept-clock'), healthy);
  serving = await program.serve(['--events-retention', '10d'], { env: clock.env });
  await until('the event goes', async () => (await count()) === 0);
  assert.equal(warnings(), []);
});

test.run();
