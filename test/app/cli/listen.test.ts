/** `tenantry listen` on the command line, with a server and a receiver. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import { failed, nativeCache, Program, type Serving } from '../../support/program.ts';
import { type Received, Receiver } from '../../support/receiver.ts';

const test = suite('listen');
let program: Program;
let receiver: Receiver;
let server: Serving;

test.before(async () => {
  program = new Program(nativeCache);
  receiver = await Receiver.start();
  server = await program.serve(['--ephemeral']);
  writeFileSync(join(program.folder, 'token'), `${server.startup.token}\n`);
});
test.after(async () => {
  await program.end();
  await receiver.close();
});
test.after.each(() => {
  receiver.behaviour = 200;
  receiver.take();
});

/** Runs the command until it has printed a line for each event that `act` causes. Returns the output. */
async function listening(options: readonly string[], act: () => Promise<unknown>, events: number): Promise<string[]> {
  const child = program.start([
    ...['listen', '--url', server.url, '--token-file', 'token', '--forward-to', `${receiver.url}/hook`],
    ...options,
  ]);
  const lines: string[] = [];
  const output = createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => lines.push(line));
  // The command prints the first line when the stream is open.
  await once(output, 'line');
  await act();
  const isForwarded = (): boolean => lines.filter((line) => /^\d{4}-/.test(line)).length >= events;
  await eventually(`${events} events are forwarded`, isForwarded);
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
  return lines;
}

async function createCustomer(name: string): Promise<void> {
  const response = await fetch(`${server.url}/api/customers/`, {
    method: 'POST',
    headers: { Authorization: `Token ${server.startup.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  assert.is(response.status, 201);
}

const signatureOf = (secret: string, { body, headers }: Received): string => {
  const key = Buffer.from(secret.slice(6), 'base64');
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
};

test('forwards each event once, signed with a secret that it prints', async () => {
  receiver.behaviour = ({ body }) => (body.includes('First') ? 500 : 204);
  const lines = await listening(
    [],
    async () => {
      await createCustomer('First');
      await createCustomer('Second');
    },
    2,
  );
  const requests = receiver.take();
  assert.equal(
    requests.map(({ body, path }) => [path, JSON.parse(body).message]),
    [
      ['/hook', 'Customer First has been created.'],
      ['/hook', 'Customer Second has been created.'],
    ],
  );
  const secret = lines[1]?.replace('Secret: ', '') as string;
  for (const request of requests) assert.is(request.headers['webhook-signature'], signatureOf(secret, request));
  const times = requests.map(({ body }) => JSON.parse(body).timestamp);
  assert.equal(lines, [
    `Forwarding the events of ${server.url} to ${receiver.url}/hook`,
    `Secret: ${secret}`,
    `${times[0]} customer_creation_succeeded: 500`,
    `${times[1]} customer_creation_succeeded: 204`,
  ]);
});

test('signs with the secret of --secret, and does not print it', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const lines = await listening(['--secret', secret], () => createCustomer('Third'), 1);
  assert.not.match(lines.join('\n'), /whsec_/);
  const [request] = receiver.take() as [Received];
  assert.is(request.headers['webhook-signature'], signatureOf(secret, request));
});

test('names what is missing or wrong, and ends when the token is rejected', async () => {
  const run = (...words: readonly string[]) => program.run(['listen', ...words]);
  const target = ['--forward-to', `${receiver.url}/`];
  assert.equal(await run(), failed('listen requires --url; see tenantry listen --help', 2));
  assert.equal(await run('--url', 'ftp://x', ...target), failed('--url must be an http or https URL', 2));
  const url = ['--url', server.url];
  assert.equal(await run(...url, ...target), failed('listen requires --token-file; see tenantry listen --help', 2));
  assert.equal(
    await run(...url, ...target, '--token-file', 'none'),
    failed('cannot read the token in none: no such file or directory'),
  );
  assert.equal(
    await run(...url, ...target, '--token-file', 'token', '--secret', 'abc'),
    failed('--secret must be whsec_ and base64', 2),
  );
  writeFileSync(join(program.folder, 'wrong'), 'x');
  assert.equal(
    await run(...url, ...target, '--token-file', 'wrong'),
    failed(`${server.url}/api/events/stream/ responds with 401: {"detail":"Invalid token."}`),
  );
});

test.run();
