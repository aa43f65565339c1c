/** Backups and the doctor by the API, beside a server (core.md 14.6), with the built program and data on disk. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { Program, type Serving } from '../../support/program.ts';

const test = suite('backups and the doctor by the API');
let program: Program;
let server: Serving;
let token: string;

test.before(async () => {
  program = new Program(undefined);
  server = await program.serve(['--product-name', 'Cloud']);
  token = (await program.run(['token', 'admin'])).stdout.trim();
  // The contract of the API describes only the first response.
  assert.is((await ask('GET', '/api/operation/')).status, 200);
});
test.after(async () => {
  await server.stop();
  await program.end();
});

async function ask(
  method: string,
  path: string,
): Promise<{ status: number; body: Json; headers: Headers; bytes: Buffer }> {
  const url = new URL(path, server.url);
  const { headers, status, ...response } = await fetch(url, {
    method,
    headers: { Authorization: `Token ${token}` },
  }).then(async (reply) => ({
    headers: reply.headers,
    status: reply.status,
    bytes: Buffer.from(await reply.arrayBuffer()),
  }));
  const isJson = headers.get('content-type')?.startsWith('application/json');
  return { status, headers, bytes: response.bytes, body: isJson ? JSON.parse(response.bytes.toString()) : undefined };
}

/** Members that only scheduled backups have. */
const unscheduled = { target: 'folder', sha256: null, is_encrypted: false, verified: null };

test('writes a backup beside the server, logs its download, and deletes it', async () => {
  const begun = await ask('POST', '/api/backups/');
  const { url, uuid, name, created } = begun.body;
  assert.is(begun.status, 202);
  assert.equal(begun.body, { url, uuid, name, state: 'writing', size: 0, created, error_message: '', ...unscheduled });
  assert.is(begun.headers.get('location'), url);
  const again = await ask('POST', '/api/backups/');
  assert.equal([again.status, again.body], [409, { detail: 'A backup is being written already.' }]);
  const early = await ask('GET', `${url}content/`);
  assert.equal([early.status, early.body], [409, { detail: 'The backup is not there yet.' }]);
  assert.is((await ask('DELETE', url)).status, 409);
  await eventually('the backup is ready', async () => (await ask('GET', url)).body.state === 'ready', 60);
  const { body: list, headers } = await ask('GET', '/api/backups/');
  assert.equal([list.length, list[0].uuid, headers.get('x-result-count')], [1, uuid, '1']);
  const { bytes, headers: fileHeaders, status } = await ask('GET', `${url}content/`);
  assert.equal(
    [status, fileHeaders.get('content-type'), fileHeaders.get('content-disposition'), bytes.length],
    [200, 'application/gzip', `attachment; filename="${name}.gz"`, list[0].size],
  );
  assert.is(gunzipSync(bytes).subarray(0, 15).toString(), 'SQLite format 3');
  await eventually('the log names the user who downloaded it', () =>
    new RegExp(`"username":"admin".*"backup":"${name}".*"msg":"a backup is downloaded"`).test(server.errors()),
  );
  const [record] = (await ask('GET', '/api/audit/?page_size=1')).body;
  assert.equal(
    [record.operation, record.status, record.object, record.private.object_name],
    ['getBackupContent', 200, { type: 'backups', uuid }, name],
  );
  assert.is((await ask('GET', '/api/operation/')).body.last_backup, created);
  const restored = new Program(undefined);
  writeFileSync(join(restored.folder, 'copy'), bytes);
  assert.is((await restored.run(['restore', 'copy'])).code, 0);
  await restored.end();
  assert.is((await ask('DELETE', url)).status, 204);
  const records = (await ask('GET', `/api/audit/?object=${uuid}`)).body;
  assert.equal(
    records.map(({ actor, operation }: Json) => [operation, actor.kind]),
    [
      ['deleteBackup', 'user'],
      ['getBackupContent', 'user'],
      ['backup.made', 'cli'],
      ['createBackup', 'user'],
    ],
  );
  assert.equal(readdirSync(join(program.folder, 'data/backups')), []);
  assert.is((await ask('GET', url)).status, 404);
});

test('lists no other files of the folder, and no name leads to one', async () => {
  const folder = join(program.folder, 'data/backups');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  writeFileSync(join(folder, 'before-upgrade-from-3-2018-01-05T04-47-04Z'), 'bytes');
  const { body } = await ask('GET', '/api/backups/');
  const rows = body.map(({ created, name, size, state }: Json) => [name, created, size, state]);
  assert.equal(rows, [['before-upgrade-from-3-2018-01-05T04-47-04Z', '2018-01-05T04:47:04Z', 5, 'ready']]);
  for (const key of ['notes.txt', '..%2f..%2fsecret.key', encodeURIComponent(body[0].name)])
    assert.is((await ask('GET', `/api/backups/${key}/content/`)).status, 404);
});

test('examines the data beside the server', async () => {
  assert.is((await ask('POST', '/api/operation/doctor/')).status, 202);
  const rejection = await ask('POST', '/api/operation/doctor/');
  assert.equal([rejection.status, rejection.body], [409, { detail: 'The data is being examined already.' }]);
  let matches: Json;
  await eventually(
    'the examination ends',
    async () => {
      matches = (await ask('GET', '/api/operation/doctor/')).body;
      return matches.state !== 'running';
    },
    60,
  );
  assert.equal([matches.state, matches.findings, matches.error_message], ['done', [], '']);
});

test('returns settings with their sources', async () => {
  const { body } = await ask('GET', '/api/deployment-settings/?name=product_name');
  assert.equal([body[0].value, body[0].source], ['Cloud', '--product-name']);
});

test("does not advance a clock that is not the server's own", async () => {
  const { status } = await ask('POST', '/api/simulator/advance/');
  assert.is(status, 409);
});

test.run();
