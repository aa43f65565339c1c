/** Removal of old audit records, with signed checkpoints (audit.md 10). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { appendRecord, ofService } from '../../../src/activity/audit/append.ts';
import { isSignedBy } from '../../../src/activity/audit/heads.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';
import { Receiver } from '../../support/receiver.ts';

const test = suite('audit retention');
const fixture = new Fixture();
const program = new Program(nativeCache);
let data: string;
let receiver: Receiver;
const day = 86_400;

test.before.each(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-retention-'));
  receiver = await Receiver.start();
});
test.after.each(async () => {
  await fixture.close();
  await receiver.close();
  rmSync(data, { recursive: true });
});
test.after(() => program.end());

async function open(options: ServerOptions = {}): Promise<void> {
  await fixture.open({ ephemeral: false, data, audit_retention: '30d', ...options });
  await fixture.advance(1);
}

function append(count: number): void {
  const { app } = fixture.server;
  app.db.write(() => {
    for (let i = 0; i < count; i++) appendRecord(app, { ...ofService, at: app.clock.now(), operation: 'test' });
  });
  app.db.commit();
}

const verify = async (): Promise<string> => {
  const { code, stderr, stdout } = await program.run(['audit', 'verify', '--data', data]);
  return `${code} ${stdout.split('\n')[0]}${stderr}`;
};
const ids = (): number[] => fixture.server.app.db.values<number>(sql`SELECT id FROM audit_record ORDER BY id`);
const checkpoints = (): Json[] =>
  fixture.server.app.db
    .values<string>(sql`SELECT head FROM audit_checkpoint ORDER BY id`)
    .map((head) => JSON.parse(head));

test('removes old records in blocks, each with a signed checkpoint, so that the rest verifies', async () => {
  await open();
  append(1200);
  const before = ids();
  const [newest] = (await fixture.staff.get('/api/audit/?page_size=1')).body;
  await fixture.advance(30 * day - 60);
  assert.equal(ids(), before);
  await fixture.customer('Alice');
  await fixture.advance(3601);
  // Returns the customer, and one record per block.
  assert.equal(ids().length, 4);
  const removed = before.length;
  assert.equal(
    checkpoints().map(({ removed }) => removed),
    [500, 500, removed - 1000],
  );
  const { hash, key, sequence, ...last } = checkpoints().at(-1);
  assert.equal([hash, sequence], [newest.hash, newest.sequence]);
  const keys = (await fixture.staff.get('/api/audit/key/')).body;
  assert.is(keys[0].key, key);
  assert.ok(isSignedBy({ ...last, hash, key, sequence }, keys[0].public_key));
  const [creation, ...removals] = (await fixture.staff.get('/api/audit/?page_size=300')).body.reverse();
  assert.is(creation.operation, 'createCustomer');
  assert.equal(
    removals.map(({ operation, private: hidden }: Json) => [operation, hidden.changes]),
    [500, 500, removed - 1000].map((to) => ['remove_old_audit_records', [{ field: 'rows', from: null, to }]]),
  );
  assert.is(await verify(), '0 Verified 4 records in 1 chains, 0 redacted.');
  const lines: Json[] = (
    await (
      await fetch(`${fixture.url}/api/audit/export/`, { headers: { Authorization: `Token ${fixture.staff.token}` } })
    ).text()
  )
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines[0].checkpoint, checkpoints().at(-1));
  fixture.server.app.db.write(() => fixture.server.app.db.run(sql`DELETE FROM audit_record WHERE id = ${removed + 1}`));
  fixture.server.app.db.commit();
  assert.is(await verify(), `1 Record ${removed + 1} is missing.`);
});

test('always keeps the newest record', async () => {
  await open();
  await fixture.advance(100 * day);
  await fixture.advance(100 * day);
  const { db } = fixture.server.app;
  assert.ok(ids().length > 0);
  assert.is(db.value(sql`SELECT operation FROM audit_record ORDER BY id LIMIT 1`), 'remove_old_audit_records');
  await fixture.customer('Alice');
  assert.match(await verify(), /^0 Verified/);
});

test('waits up to 30 days for a sink that has not received the records', async () => {
  await open({ audit_sink_url: receiver.url });
  receiver.behaviour = 500;
  append(10);
  const all = ids();
  const before = all.length - 10;
  await fixture.advance(30 * day + 3600);
  assert.equal(ids().slice(0, 10), all.slice(before));
  await fixture.advance(29 * day);
  assert.equal(ids().slice(0, 10), all.slice(before));
  append(1);
  await fixture.advance(day);
  assert.not.ok(ids().includes(all.at(-1) as number));
  receiver.take();
  receiver.behaviour = 200;
  await fixture.advance(300);
  const sequences = receiver
    .take()
    .flatMap(({ body }) => body.trimEnd().split('\n'))
    .flatMap((line) => JSON.parse(line).sequence ?? []);
  assert.equal(sequences, ids());
  assert.match(await verify(), /^0 Verified/);
});

test('removes nothing while the clock may be wrong', async () => {
  await open();
  append(10);
  const before = ids();
  Object.assign(fixture.server.app, { isClockDoubtful: () => true });
  await fixture.advance(31 * day);
  assert.equal(ids().slice(0, before.length), before);
});

test('rejects less than 30 days', async () => {
  assert.equal(
    await program.run(['serve', '--audit-retention', '29d']),
    failed('--audit-retention must be at least 30d', 2),
  );
});

test.run();
