/** `tenantry promote` and the earlier primary, with real processes. `npm test` builds the program first. */
import { readdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import { preparing } from '../../support/prepared.ts';
import { failed, type Program, type Serving } from '../../support/program.ts';
import { sendOverWire } from '../../support/wire.ts';

const test = suite('promote');
let program: Program;
let token: string;
let old: Serving;

/** Resolves with a token. */
const prepared = preparing(async (first) => {
  await first.run(['user', 'add', 'admin', '--staff', '--data', 'data']);
  return (await first.run(['token', 'admin', '--data', 'data'])).stdout.trim();
});
test.before.each(async () => {
  ({ program, result: token } = await prepared());
  old = await program.serve(['--replicated', '--admin-listen', '127.0.0.1:0']);
});
test.after.each(() => program.end());

const headers = (): Record<string, string> => ({ Authorization: `Token ${token}`, 'Content-Type': 'application/json' });
const create = (url: string, name: string, further = {}): Promise<Response> =>
  fetch(`${url}/api/customers/`, {
    method: 'POST',
    headers: { ...headers(), ...further },
    body: JSON.stringify({ name }),
  });
const names = async (url: string): Promise<string[]> =>
  ((await (await fetch(`${url}/api/customers/`, { headers: headers() })).json()) as { name: string }[]).map(
    ({ name }) => name,
  );

/** Follows the server in a separate folder until the follower is up to date, and promotes the copy. */
async function promoteCopy(): Promise<void> {
  await create(old.url, 'Before');
  const follower = await program.serve(['--follow', 'data', '--data', 'copy']);
  assert.equal(await program.run(['promote', '--data', 'copy']), {
    code: 1,
    stdout: '',
    stderr: `tenantry: another server uses the data folder ${join(program.folder, 'copy')}\n`,
  });
  assert.equal(await names(follower.url), ['Before']);
  await follower.stop();
  const { code, stderr, stdout } = await program.run(['promote', '--data', 'copy']);
  const message = `${join(program.folder, 'copy')} is promoted: it has its own database now, version 2-1. Name the other server in the setting peers when you serve it.\n`;
  assert.equal([code, stderr, stdout], [0, '', message]);
  assert.equal(readdirSync(join(program.folder, 'copy')).sort(), [
    'audit-heads.log',
    'secret.key',
    'serve.lock',
    'tenantry.db',
  ]);
}

const fenced = { detail: 'Another server has been promoted in the place of this one, which takes no changes.' };
const trouble = 'another server was promoted instead of this one, in epoch 2: this server stores no changes';

test('continues from a promoted copy, and stops writes of the old server', async () => {
  await promoteCopy();
  const promoted = await program.serve(['--data', 'copy', '--replicated', '--peers', old.url]);
  const created = await create(promoted.url, 'After');
  assert.equal([created.status, created.headers.get('X-Tenantry-Version')], [201, '2-2']);
  const rejection = await create(old.url, 'Too late');
  assert.equal([rejection.status, await rejection.json()], [503, fenced]);
  assert.equal(await names(old.url), ['Before'], 'reads still work');
  for (const target of [
    '/api-auth/saml2/login/',
    '/%61pi-auth/saml2/login/',
    'http://any.example/api-auth/saml2/login/',
  ]) {
    const login = await sendOverWire(old.url, `GET ${target} HTTP/1.1`, 'Host: localhost', '');
    assert.equal([login.status, JSON.parse(login.body)], [503, fenced], target);
  }
  const waiting = await sendOverWire(
    old.url,
    'POST /api/customers/ HTTP/1.1',
    'Host: localhost',
    'Content-Length: 17',
    'Expect: 100-continue',
    '',
  );
  assert.equal([waiting.status, waiting.headers.connection], [503, 'close'], 'without 100 Continue');
  const ready = await fetch(`${old.startup.admin}/readyz`);
  const { checks } = (await ready.json()) as { checks: { fence: string } };
  assert.equal([ready.status, checks.fence], [503, trouble]);
  await old.stop();
  assert.equal(await program.run(['user', 'add', 'late', '--data', 'data']), failed(trouble));
  assert.equal(await program.run(['doctor', '--data', 'data']), { code: 0, stdout: `${trouble}\n`, stderr: '' });
  const again = await program.serve();
  assert.is((await create(again.url, 'Still too late')).status, 503, 'also after a start');
  assert.equal(await names(promoted.url), ['After', 'Before']);
});

test('rejects a copy that another program has open, because its log has changes', async () => {
  await create(old.url, 'Before');
  await (await program.serve(['--follow', 'data', '--data', 'copy'])).stop();
  const [number = ''] = readdirSync(join(program.folder, 'copy/copies'));
  const file = join(program.folder, 'copy/copies', number, 'tenantry.db');
  const reader = new SQLite(file, { readonly: true });
  try {
    reader.exec('BEGIN; SELECT count(*) FROM user');
    assert.equal(
      await program.run(['promote', '--data', 'copy']),
      failed(`another program uses ${file}: close it and run the command again`),
    );
  } finally {
    reader.close();
  }
  assert.is((await program.run(['promote', '--data', 'copy'])).code, 0);
  assert.equal(await names((await program.serve(['--data', 'copy'])).url), ['Before']);
});

test('checks the peers of a restarted server before it serves clients', async () => {
  await promoteCopy();
  await old.kill();
  const promoted = await program.serve(['--data', 'copy']);
  const back = await program.serve(['--peers', promoted.url]);
  assert.equal(await (await create(back.url, 'Too late')).json(), fenced);
});

test('fences the old server through a follower of the promoted one', async () => {
  await promoteCopy();
  await program.serve(['--data', 'copy']);
  const follower = await program.serve(['--follow', 'copy', '--data', 'second', '--primary', old.url]);
  assert.equal(await (await create(follower.url, 'Astray')).json(), fenced);
  assert.equal(await names(old.url), ['Before']);
});

test('sends no epoch of the primary from a follower to clients, and ignores a recorded one', async () => {
  await promoteCopy();
  // A recording proxy captures the message of the promoted server to the old one.
  const recorded: string[] = [];
  const recorder = createHttpServer((message, outgoing) => {
    recorded.push(String(message.headers['x-tenantry-epoch']));
    outgoing.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => recorder.once('listening', resolve));
  const peer = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  const promoted = await program.serve(['--data', 'copy', '--peers', peer]);
  const [replayed = ''] = recorded;
  const response = await create(old.url, 'Replayed', { 'X-Tenantry-Epoch': replayed });
  assert.equal([response.status, await response.json()], [503, fenced], 'a server that reports it gets no write');
  assert.is((await create(old.url, 'Continues')).status, 201);
  // The servers ignore the responses of both.
  const epoch = (await fetch(promoted.url, { headers: { 'X-Tenantry-Epoch': replayed } })).headers.get(
    'X-Tenantry-Epoch',
  );
  for (const header of [epoch, response.headers.get('X-Tenantry-Epoch')]) {
    assert.is((await create(old.url, 'Continues', { 'X-Tenantry-Epoch': String(header) })).status, 201);
    assert.is((await create(old.url, 'Continues')).status, 201);
  }
  const follower = await program.serve(['--follow', 'copy', '--data', 'second', '--primary', promoted.url]);
  const passed = await fetch(`${follower.url}/api-auth/password/`, { method: 'POST' });
  assert.equal([passed.status, passed.headers.get('X-Tenantry-Epoch')], [401, null]);
  recorder.close();
  recorder.closeAllConnections();
});

test('accepts the promotion of a server only from that server', async () => {
  for (const epoch of ['9', Buffer.from('9').toString('base64url'), ''])
    assert.is((await create(old.url, 'Continues', { 'X-Tenantry-Epoch': epoch })).status, 201);
  // Another deployment has other keys, even if its epoch is higher.
  await program.run(['user', 'add', 'admin', '--staff', '--data', 'other']);
  const other = await program.serve(['--data', 'other', '--peers', old.url]);
  await eventually('it has asked', () => other.errors().includes('peer did not report its epoch'));
  assert.is((await create(old.url, 'Continues')).status, 201);
});

test('reports a copy that cannot be promoted in one line', async () => {
  const at = (name: string): string => join(program.folder, name);
  await old.stop();
  assert.equal(
    await program.run(['promote', '--data', 'data']),
    failed(`${at('data')} already has a database: name another folder with --data`),
  );
  assert.equal(
    await program.run(['promote', '--data', 'empty']),
    failed(`there is no copy in ${at('empty')}: serve --follow makes one`),
  );
});

test.run();
