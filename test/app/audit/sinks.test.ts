/** Audit sinks: audit_sink_url, its order, retries, limits and reports (audit.md 9). */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { appendRecord, canonicalJson, ofService } from '../../../src/activity/audit/append.ts';
import { version } from '../../../src/kernel/app.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import { eventually } from '../../support/eventually.ts';
import { withFastTimers } from '../../support/fast-timers.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';
import { type Received, Receiver } from '../../support/receiver.ts';

const test = suite('audit sinks');
const fixture = new Fixture();
let receiver: Receiver;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-sinks-'));
const headerFile = join(folder, 'header');

test.before.each(async () => {
  receiver = await Receiver.start();
  writeFileSync(headerFile, 'Authorization: Bearer first\n');
});
test.after.each(async () => {
  await fixture.close();
  await receiver.close();
});
test.after(() => rmSync(folder, { recursive: true }));

const open = async (options: ServerOptions = {}): Promise<void> => {
  await fixture.open({ audit_sink_url: `${receiver.url}/audit?source=a`, admin_listen: '0', ...options });
  await fixture.advance(1);
};

/** Returns the requests with records since the last call, without those with heads. */
const take = (): Received[] => receiver.take().filter(({ body }) => !body.startsWith('{"head"'));
const recordsOf = ({ body }: Received): Json[] =>
  body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const keyOf = ({ headers }: Received): string => String(headers['idempotency-key']);
/** Returns the sequences in the keys of requests, as `<first>-<last>`. */
const rangesOf = (requests: readonly Received[]): (string | undefined)[] =>
  requests.map((request) => keyOf(request).split(':')[1]);
const sequencesOf = (requests: readonly Received[]): number[] =>
  requests.flatMap((request) => recordsOf(request).map(({ sequence }) => sequence));
const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);
const lastSequence = (): number => fixture.server.app.db.scalar<number>(sql`SELECT max(sequence) FROM audit_record`);

/** Appends records of the service itself, with this many hundreds of kilobytes each. */
function append(count: number, size = 0): void {
  const { app } = fixture.server;
  const to = Array.from({ length: 100 }, () => 'x'.repeat(1000));
  const changes = Array.from({ length: size }, () => ({ field: 'texts', from: null, to }));
  app.db.write(() => {
    for (let i = 0; i < count; i++)
      appendRecord(app, { ...ofService, at: app.clock.now(), operation: 'test', changes });
  });
  app.db.store();
}

test('posts each record once, as one line with its hashed text, private part and hash', async () => {
  await open({ audit_sink_header_file: headerFile });
  await fixture.customer('Alice "é"');
  await fixture.advance(1);
  const requests = take();
  const listed = (await fixture.staff.get('/api/audit/?page_size=300')).body.reverse();
  assert.equal(requests.flatMap(recordsOf), listed);
  for (const request of requests) {
    const { headers, path } = request;
    const records = recordsOf(request);
    const [first, last] = [records[0], records.at(-1)].map(({ sequence }) => sequence);
    assert.is(path, '/audit?source=a');
    assert.equal(
      [headers.authorization, headers['content-type'], headers['user-agent'], headers['idempotency-key']],
      ['Bearer first', 'application/x-ndjson', `Tenantry/${version}`, `${listed[0].chain}:${first}-${last}`],
    );
  }
  for (const { hash, private: hidden, ...record } of requests.flatMap(recordsOf)) {
    assert.is(createHash('sha256').update(canonicalJson(record)).digest('hex'), hash);
    assert.is(createHash('sha256').update(canonicalJson(hidden)).digest('hex'), record.private_hash);
  }
  await fixture.advance(60);
  assert.equal(take(), []);
});

test('reads the header for each batch, and waits while its file is unusable', async () => {
  await open({ audit_sink_header_file: headerFile });
  writeFileSync(headerFile, 'X-Token: second');
  append(1);
  await fixture.advance(1);
  assert.is(take().at(-1)?.headers['x-token'], 'second');
  rmSync(headerFile);
  append(1);
  await fixture.advance(1);
  assert.equal(take(), []);
  writeFileSync(headerFile, 'X-Token: third');
  await fixture.advance(5);
  assert.equal(
    take().map(({ headers }) => headers['x-token']),
    ['third'],
  );
});

test('sends exactly the same batch for an hour, at growing intervals, and then everything in order', async () => {
  await open();
  const before = sequencesOf(take());
  receiver.behaviour = 503;
  const attempts: number[] = [];
  for (let passed = 0; passed < 3600; passed += 5) {
    // API requests do not wait for the sink.
    if (passed % 300 === 0) await fixture.customer(`Customer ${passed}`);
    await fixture.advance(5);
    if (receiver.requests.length > attempts.length) attempts.push(passed);
  }
  assert.equal(
    attempts.slice(0, 9).map((at, i) => at - (attempts[i - 1] ?? 0)),
    [0, 5, 10, 20, 40, 80, 160, 300, 300],
  );
  const refused = take();
  const [first] = refused as [Received];
  assert.is(new Set(refused.map(({ body }) => body)).size, 1);
  assert.equal(new Set(refused.map(keyOf)), new Set([keyOf(first)]));
  receiver.behaviour = 204;
  await fixture.advance(300);
  const received = take();
  assert.is(received[0]?.body, first.body);
  assert.equal([...before, ...sequencesOf(received)], upTo(lastSequence()));
});

test('accepts only a 2xx: no redirect, no other status, no broken connection', async () => {
  await open();
  take();
  append(1);
  const behaviours = [
    { status: 307, headers: { Location: `${receiver.url}/elsewhere` } },
    304,
    400,
    500,
    'reset',
  ] as const;
  const errors: string[] = [];
  for (const behaviour of behaviours) {
    receiver.behaviour = behaviour;
    await fixture.advance(300);
    errors.push((await fixture.staff.get('/api/operation/')).body.audit_sinks[0].error_message);
  }
  assert.equal(errors, [
    ...['The receiver responded with 307.', 'The receiver responded with 304.', 'The receiver responded with 400.'],
    ...['The receiver responded with 500.', 'The connection was reset.'],
  ]);
  const requests = take();
  assert.equal([...new Set(requests.map(({ path }) => path))], ['/audit?source=a']);
  receiver.behaviour = 299;
  await fixture.advance(300);
  assert.is(take()[0]?.body, requests[0]?.body);
});

test('gives a slow receiver ten seconds, while requests are served', async () => {
  await open();
  take();
  append(1);
  receiver.behaviour = 'no-response';
  const waits = await withFastTimers(async () => {
    const attempt = fixture.advance(1);
    assert.is((await fixture.staff.post('/api/customers/', { name: 'Alice' })).status, 201);
    await attempt;
  });
  assert.ok(waits.includes(10_000));
  const [sink] = (await fixture.staff.get('/api/operation/')).body.audit_sinks;
  assert.is(sink.error_message, 'No answer within 10 seconds.');
});

test('sends at most 500 records or 1 MiB at once, and a larger record alone', async () => {
  await open();
  take();
  const start = lastSequence();
  append(1200);
  append(4, 4);
  append(1, 12);
  append(1);
  await fixture.advance(1);
  const ranges = ['1-500', '501-1000', '1001-1202', '1203-1204', '1205-1205', '1206-1206'];
  const moved = (range: string): string => range.replace(/\d+/g, (digits) => String(Number(digits) + start));
  assert.equal(rangesOf(take()), ranges.map(moved));
});

test('begins a batch for each chain', async () => {
  await open();
  take();
  append(1);
  const { db } = fixture.server.app;
  const chain = 'c'.repeat(32);
  db.write(() => {
    const { id, chain_id } = db.one<{ id: number; chain_id: number }>(
      sql`SELECT id, chain_id FROM audit_record ORDER BY id DESC LIMIT 1`,
    );
    db.insert('audit_chain', { id: chain_id + 1, uuid: chain, first_id: id + 1 });
    db.run(sql`
      INSERT INTO audit_record
      SELECT ${id + 1}, ${chain_id + 1}, 1, at, operation, outcome, actor, acts_as, object, customers, projects, hash, record, private
      FROM audit_record WHERE id = ${id}`);
  });
  await fixture.advance(1);
  const requests = take();
  assert.is(requests.length, 2);
  assert.is(keyOf(requests[1] as Received), `${chain}:1-1`);
});

test('reports how far a sink is behind', async () => {
  await open();
  const metrics = async (): Promise<string[]> =>
    (await (await fetch(`${fixture.server.adminUrl}/metrics`)).text())
      .split('\n')
      .filter((line) => line.startsWith('tenantry_audit_sink'));
  const state = async (): Promise<Json> => (await fixture.staff.get('/api/operation/')).body;
  assert.equal(await metrics(), [
    'tenantry_audit_sink_lag_records{sink="url"} 0',
    'tenantry_audit_sink_lag_seconds{sink="url"} 0',
  ]);
  assert.equal((await state()).audit_sinks, [{ sink: 'url', waiting: 0, oldest: null, error_message: '' }]);
  receiver.behaviour = 500;
  append(3);
  const { now: oldest } = await state();
  await fixture.advance(20);
  const expected = ['tenantry_audit_sink_lag_records{sink="url"} 3', 'tenantry_audit_sink_lag_seconds{sink="url"} 20'];
  // Metrics are cached for a moment.
  await eventually('the metrics show the lag', async () => isDeepStrictEqual(await metrics(), expected));
  const { audit_sinks: sinks, troubles } = await state();
  const error_message = 'The receiver responded with 500.';
  assert.equal(sinks, [{ sink: 'url', waiting: 3, oldest, error_message }]);
  assert.equal(troubles, [`audit sink url has not received 3 records since ${oldest}: ${error_message}`]);
  receiver.behaviour = 200;
  await fixture.advance(5);
  assert.equal((await state()).troubles, []);
});

test('notifies staff once when a sink is 15 minutes behind, and again after it has recovered', async () => {
  await open();
  await fixture.user('alice');
  const { db } = fixture.server.app;
  const sent = (): string[] =>
    db.values<string>(sql`
      SELECT concat(u.username, ' ', n.kind, ' ', n.level, ': ', n.message, ' ', n.context)
      FROM notification n JOIN user u ON u.id = n.user_id ORDER BY n.id`);
  const fail = async (): Promise<void> => {
    receiver.behaviour = 500;
    append(2);
    for (let minutes = 0; minutes < 14; minutes++) await fixture.advance(60);
  };
  await fixture.advance(60);
  await fail();
  assert.equal(sent(), []);
  const ready = async (): Promise<Json> => (await fetch(`${fixture.server.adminUrl}/readyz`)).json();
  const { audit_sinks: sinks, status } = await ready();
  assert.equal([status, sinks], ['ready', { url: { records: 2, seconds: 840 } }]);
  await fixture.advance(60);
  const message = 'The audit sink url is 15 minutes behind. Records that it has not received: 2.';
  const notification = `admin audit_sink_behind error: ${message} {"sink":"url","records":"2"}`;
  assert.equal(sent(), [notification]);
  for (let minutes = 0; minutes < 20; minutes++) await fixture.advance(60);
  assert.equal(sent(), [notification]);
  receiver.behaviour = 200;
  await fixture.advance(300);
  await fixture.advance(60);
  await fail();
  await fixture.advance(60);
  assert.equal(sent(), [notification, notification]);
});

test('sends nothing while the database cannot store anything', async () => {
  await open();
  append(1);
  receiver.behaviour = 500;
  await fixture.advance(1);
  take();
  const { db } = fixture.server.app;
  db.guard(() => Object.assign(new Error('The lease has expired.'), { reason: 'lease' as const }));
  await fixture.advance(300);
  assert.equal(take(), []);
  db.guard(() => undefined);
  await fixture.advance(1);
  assert.is(take().length, 1);
});

test('continues after a kill with the batch in flight, and repeats nothing after a restart', async () => {
  const program = new Program(nativeCache);
  try {
    const words = ['--admin-listen', 'off', '--audit-sink-url', receiver.url];
    receiver.behaviour = 'no-response';
    const killed = await program.serve(words);
    await eventually('a batch arrives', () => receiver.requests.length > 0);
    assert.is((await program.run(['user', 'add', 'alice'])).code, 0);
    await killed.kill();
    receiver.behaviour = 500;
    const second = await program.serve(words);
    await eventually('the batch arrives again', () => receiver.requests.length > 1);
    await second.kill();
    receiver.behaviour = 200;
    const third = await program.serve(words);
    await eventually('all records arrive', () => receiver.requests.some(({ body }) => body.includes('"user add"')));
    assert.is(await third.stop(), 0);
    const requests = take();
    assert.equal(new Set(requests.slice(0, 3).map((request) => `${keyOf(request)} ${request.body}`)).size, 1);
    const received = requests.slice(2);
    assert.equal(sequencesOf(received), upTo(sequencesOf(received).length));
    assert.is(recordsOf(received[0] as Received)[0].operation, 'audit.chain_started');
    const fourth = await program.serve(words);
    await sleep(1500);
    assert.is(await fourth.stop(), 0);
    assert.equal(receiver.take(), []);
  } finally {
    await program.end();
  }
});

test('sends each head once, after the record that it signs', async () => {
  const data = join(folder, 'data');
  await open({ ephemeral: false, data });
  await fixture.customer('Alice');
  await fixture.advance(3601);
  await fixture.customer('Bob');
  await fixture.close();
  const lines = receiver.requests.flatMap(({ body }) => body.trimEnd().split('\n')).map((line) => JSON.parse(line));
  const logged = (): Json[] =>
    readFileSync(join(data, 'audit-heads.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const heads = lines.flatMap(({ head }) => head ?? []);
  assert.ok(heads.length >= 3);
  assert.equal(heads, logged());
  for (const [i, { head }] of lines.entries())
    if (head) assert.equal([lines[i - 1].sequence, lines[i - 1].hash], [head.sequence, head.hash]);
  const keys = receiver
    .take()
    .filter(({ body }) => body.startsWith('{"head"'))
    .map(keyOf);
  assert.equal(
    keys,
    heads.map(({ chain }, i) => `${chain}:head-${i + 1}`),
  );
  // After a kill, a head may be in the log only.
  const lost = { ...heads[0], at: '2018-01-05T00:00:00.000000Z' };
  appendFileSync(join(data, 'audit-heads.log'), `${JSON.stringify(lost)}\n{"chain":"cut`);
  await open({ ephemeral: false, data });
  assert.is(receiver.take().filter(({ body }) => body === `${JSON.stringify({ head: lost })}\n`).length, 1);
});

test('a new destination begins with the oldest record', async () => {
  await open();
  const all = sequencesOf(take());
  const { db } = fixture.server.app;
  db.write(() => db.run(raw(`UPDATE audit_sink SET destination = 'another'`)));
  append(1);
  await fixture.advance(1);
  assert.equal(sequencesOf(take()), [...all, all.length + 1]);
});

test('rejects unusable settings with one line', async () => {
  const program = new Program(nativeCache);
  const serve = (...words: string[]): Promise<unknown> =>
    program.run(['serve', '--port', '0', '--ephemeral', '--audit-sink-url', 'http://127.0.0.1:9/', ...words]);
  const withHeader = (content: string): Promise<unknown> => {
    writeFileSync(join(program.folder, 'header'), content);
    return serve('--audit-sink-header-file', 'header');
  };
  const rejected = (reason: string): unknown => failed(`audit_sink_header_file: ${reason}`, 2);
  try {
    assert.equal(await serve('--audit-sink-header-file', 'missing'), rejected('missing: no such file or directory'));
    const rule = 'header must have one line such as "Authorization: Bearer …"';
    assert.equal(await withHeader(''), rejected(rule));
    assert.equal(await withHeader('Bearer secret'), rejected(rule));
    assert.equal(await withHeader('A: secret\nB: secret'), rejected(rule));
    assert.equal(await withHeader('Host: secret'), rejected('header must not set the header Host'));
    assert.equal(
      await program.run(['serve', '--ephemeral', '--audit-sink-header-file', 'header']),
      failed('audit_sink_header_file needs audit_sink_url', 2),
    );
    assert.equal(
      await program.run(['serve', '--audit-sink-url', 'ftp://a']),
      failed('--audit-sink-url must be a URL that starts with http:// or https://', 2),
    );
  } finally {
    await program.end();
  }
});

test.run();
