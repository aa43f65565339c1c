/** The program as a process: its log lines and its shutdown. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../support/fixture.ts';
import { builtProgram, nativeCache } from '../support/program.ts';
import { sendOverWire, Wire } from '../support/wire.ts';

const program = suite('process');
let data: string;
let started: Started;

interface Started {
  readonly url: string;
  readonly child: ChildProcess;
  /** The text written to stderr. */
  readonly errors: () => string;
}

program.before.each(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-process-'));
  started = await serve();
});
program.after.each(async () => {
  if (started.child.exitCode === null && started.child.signalCode === null) {
    started.child.kill('SIGKILL');
    await once(started.child, 'close');
  }
  rmSync(data, { recursive: true });
});

async function serve(): Promise<Started> {
  const child = spawn(process.execPath, [builtProgram, 'serve', '--port', '0', '--data', data], {
    env: { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: nativeCache },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'close')]);
  assert.type(line, 'string', errors);
  return { url: JSON.parse(line as string).url, child, errors: () => errors };
}

/** Sends SIGTERM and returns the exit code. */
async function stop({ child }: Started): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  return code as number | null;
}

const post = (path: string, body: string, ...lines: readonly string[]): string[] => [
  `POST ${path} HTTP/1.1`,
  'Host: localhost',
  'Content-Type: application/json',
  ...lines,
  `Content-Length: ${body.length}`,
  '',
  body,
];

async function logIn(): Promise<{ token: string; password: string }> {
  const password = readFileSync(join(data, 'initial-password'), 'utf8').trim();
  const reply = await sendOverWire(
    started.url,
    ...post('/api-auth/password/', JSON.stringify({ username: 'admin', password })),
  );
  return { token: JSON.parse(reply.body).token, password };
}

/** Waits until connections are rejected. */
async function waitUntilUnreachable(url: string): Promise<void> {
  for (;;) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
    socket.destroy();
    if (!isOpen) return;
  }
}

program(
  'writes one JSON log line per request with its id, method, route, status, milliseconds and caller',
  async () => {
    const { token } = await logIn();
    const authorized = `Authorization: Token ${token}`;
    const responses = [
      await sendOverWire(started.url, 'GET /api/users/?current HTTP/1.1', 'Host: localhost', authorized, ''),
      await sendOverWire(started.url, ...post('/api/customers/', '{"name":"Ministry"}', authorized)),
      await sendOverWire(started.url, 'GET /api/nothing/ HTTP/1.1', 'Host: localhost', ''),
      await sendOverWire(started.url, 'NONSENSE', ''),
    ];
    const [me] = JSON.parse(responses[0]?.body ?? '');
    const created = JSON.parse(responses[1]?.body ?? '');
    responses.push(
      await sendOverWire(
        started.url,
        `PATCH /api/customers/${created.uuid} HTTP/1.1`,
        'Host: localhost',
        authorized,
        '',
      ),
    );
    assert.is(await stop(started), 0);
    const lines: Json[] = started
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const matches = responses.map(({ headers }) => lines.filter((line) => line.request === headers['x-request-id']));
    assert.equal(
      matches.map(({ length }) => length),
      [1, 1, 1, 1, 1],
    );
    const fields = matches.map(([line]) => [line.method, line.route, line.status, line.user]);
    assert.equal(fields, [
      ['GET', '/api/users/', 200, me.uuid],
      ['POST', '/api/customers/', 201, me.uuid],
      ['GET', '', 401, undefined],
      [undefined, '', 400, undefined],
      ['PATCH', '/api/customers/:key/', 200, me.uuid],
    ]);
    for (const line of matches.flat()) {
      assert.match(line.time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      if (line.method) assert.ok(line.ms >= 0 && line.ms < 60_000);
    }
  },
);

program('never logs tokens, passwords or bodies', async () => {
  const { token, password } = await logIn();
  const secrets = [
    token,
    password,
    'guessed-password-1',
    'guessed-name',
    'Secret Ministry',
    'hidden-token',
    'query-text',
    'broken-body',
    'hook-secret',
  ];
  const authorized = `Authorization: Token ${token}`;
  await sendOverWire(
    started.url,
    ...post('/api-auth/password/', '{"username":"guessed-name","password":"guessed-password-1"}'),
  );
  await sendOverWire(started.url, ...post('/api/customers/', '{"name":"Secret Ministry"}', authorized));
  await sendOverWire(started.url, ...post('/api/customers/', '{"broken-body', authorized));
  await sendOverWire(
    started.url,
    'GET /api/customers/?name=query-text&token=hidden-token HTTP/1.1',
    'Host: localhost',
    'Authorization: Token hidden-token',
    '',
  );
  await sendOverWire(started.url, ...post('/api/jira-webhook-receiver/?secret=hook-secret', '{}'));
  await sendOverWire(started.url, `hidden-token ${token}`, '');
  assert.is(await stop(started), 0);
  const log = started.errors();
  assert.ok(log.split('\n').length > 5);
  for (const secret of secrets) assert.not.ok(log.includes(secret), secret);
});

program('on SIGTERM completes the running request, accepts no other, and exits with 0', async () => {
  const { token } = await logIn();
  const [idle, silent] = [await Wire.to(started.url), await Wire.to(started.url)];
  await idle.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '').response();
  const wire = await Wire.to(started.url);
  wire.lines(
    'POST /api/customers/ HTTP/1.1',
    'Host: localhost',
    `Authorization: Token ${token}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
    'Content-Length: 15',
    '',
  );
  assert.is((await wire.response()).status, 100);
  const ended = stop(started);
  await waitUntilUnreachable(started.url);
  assert.equal([await idle.closed(), await silent.closed()], ['', '']);
  const reply = await wire.bytes('{"name":"Last"}').response();
  assert.equal([reply.status, reply.headers.connection], [201, 'close']);
  assert.is(await ended, 0);
  await wire.closed();
  assert.equal(
    readdirSync(data).filter((name) => /-(wal|shm|journal)$/.test(name)),
    [],
  );
  started = await serve();
  const again = await sendOverWire(
    started.url,
    'GET /api/customers/?field=name HTTP/1.1',
    'Host: localhost',
    `Authorization: Token ${token}`,
    '',
  );
  assert.is(again.body, '[{"name":"Last"}]');
});

program('ignores a second signal during shutdown', async () => {
  const ended = stop(started);
  started.child.kill('SIGINT');
  assert.is(await ended, 0);
});

program.run();
