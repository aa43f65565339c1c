/** `tenantry serve --follow`, with real processes. `npm test` builds the program first. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import { preparing } from '../../support/prepared.ts';
import { failed, type Program, type Serving } from '../../support/program.ts';
import { sendOverWire, Wire } from '../../support/wire.ts';

const test = suite('follow');
let program: Program;
let primary: Serving;
let token: string;

/** Resolves with a token. */
const prepared = preparing(async (first) => {
  await first.run(['user', 'add', 'admin', '--staff', '--data', 'data']);
  return (await first.run(['token', 'admin', '--data', 'data'])).stdout.trim();
});
test.before.each(async () => {
  ({ program, result: token } = await prepared());
  primary = await program.serve(['--replicated', '--trusted-proxies', '127.0.0.1']);
});
test.after.each(() => program.end());

const follow = (...words: readonly string[]): Promise<Serving> =>
  program.serve(['--follow', 'data', '--data', 'copy', '--follow-interval', '1s', ...words]);

const ask = (url: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url + path, {
    ...init,
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json', ...init.headers },
  });

const create = (url: string, name: string): Promise<Response> =>
  ask(url, '/api/customers/', { method: 'POST', body: JSON.stringify({ name }) });

test('serves reads, forwards writes to the primary, and serves a read with the version of a write', async () => {
  const follower = await follow('--primary', primary.url);
  const created = await create(follower.url, 'Written at the follower');
  const { url, uuid } = (await created.json()) as { url: string; uuid: string };
  const version = created.headers.get('X-Tenantry-Version') as string;
  assert.equal([created.status, version], [201, '1-1']);
  // Links use the host of the client's request.
  assert.is(url, `${follower.url}/api/customers/${uuid}/`);
  const read = await ask(follower.url, `/api/customers/${uuid}/`, { headers: { 'X-Tenantry-Version': version } });
  assert.equal([read.status, ((await read.json()) as { name: string }).name], [200, 'Written at the follower']);
  const log = await ask(follower.url, '/api/events/?event_type=customer_creation_succeeded');
  assert.equal(
    ((await log.json()) as { message: string }[]).map(({ message }) => message),
    ['Customer Written at the follower has been created.'],
  );
  const rejection = await ask(follower.url, '/api/customers/', { method: 'POST', body: '{}' });
  assert.equal(
    [rejection.status, await rejection.json()],
    [400, { name: ['This field is required.'] }],
    'the unchanged response of the primary',
  );
});

test('forwards downloads that have an audit record, in any notation of their path', async () => {
  const follower = await follow('--primary', primary.url);
  for (const path of ['/api/audit/export/', '/api/audit/%65xport']) {
    const download = await ask(follower.url, path);
    assert.equal([download.status, /\{"head":/.test(await download.text())], [200, true]);
  }
  const records = (await (await ask(primary.url, '/api/audit/?page_size=2')).json()) as { operation: string }[];
  assert.equal(
    records.map(({ operation }) => operation),
    ['getAuditExport', 'getAuditExport'],
  );
  const alone = await follow('--data', 'other-copy');
  assert.is((await ask(alone.url, '/api/audit/export/')).status, 503, 'what cannot be recorded is not sent');
});

test('accepts the address and host of a client at the primary only as the follower allows', async () => {
  const follower = await follow('--primary', primary.url);
  for (const [headers, host] of [
    [{}, new URL(follower.url).host],
    [{ 'X-Forwarded-Host': 'evil.example.com', 'X-Forwarded-Port': '1' }, new URL(follower.url).host],
    [{ 'X-Forwarded-For': '192.0.2.1' }, new URL(follower.url).host],
  ] as const) {
    const body = JSON.stringify({ name: 'Written at the follower' });
    const created = await ask(follower.url, '/api/customers/', { method: 'POST', body, headers });
    assert.is(new URL(((await created.json()) as { url: string }).url).host, host);
  }
  const log = await ask(primary.url, '/api/events/?event_type=customer_creation_succeeded');
  assert.equal(
    ((await log.json()) as { ip_address: string }[]).map(({ ip_address }) => ip_address),
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  );
});

test('forwards no body as a separate request to the primary, with any notation of its length', async () => {
  const follower = await follow('--primary', primary.url);
  const { hostname, port } = new URL(follower.url);
  const head = `Host: x\r\nAuthorization: Token ${token}\r\nContent-Type: application/json\r\n`;
  const hidden = `POST /api/customers/ HTTP/1.1\r\n${head}Content-Length: 19\r\n\r\n{"name":"Smuggled"} `;
  const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const version = 'X-Tenantry-Version: 9-9\r\n';
  for (const request of [
    `DELETE /api/customers/x/ HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    `DELETE /api/customers/x/ HTTP/1.1\r\n${head}Connection: Content-Length\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `GET /api/customers/ HTTP/1.1\r\n${head}${version}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    `OPTIONS /api/customers/ HTTP/1.1\r\n${head}${version}Connection: content-length\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ]) {
    const socket = connect(Number(port), hostname);
    socket.write(request);
    const [reply] = await once(socket, 'data', { signal: AbortSignal.timeout(10_000) });
    assert.match(String(reply), /^HTTP\/1\.1 (404|200) /, request);
    socket.destroy();
  }
  const chunked = `{"name":"In chunks"}`;
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /api/customers/ HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n14\r\n${chunked}\r\n0\r\n\r\n`,
  );
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 201 /);
  socket.destroy();
  const names = ((await (await ask(primary.url, '/api/customers/')).json()) as { name: string }[]).map(
    ({ name }) => name,
  );
  assert.equal(names, ['In chunks']);
});

test('requests a body only if the primary accepts it', async () => {
  await primary.stop();
  primary = await program.serve(['--trusted-proxies', '127.0.0.1', '--max-body-bytes', '1024']);
  const follower = await follow('--primary', primary.url);
  const head = ['POST /api/customers/ HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  const own = [...head, `Authorization: Token ${token}`, 'Expect: 100-continue'];
  const large = await sendOverWire(follower.url, ...own, 'Content-Length: 1025', '');
  assert.equal(
    [large.status, large.headers.connection, JSON.parse(large.body)],
    [413, 'close', { detail: 'Request body is too large.' }],
  );
  const anonymous = await sendOverWire(follower.url, ...head, 'Expect: 100-continue', 'Content-Length: 1024', '');
  assert.equal([anonymous.status, anonymous.headers.connection], [401, 'close']);
  const wire = await Wire.to(follower.url);
  const body = '{"name": "Awaited"}';
  wire.lines(...own, `Content-Length: ${body.length}`, '');
  assert.is((await wire.response()).status, 100);
  const created = await wire.bytes(body).response();
  assert.equal([created.status, JSON.parse(created.body).name], [201, 'Awaited']);
  // The connection stays open for the next request.
  wire.lines('GET /api/version/ HTTP/1.1', 'Host: localhost', '');
  assert.is((await wire.response()).status, 200);
  wire.close();
});

test('lets readers wait for a version that does not arrive without keeping the server busy', async () => {
  const follower = await follow('--admin-listen', '127.0.0.1:0');
  let used = 0;
  const costOf = async (version: string, status: number): Promise<number> => {
    const responses = await Promise.all(
      Array.from({ length: 1000 }, () =>
        ask(follower.url, '/api/version/', { headers: { 'X-Tenantry-Version': version } }),
      ),
    );
    assert.equal(new Set(responses.map((reply) => reply.status)), new Set([status]));
    const before = used;
    // Metrics are cached for a moment.
    await eventually('the metrics are new', async () => {
      const metrics = await (await fetch(`${follower.startup.admin}/metrics`)).text();
      used = 1000 * Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);
      return used !== before;
    });
    return used - before;
  };
  // Compare with readers that do not wait, so that the speed and load of the machine do not matter.
  await costOf('1-0', 200);
  const [plain, waiting] = [await costOf('1-0', 200), await costOf('1-9', 503)];
  // Polling every 20 ms took four times as long.
  assert.ok(waiting < 3 * plain, `${waiting} ms, ${plain} ms without waiting`);
});

test('keeps reading without the primary, and responds 503 to writes and to reads of a version that will not arrive', async () => {
  const follower = await follow('--primary', primary.url);
  await create(primary.url, 'Before');
  await eventually(
    'it is in the copy',
    async () => ((await (await ask(follower.url, '/api/customers/')).json()) as unknown[]).length === 1,
  );
  await primary.kill();
  const away = { detail: 'The primary server cannot be reached. Try again.' };
  for (const reply of [
    await create(follower.url, 'Lost'),
    await ask(follower.url, '/api/customers/', { headers: { 'X-Tenantry-Version': '1-2' } }),
    await fetch(`${follower.url}/api-auth/password/`, { method: 'POST', body: '{}' }),
  ])
    assert.equal([reply.status, reply.headers.get('Retry-After'), await reply.json()], [503, '1', away]);
  assert.is((await ask(follower.url, '/api/customers/', { headers: { 'X-Tenantry-Version': '1-1' } })).status, 200);
});

test('reports a source that it cannot copy without its credentials', async () => {
  const source = 'sftp://backup:hush-hush@127.0.0.1:1/replica';
  const words = ['serve', '--port', '0', '--follow', source, '--data', 'copy', '--litestream-program', 'false'];
  const { code, stderr, stdout } = await program.run(words);
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, 'cannot follow sftp://********@127.0.0.1:1/replica: false restore sftp://********@127.0.0.1:1/');
  assert.not.match(stderr, 'hush-hush');
});

test('applies increments of a replica, and restores again when Litestream was killed', async () => {
  const copy = join(program.folder, 'copy');
  mkdirSync(copy);
  copyFileSync(join(program.folder, 'data/secret.key'), join(copy, 'secret.key'));
  const litestream = fileURLToPath(new URL('../../support/fake-litestream.mjs', import.meta.url));
  const source = `file://${join(program.folder, 'data')}`;
  const follower = await follow('--follow', source, '--litestream-program', litestream);
  const folders = (): string[] => readdirSync(join(copy, 'copies')).filter((name) => name.startsWith('increments-'));
  const [first] = folders();
  const arrives = async (name: string): Promise<void> => {
    assert.is((await create(primary.url, name)).status, 201);
    await eventually(
      `${name} is in the copy`,
      async () => (await (await ask(follower.url, '/api/customers/')).text()).includes(name),
      30,
    );
  };
  await arrives('One');
  await arrives('Two');
  assert.equal(folders(), [first], 'the replica was restored once');
  const servers = [...program.running].map(({ pid }) => String(pid)).join();
  process.kill(
    Number(execFileSync('pgrep', ['-P', servers, '-f', 'fake-litestream'], { encoding: 'utf8' })),
    'SIGKILL',
  );
  await arrives('Three');
  assert.equal([folders().length, folders()[0] === first], [1, false], 'an increment may be half written');
  assert.is(await follower.stop(), 0);
  assert.throws(() => execFileSync('pgrep', ['-f', `fake-litestream.*${copy}`]), 'it is ended with the follower');
});

test('requires a Litestream that applies increments', async () => {
  const old = join(program.folder, 'old');
  writeFileSync(old, '#!/bin/sh\necho "flag provided but not defined: -f" >&2\nexit 2\n', { mode: 0o755 });
  const words = ['serve', '--port', '0', '--follow', 'file:///replica', '--data', 'copy', '--litestream-program', old];
  assert.equal(
    await program.run(words),
    failed(`cannot follow file:///replica: ${old} restore file:///replica: Litestream 0.5.9 or later is required`),
  );
});

test('rejects writes without a primary', async () => {
  const follower = await follow();
  const reply = await create(follower.url, 'Nowhere');
  assert.equal([reply.status, await reply.json()], [503, { detail: 'This server only reads.' }]);
  for (const target of ['/api/events/stream/', '/api/events/str%65am/', 'http://any.example/api/events/stream/']) {
    const lines = [`GET ${target} HTTP/1.1`, 'Host: localhost', `Authorization: Token ${token}`, ''];
    const stream = await sendOverWire(follower.url, ...lines);
    assert.equal([stream.status, JSON.parse(stream.body)], [503, { detail: 'This server only reads.' }], target);
  }
});

test('reports in readiness the version of a follower, and that its source is missing', async () => {
  await create(primary.url, 'One');
  const follower = await follow('--admin-listen', '127.0.0.1:0');
  const ready = await fetch(`${follower.startup.admin}/readyz`);
  const readiness = (await ready.json()) as {
    checks: { copy: string };
    follower: { version: string; seconds_behind: number };
  };
  assert.equal([ready.status, readiness.checks.copy, readiness.follower.version], [200, 'ok', '1-1']);
  assert.ok(readiness.follower.seconds_behind < 5);
});

test('keeps serving the previous copy when a new one is invalid, and reports the reason in readiness', async () => {
  await create(primary.url, 'One');
  const follower = await follow('--admin-listen', '127.0.0.1:0');
  const data = join(program.folder, 'data');
  await primary.stop();
  renameSync(join(data, 'tenantry.db'), join(data, 'saved.db'));
  writeFileSync(join(data, 'tenantry.db'), 'no database');
  const copyCheck = async (): Promise<string> =>
    ((await (await fetch(`${follower.startup.admin}/readyz`)).json()) as { checks: { copy: string } }).checks.copy;
  await eventually('it is said', async () => (await copyCheck()).endsWith('file is not a database'), 30);
  assert.is((await ask(follower.url, '/api/customers/')).status, 200);
  renameSync(join(data, 'saved.db'), join(data, 'tenantry.db'));
  await eventually('it continues', async () => (await copyCheck()) === 'ok', 30);
});

test('starts with the newest copy, of unknown age, without its source', async () => {
  await create(primary.url, 'One');
  await (await follow()).stop();
  await primary.stop();
  renameSync(join(program.folder, 'data'), join(program.folder, 'away'));
  const follower = await follow('--admin-listen', '127.0.0.1:0');
  assert.is(((await (await ask(follower.url, '/api/customers/')).json()) as unknown[]).length, 1);
  const ready = await fetch(`${follower.startup.admin}/readyz`);
  const { checks, follower: state } = (await ready.json()) as { checks: { copy: string }; follower: object };
  const data = join(program.folder, 'data');
  assert.equal(
    [ready.status, checks.copy, state],
    [503, `is from before the start: there is no database in ${data}`, { version: '1-1', seconds_behind: null }],
  );
});

test('does not change the source, retains few copies, and has the keys of the source', async () => {
  const follower = await follow('--primary', primary.url);
  const before = readFileSync(join(program.folder, 'data/secret.key'), 'utf8');
  assert.is(readFileSync(join(program.folder, 'copy/secret.key'), 'utf8'), before);
  for (let i = 0; i < 4; i++) {
    const created = await create(follower.url, `Customer ${i}`);
    const { uuid } = (await created.json()) as { uuid: string };
    const headers = { 'X-Tenantry-Version': created.headers.get('X-Tenantry-Version') as string };
    const read = await ask(follower.url, `/api/customers/${uuid}/`, { headers });
    assert.equal([read.status, ((await read.json()) as { name: string }).name], [200, `Customer ${i}`]);
  }
  const copies = readdirSync(join(program.folder, 'copy/copies'));
  assert.ok(copies.length <= 3, `${copies.length} copies`);
  assert.is(await follower.stop(), 0);
  assert.is((await program.run(['doctor', '--data', 'data'])).stdout, 'no problems\n');
});

test('asks the primary with a token unused for half of its lifetime, so that the primary records its use', async () => {
  const db = new SQLite(join(program.folder, 'data/tenantry.db'));
  db.prepare('UPDATE token SET last_used = last_used - 1801 * 1000000').run();
  db.close();
  const follower = await follow('--primary', primary.url);
  const serverOf = (reply: Response): string | undefined => reply.headers.get('X-Request-Id')?.split('-')[0];
  const [here, there] = [await fetch(follower.url), await fetch(primary.url)].map(serverOf);
  const read = await ask(follower.url, '/api/customers/');
  assert.equal([read.status, serverOf(read)], [200, there]);
  await primary.kill();
  const alone = await ask(follower.url, '/api/customers/');
  assert.equal([alone.status, serverOf(alone)], [200, here]);
});

test('reports a source that cannot be followed in one line', async () => {
  const run = (...words: string[]) => program.run(['serve', '--port', '0', ...words]);
  const at = (name: string): string => join(program.folder, name);
  assert.equal(
    await run('--follow', 'nowhere', '--data', 'copy'),
    failed(`cannot follow ${at('nowhere')}: there is no database in ${at('nowhere')}`),
  );
  assert.equal(
    await run('--follow', 'data', '--data', 'data'),
    failed(`${at('data')} already has a database: name another folder with --data`),
  );
  assert.equal(await run('--primary', primary.url), failed('--primary needs --follow', 2));
  assert.equal(
    await run('--follow', 'data', '--primary', 'elsewhere'),
    failed('--primary must be an http or https URL', 2),
  );
  assert.equal(
    await run('--follow', 'data', '--ephemeral'),
    failed('--follow cannot be combined with --ephemeral or --demo', 2),
  );
  const { code, stderr } = await run('--follow', 'file:///nowhere', '--data', 'copy', '--litestream-program', '/none');
  assert.is(code, 1);
  assert.match(
    stderr,
    /^tenantry: cannot follow file:\/\/\/nowhere: \/none restore file:\/\/\/nowhere: .*no such file or directory\n$/,
  );
});

test('replaces its keys only when those of the primary have changed, and as a whole', async () => {
  await follow();
  const keys = (name: string): string => readFileSync(join(program.folder, name), 'utf8');
  const before = keys('copy/secret.key');
  // A file that is overwritten in place changes below both names.
  linkSync(join(program.folder, 'copy/secret.key'), join(program.folder, 'link'));
  await create(primary.url, 'Copied');
  await eventually('another copy is taken', () => readdirSync(join(program.folder, 'copy/copies')).includes('2'));
  assert.is(statSync(join(program.folder, 'copy/secret.key')).nlink, 2);
  await primary.stop();
  assert.is((await program.run(['rotate-key', '--data', 'data'])).code, 0);
  await eventually('the new keys are copied', () => keys('copy/secret.key') === keys('data/secret.key'), 20);
  assert.is(keys('link'), before);
  assert.is(statSync(join(program.folder, 'copy/secret.key')).mode & 0o777, 0o600);
});

test.run();
